"""The named steps that are no verbs: waiting on the server's clock, faults, and the naive queue's single commands."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.core.walking import GUESS, HOUR_MS, RIVAL, THIRD, Tap, claimed, held, space_on, take, texts, walker_on
from visualizer.engine import Engine, EngineError
from visualizer.observe import DUMP_MEMBERS
from visualizer.perform import NAMED_STEPS
from visualizer.script import load

FACTS = "the_row_state_follows_the_place"
LOST = ["the_id_is_in_exactly_one_place", FACTS, "every_row_has_a_place"]


class Sleep:
    """A sleep that takes no time: it notes the seconds, and may let the learner leave instead."""

    def __init__(self, goes_on: bool = True) -> None:
        self.seconds: list[float] = []
        self.goes_on = goes_on

    def __call__(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return self.goes_on


# Waiting --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "outcome"), [("active", "lapsed"), ("schedule", "due")])
def test_waiting_ends_when_the_servers_clock_has_reached_the_score(engine: Engine, place: str, outcome: str) -> None:
    for ms in (30, 300, 3_000, 30_000):
        engine.clear_queue()
        walker = walker_on(engine)
        if place == "active":
            claimed(walker, lease_ms=ms)
        else:
            take(walker, "schedule", delay_ms=ms)
        frame = take(walker, f"wait_until_{outcome}")
        # Where the machine was slower than that, there was nothing to wait for: once more with a longer time.
        if frame.before.clock_ms < (frame.before.score(place, GUESS) or 0):
            break
    score = frame.after.score(place, GUESS)
    assert score is not None
    assert frame.before.clock_ms < score <= frame.after.clock_ms
    assert (frame.kind, frame.outcome.name, frame.moves, frame.performed.script) == ("wait", outcome, (), None)
    assert {call.command for call in frame.calls} == {"TIME"}, "how it knew is on the wire log"
    assert re.fullmatch(r"\d+ ms were left, and have passed, on the server's clock\. Nothing moved\.", texts(walker)[0])


def test_waiting_for_a_time_that_has_come_asks_nothing(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "schedule", delay_ms=0)
    frame = take(walker, "wait_until_due")
    assert (frame.outcome.name, frame.calls) == ("due", ())
    told = r"The time had come \d+ ms before this key, on the server's clock\. Nothing moved\."
    assert re.fullmatch(told, texts(walker)[0]), "nothing passed that was waited for"


@pytest.mark.parametrize("do", ["wait_until_due", "wait_until_lapsed"])
def test_there_may_be_nothing_to_wait_for(engine: Engine, do: str) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    frame = take(walker, do)
    place = {"wait_until_due": "schedule", "wait_until_lapsed": "active"}[do]
    assert frame.outcome.name == "nothing_to_wait_for"
    assert f"The id is not in {place}, so there is nothing to wait for." in texts(walker)


def test_time_passes_by_the_servers_clock(engine: Engine) -> None:
    walker = walker_on(engine)
    frame = take(walker, "time_passes", None, ms=20)
    assert frame.after.clock_ms - frame.before.clock_ms >= 20
    assert (frame.kind, frame.outcome.name) == ("wait", "passed")


def test_a_sleep_is_as_long_as_the_clock_says_and_goes_on_while_it_has_not_come(engine: Engine) -> None:
    sleep = Sleep()
    walker = walker_on(engine, sleep=sleep)
    take(walker, "time_passes", None, ms=20)
    assert sleep.seconds[0] == 0.02
    assert all(0 < later <= 0.02 for later in sleep.seconds)


def test_a_learner_who_leaves_ends_the_wait(engine: Engine) -> None:
    sleep = Sleep(goes_on=False)
    walker = walker_on(engine, sleep=sleep)
    claimed(walker)
    frame = take(walker, "wait_until_lapsed")
    assert (frame.outcome.name, len(sleep.seconds), frame.calls) == ("interrupted", 1, ())
    assert take(walker, "time_passes", None, ms=HOUR_MS).outcome.name == "interrupted"


# Faults ---------------------------------------------------------------------------------------------------------------


def test_a_killed_worker_sends_nothing(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    claimed(walker)
    before = held(engine)
    tap.sent.clear()
    frame = take(walker, "kill_worker", worker="w1")
    assert {words[1] for words in tap.sent} == {load("observe").sha1}, "we only looked"
    assert (frame.kind, frame.outcome.name, frame.calls, frame.moves) == ("fault", "killed", (), ())
    assert held(engine) == before
    assert texts(walker)[0] == "Worker w1 is gone and sends nothing more. Nothing moved."


def test_flushed_scripts_are_forgotten(engine: Engine) -> None:
    walker = walker_on(engine)
    frame = take(walker, "flush_scripts", None)
    assert (frame.kind, frame.outcome.name) == ("fault", "flushed")
    assert [call.command for call in frame.calls] == ["SCRIPT FLUSH"]
    assert texts(walker)[0] == "The server has forgotten every script. Nothing moved."


def test_a_flush_that_an_engine_does_not_allow_is_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "may", lambda feature: f"no {feature} here")
    frame = take(walker_on(engine), "flush_scripts", None)
    assert (frame.outcome.name, frame.outcome.refused, frame.calls) == ("not_sent", "no flush_scripts here", ())


def test_a_restarted_server_gets_its_keys_back_and_not_its_scripts(valkey: Engine) -> None:
    walker = walker_on(valkey, keep_dumps=False)
    claimed(walker)
    before = held(valkey)
    frame = take(walker, "restart_server", None)
    assert (frame.kind, frame.outcome.name, frame.moves) == ("fault", "restarted", ())
    assert held(valkey) == before
    assert texts(walker)[0] == (
        "The server came back empty; the queue's 2 keys were put back, the script cache was not. Nothing moved."
    )
    commands = [call.command for call in take(walker, "complete", token="w1").calls]
    assert commands == ["EVALSHA", "SCRIPT LOAD", "EVALSHA"]


def test_a_restarted_server_may_stay_empty(valkey: Engine) -> None:
    walker = walker_on(valkey)
    claimed(walker)
    frame = take(walker, "restart_server", None, keep=False)
    assert held(valkey) == {}
    assert frame.moves[0].leaves == ("active",)
    assert texts(walker)[0] == "JOB0KHTOWnGLuC leaves active and enters nothing: its row is gone."


def test_a_server_whose_keys_could_not_be_put_back_is_not_stopped(valkey: Engine) -> None:
    walker, client = walker_on(valkey), valkey.client
    client.zadd(space_on(valkey).key("dead"), {f"JOB{number:011}": 0 for number in range(DUMP_MEMBERS + 1)})
    process = client.info("server")["process_id"]
    frame = take(walker, "restart_server", None)
    assert (frame.outcome.name, frame.outcome.sent) == ("not_sent", False)
    assert (frame.outcome.refused or "").endswith(
        "that are kept for rewinding, so they could not be put back; the server was not stopped"
    )
    assert client.info("server")["process_id"] == process


def test_the_emulation_cannot_be_restarted(fake: Engine) -> None:
    frame = take(walker_on(fake), "restart_server", None)
    assert (frame.outcome.name, frame.outcome.sent, frame.calls) == ("not_sent", False, ())
    assert frame.outcome.refused == "fakeredis lives in this process and cannot be restarted; use --engine valkey."
    with pytest.raises(EngineError):
        fake.restart()


def test_every_named_step_says_what_it_is() -> None:
    for name, step in NAMED_STEPS.items():
        assert step.name == name
        assert step.sentence.endswith(".")
        assert step.outcomes
        assert step.kind in ("wait", "fault", "commands", "script")


# The naive queue ------------------------------------------------------------------------------------------------------


NAIVE: list[tuple[str, list[str], list[str], list[str], list[str]]] = [
    # step, its commands, leaves, enters, broken laws
    ("naive_enqueue", ["HSET", "ZADD"], [], ["pending"], []),
    ("naive_claim_flag", ["HSET"], [], [], [FACTS]),
    ("naive_claim_leave", ["ZREM"], ["pending"], [], LOST),
    ("naive_claim_enter", ["ZADD"], [], ["active"], []),
    ("naive_complete_check", ["HGET"], [], [], []),
    ("naive_complete_leave", ["ZREM"], ["active"], [], LOST),
    ("naive_complete_row", ["DEL"], [], [], []),
    ("naive_complete_count", ["HINCRBY"], [], [], []),
]


def test_the_naive_queue_moves_by_single_commands(engine: Engine) -> None:
    walker = walker_on(engine)
    for do, commands, leaves, enters, broken in NAIVE:
        frame = take(walker, do)
        move = frame.move()
        assert (frame.kind, frame.performed.script) == ("commands", None)
        assert [call.command for call in frame.calls] == commands
        assert (list(move.leaves if move else ()), list(move.enters if move else ())) == (leaves, enters)
        assert [law.name for law in frame.broken] == broken
        assert frame.outcome.name in NAMED_STEPS[do].outcomes
    assert frame.after.sides == {"metrics:completed": {b"count": b"1"}}
    assert frame.after.rows == {GUESS: None}


def test_the_naive_claim_leases_from_the_last_time_it_knows(engine: Engine) -> None:
    walker = walker_on(engine)
    frame = take(walker, "naive_claim_enter", lease_ms=7_000)
    assert frame.after.score("active", GUESS) == frame.before.clock_ms + 7_000


def test_an_error_of_the_server_is_the_naive_steps_outcome(engine: Engine) -> None:
    walker = walker_on(engine)
    engine.client.set(space_on(engine).key("pending"), "text")
    frame = take(walker, "naive_claim_leave")
    assert (frame.outcome.name, (frame.outcome.refused or "").split()[0]) == ("error", "WRONGTYPE")
    engine.client.set(space_on(engine).job(GUESS), "text")
    frame = take(walker, "naive_enqueue")
    assert frame.outcome.name == "error"
    assert [call.command for call in frame.calls] == ["HSET"], "what comes after an error is not sent"


@pytest.mark.parametrize("job", [RIVAL, THIRD])
def test_a_naive_step_is_about_its_own_job(engine: Engine, job: bytes) -> None:
    walker = walker_on(engine, GUESS, job)
    frame: Any = take(walker, "naive_enqueue", job)
    assert frame.after.memberships == {GUESS: (), job: ("pending",)}
