"""The naive completion and the naive reap: every command is decided by what its caller read before, and says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.walking import GUESS, RIVAL, claimed, space_on, take, texts, walker_on
from visualizer.engine import Engine
from visualizer.model import Frame, Step
from visualizer.walk import Walker

WORKER = ("check", "leave", "pending", "row", "count")
REAPER = ("scan", "leave", "enter", "flag")


def lapsed(engine: Engine, *captured: bytes) -> Walker:
    """A job whose lease is over."""
    walker = walker_on(engine, *captured)
    claimed(walker, lease_ms=1)
    take(walker, "wait_until_lapsed")
    return walker


def complete(walker: Walker, name: str, **given: Any) -> Frame:
    return take(walker, f"naive_complete_{name}", **given)


def reap(walker: Walker, name: str, job: bytes = GUESS) -> Frame:
    return take(walker, f"naive_reap_{name}", job)


def sent(frame: Frame) -> list[bytes]:
    return [word for call in frame.calls for word in (call.command.encode(), *call.keys, *call.args)]


def note(walker: Walker) -> str:
    return texts(walker)[1]


def test_a_reap_alone_sends_what_the_script_does(engine: Engine) -> None:
    walker, base = lapsed(engine), space_on(engine).base
    scan = reap(walker, "scan")
    clock = b"%d" % scan.before.clock_ms
    assert sent(scan) == [b"ZRANGEBYSCORE", base + b"active", b"-inf", clock]
    assert scan.calls[0].reply == [GUESS]
    assert (scan.outcome.name, scan.moves) == ("found", ())
    assert note(walker) == "The reaper has read that this lease is over, and goes by that from here on."
    leave, enter, flag = (reap(walker, name) for name in REAPER[1:])
    assert sent(leave) == [b"ZREM", base + b"active", GUESS]
    assert sent(enter) == [b"ZADD", base + b"pending", b"0", GUESS]
    assert sent(flag) == [b"HSET", base + b"job:" + GUESS, b"state", b"pending"]
    assert [frame.outcome.name for frame in (leave, enter, flag)] == ["left", "entered", "flagged"]
    assert flag.after.memberships[GUESS] == ("pending",)
    assert flag.broken == ()


def test_a_completion_alone_sends_what_the_script_does(engine: Engine) -> None:
    walker, base = lapsed(engine), space_on(engine).base
    check = complete(walker, "check", token="w1")
    assert sent(check) == [b"HGET", base + b"job:" + GUESS, b"attempts"]
    assert check.outcome.name == "checked"
    assert note(walker) == "The worker holds 1 and read 1, and goes by that from here on."
    assert complete(walker, "leave").outcome.name == "left"
    skipped = complete(walker, "pending")
    assert (skipped.outcome.name, skipped.calls, skipped.outcome.sent) == ("skipped", (), False)
    assert note(walker) == "The worker's ZREM found the id in active, so it does not look in pending and sends nothing."
    assert complete(walker, "row").outcome.name == "deleted"
    count = complete(walker, "count")
    assert count.after.sides["metrics:completed"] == {b"count": b"1"}
    assert count.broken == ()


def test_a_completion_after_a_whole_reap_takes_the_id_out_of_pending(engine: Engine) -> None:
    walker = lapsed(engine)
    for name in REAPER:
        reap(walker, name)
    complete(walker, "check", token="w1")
    assert complete(walker, "leave").outcome.name == "not_there"
    pending = complete(walker, "pending")
    assert sent(pending) == [b"ZREM", space_on(engine).key("pending"), GUESS]
    assert (pending.outcome.name, pending.moves[0].leaves) == ("left", ("pending",))
    complete(walker, "row")
    assert complete(walker, "count").broken == ()


def test_a_reap_after_a_whole_completion_finds_nothing_and_sends_nothing(engine: Engine) -> None:
    walker = lapsed(engine)
    complete(walker, "check", token="w1")
    for name in WORKER[1:]:
        complete(walker, name)
    assert reap(walker, "scan").outcome.name == "found_nothing"
    assert note(walker) == "The reaper did not find the job, so it will send nothing for it."
    for name in REAPER[1:]:
        frame = reap(walker, name)
        assert (frame.outcome.name, frame.calls, frame.moves) == ("skipped", (), ())
        assert texts(walker)[:2] == ["Nothing moved.", "The reaper's scan did not list the job, so it sends nothing."]


@pytest.mark.parametrize(
    ("reclaimed", "outcome", "told"),
    [
        (True, "other_token", "The worker holds 1 and read 2, so it will send nothing more."),
        (False, "gone", "It read no attempts, so the worker will send nothing more."),
    ],
)
def test_a_worker_whose_check_says_no_sends_nothing_more(
    engine: Engine, reclaimed: bool, outcome: str, told: str
) -> None:
    walker = lapsed(engine)
    take(walker, "reap")
    take(walker, "claim", worker="w2", lease_ms=60_000)
    if not reclaimed:
        take(walker, "complete", token="w2")
    assert complete(walker, "check", token="w1").outcome.name == outcome
    assert note(walker) == told
    for name in WORKER[1:]:
        frame = complete(walker, name)
        assert (frame.outcome.name, frame.calls) == ("skipped", ())
        assert note(walker) == "The worker's check told it to stop, so it sends nothing."


def test_what_was_read_is_kept_however_the_server_changes(engine: Engine) -> None:
    walker = lapsed(engine)
    complete(walker, "check", token="w1")
    take(walker, "reap")
    take(walker, "claim", worker="w2", lease_ms=60_000)
    assert complete(walker, "leave").moves[0].leaves == ("active",), "it takes the job out of w2's hands"
    assert complete(walker, "row").outcome.name == "deleted"


def test_a_lease_that_runs_is_not_on_the_list(engine: Engine) -> None:
    walker = walker_on(engine, GUESS, RIVAL)
    claimed(walker, GUESS)
    claimed(walker, RIVAL, lease_ms=1)
    take(walker, "wait_until_lapsed", RIVAL)
    scan = reap(walker, "scan")
    assert (scan.outcome.name, scan.calls[0].reply) == ("found_nothing", [RIVAL])
    assert reap(walker, "leave").calls == ()
    assert reap(walker, "scan", RIVAL).outcome.name == "found"
    assert reap(walker, "leave", RIVAL).moves[0].leaves == ("active",)
    assert reap(walker, "enter").calls == (), "each job is decided by what was read of it"


def test_an_actor_goes_by_its_own_reading(engine: Engine) -> None:
    walker = lapsed(engine)

    def turn(do: str, actor: str) -> Frame:
        return walker.take(Step(do, GUESS, turn=actor)).frames[-1]

    turn("naive_reap_scan", "first")
    turn("naive_reap_leave", "first")
    assert turn("naive_reap_scan", "second").outcome.name == "found_nothing"
    assert turn("naive_reap_enter", "second").outcome.name == "skipped"
    assert turn("naive_reap_enter", "first").outcome.name == "entered"


def test_a_token_that_nobody_has_is_told_before_anything_is_read(engine: Engine) -> None:
    frame = complete(lapsed(engine), "check", token="w9")
    assert (frame.outcome.name, frame.calls) == ("not_sent", ())


def test_while_a_naive_reaper_is_at_work_no_line_says_that_none_has_run(engine: Engine) -> None:
    walker = lapsed(engine)
    assert any("no reaper has run" in line for line in texts(walker))
    reap(walker, "scan")
    assert not any("no reaper has run" in line for line in texts(walker))
    complete(walker, "check", token="w1")
    assert not any("no reaper has run" in line for line in texts(walker))
