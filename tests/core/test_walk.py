"""Taking steps: frames and the cursor, what happens between steps, shared values, lost replies, forgotten scripts."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from redis import exceptions

from tests.core.walking import GROUP, GUESS, HOUR_MS, LANE, RIVAL, Tap, claimed, space_on, take, texts, walker_on
from tests.engine.serving import Relay, calls_of, needs_server, stand_in, tcp_server
from visualizer.caller import ErrorReply
from visualizer.engine import Engine, EngineError, open_engine
from visualizer.model import Grant, Step
from visualizer.script import load

# The cursor -----------------------------------------------------------------------------------------------------------


def test_the_opening_has_no_frame(engine: Engine) -> None:
    walk = walker_on(engine).walk
    assert (walk.frames, walk.cursor, walk.frame, walk.at_end) == ((), 0, None, True)
    assert walk.shown is walk.opening
    assert walk.opening.memberships == {GUESS: ()}


def test_a_step_becomes_a_frame_and_the_cursor_goes_there(engine: Engine) -> None:
    walker = walker_on(engine)
    walk = walker.take(Step("enqueue", GUESS, payload=b"p"))
    assert (len(walk.frames), walk.cursor, walk.at_end) == (1, 1, True)
    frame = walk.frames[0]
    assert (frame.number, frame.kind, frame.performed.script) == (1, "script", "leased/enqueue")
    assert (frame.before.memberships, frame.after.memberships) == ({GUESS: ()}, {GUESS: ("pending",)})
    assert walk.shown is frame.after
    assert [(call.command, call.script, call.sha1) for call in frame.calls] == [
        ("EVALSHA", "leased/enqueue", load("leased/enqueue").sha1)
    ]


def test_back_forward_and_jump_move_the_cursor_and_call_nothing(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "complete", token="w1")
    tap.sent.clear()
    frames = walker.walk.frames
    assert walker.back().cursor == 2
    assert walker.back().shown is frames[0].after
    assert walker.forward().cursor == 2
    assert walker.jump(0).shown is walker.walk.opening
    assert walker.back().cursor == 0, "before the opening there is nothing"
    assert walker.jump(99).cursor == 3
    assert walker.forward().at_end
    assert walker.walk.frames is frames
    assert tap.sent == []


def test_a_step_taken_after_looking_back_is_appended_at_the_end(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    walker.jump(0)
    walk = walker.take(Step("complete", GUESS, {"token": "w1"}))
    assert ([frame.outcome.name for frame in walk.frames], walk.cursor) == (["enqueued", "claimed", "completed"], 3)


def test_a_note_is_told_first(engine: Engine) -> None:
    walker = walker_on(engine)
    walker.take(Step("enqueue", GUESS), "Time had passed.")
    assert texts(walker)[0] == "Time had passed."


def test_a_token_is_the_one_that_a_worker_got_last(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "retry", token="w1", delay_ms=0)
    take(walker, "promote", None)
    assert take(walker, "claim", worker="w1", lease_ms=HOUR_MS).performed.grants == (Grant("w1", GUESS, b"2"),)
    assert take(walker, "complete", token="w1").outcome.name == "completed"


@pytest.mark.parametrize("do", ["complete", "naive_enqueue", "wait_until_due"])
def test_a_step_that_names_no_job_is_not_sent(engine: Engine, do: str) -> None:
    frame = take(walker_on(engine), do, None, token=1)
    assert (frame.outcome.name, frame.outcome.sent, frame.calls) == ("not_sent", False, ())
    assert frame.outcome.refused == f"{do} is about a job, and the step names none"


def test_an_unknown_step_is_a_mistake_of_ours(engine: Engine) -> None:
    with pytest.raises(KeyError, match="levitate is no verb of the leased machine and no named step"):
        take(walker_on(engine), "levitate")


def test_a_closed_engine_takes_no_step(fake: Engine) -> None:
    walker = walker_on(fake)
    fake.close()
    with pytest.raises(EngineError, match="closed"):
        take(walker, "enqueue")
    assert walker.walk.frames == ()


# Between two steps ----------------------------------------------------------------------------------------------------


def test_what_another_client_changes_is_a_frame_of_its_own_and_no_verb_gets_the_credit(engine: Engine) -> None:
    walker, client = walker_on(engine), engine.client
    take(walker, "enqueue")
    client.zadd(space_on(engine).key("dead"), {GUESS: 0})
    client.zrem(space_on(engine).key("pending"), GUESS)
    frame = take(walker, "update_progress", progress="5")
    between = walker.walk.frames[1]
    assert [each.number for each in walker.walk.frames] == [1, 2, 3]
    assert (between.kind, between.step, between.calls, between.outcome.name) == ("between", None, (), "changed")
    assert [(move.leaves, move.enters) for move in between.moves] == [(("pending",), ("dead",))]
    assert [law.name for law in between.broken] == ["the_row_state_follows_the_place"]
    assert (frame.moves[0].leaves, frame.moves[0].enters) == ((), ())
    assert between.after is frame.before
    assert texts(walker, between)[0] == (
        "Between two steps, not by this walk: JOB0KHTOWnGLuC leaves pending, enters dead."
    )


def test_a_key_that_expires_between_two_steps_is_told(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    lock = space_on(engine).job(GUESS) + b":lock"
    engine.client.set(lock, "w9")
    walker.look()
    engine.client.pexpire(lock, 1)
    while engine.client.exists(lock):
        pass
    frame = take(walker, "update_progress", progress="5")
    between = walker.walk.frames[2]
    assert (between.kind, frame.number) == ("between", 4)
    assert between.moves[0].lock_before is not None
    assert (between.moves[0].lock_before.token, between.moves[0].lock_after) == (b"w9", None)


def test_looking_makes_no_frame_where_nothing_changed(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    walk = walker.walk
    assert walker.look() is walk
    engine.client.hset(space_on(engine).key("meta"), "paused", 1)
    assert walker.look().frames[-1].kind == "between"


def test_a_claim_by_another_client_breaks_no_law_between_two_steps(engine: Engine) -> None:
    walker, other = walker_on(engine), walker_on(engine, keep_dumps=False)
    take(walker, "enqueue")
    other.look()
    take(other, "claim", lease_ms=HOUR_MS)
    between = walker.look().frames[-1]
    assert (between.kind, between.broken) == ("between", ())
    assert between.moves[0].enters == ("active",)


# Shared values --------------------------------------------------------------------------------------------------------


def test_what_stays_is_the_same_object_in_every_frame(engine: Engine) -> None:
    walker = walker_on(engine, GUESS, RIVAL)
    take(walker, "enqueue", RIVAL)
    take(walker, "schedule", GUESS, delay_ms=HOUR_MS)
    first, second = walker.walk.frames
    assert second.before.places["pending"] is first.after.places["pending"]
    assert second.after.places["pending"] is first.after.places["pending"]
    assert second.after.places["active"] is walker.walk.opening.places["active"]
    assert second.after.rows[RIVAL] is first.after.rows[RIVAL]
    assert second.before.memberships is first.after.memberships
    assert second.after.places["schedule"] is not first.after.places["schedule"]
    take(walker, "update_data", RIVAL, payload=b"new")
    assert walker.walk.frames[2].after.memberships is second.after.memberships
    assert walker.walk.frames[2].after.sides is walker.walk.opening.sides


# A reply that is lost -------------------------------------------------------------------------------------------------


def test_a_lost_reply_is_told_observed_and_not_sent_again(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    sha1 = load("leased/claim").sha1
    tap.lose = sha1
    frame = take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    assert [words[1] for words in tap.sent].count(sha1) == 1, "sent once"
    assert (frame.outcome.name, frame.outcome.refused) == ("reply_lost", None)
    assert frame.moves[0].enters == ("active",), "the server had run it"
    assert frame.performed.grants == (), "nobody was told the token"
    assert frame.broken == ()
    lost = frame.calls[-1]
    assert (lost.command, lost.reply, lost.error) == ("EVALSHA", None, "no reply: Connection closed by server.")
    told = texts(walker)
    assert told[0].startswith("JOB0KHTOWnGLuC leaves pending, enters active.")
    assert told[1] == (
        "The connection broke before EVALSHA was answered: Connection closed by server; "
        "the server may have run it, and it was not sent again."
    )
    assert take(walker, "complete", token="w1").outcome.name == "not_sent"


@needs_server
def test_a_reply_that_is_lost_on_the_way_back_has_run_once() -> None:
    """The same on a real connection, through something that drops one reply."""
    with tcp_server() as port, redis.Redis(port=port) as admin:
        relay = Relay(port)
        with stand_in(relay.serve) as entrance:
            engine = open_engine(f"redis://127.0.0.1:{entrance}", queue="cm")
            walker = walker_on(engine)
            take(walker, "enqueue")
            admin.config_resetstat()
            relay.lose = load("leased/claim").sha1.encode()
            frame = take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
            assert (relay.lost, calls_of(admin, "evalsha")) == (1, 3), "a reading, the claim, a reading"
            assert (frame.outcome.name, frame.moves[0].enters) == ("reply_lost", ("active",))
            assert admin.hget(space_on(engine).job(GUESS), "attempts") == b"1"
            assert take(walker, "complete", token=1).outcome.name == "completed"
            engine.close()


def test_a_lost_reply_of_a_plain_command_is_a_frame_of_commands(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    tap.lose = "HSET"
    frame = take(walker, "naive_enqueue")
    assert (frame.outcome.name, frame.kind, frame.performed.script) == ("reply_lost", "commands", None)
    assert tap.commands().count("HSET") == 1
    assert tap.commands().count("ZADD") == 0, "the client ended there"
    assert (frame.moves[0].row_before, frame.moves[0].row_after) == (False, True)


def test_the_calls_of_a_step_that_did_not_end_are_in_no_later_frame(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    readings = iter([None, exceptions.ConnectionError("gone")])
    observe = load("observe").sha1

    def break_the_second(words: tuple[Any, ...]) -> Any:
        return next(readings, None) if words[1] == observe else None

    tap.instead = break_the_second
    with pytest.raises(exceptions.ConnectionError):
        take(walker, "enqueue")
    assert [frame.number for frame in walker.walk.frames] == []
    take(walker, "claim", lease_ms=HOUR_MS)
    between, claim = walker.walk.frames
    assert between.calls == ()
    assert [call.script for call in claim.calls] == [None, "leased/claim"]


# A server that forgot the scripts -------------------------------------------------------------------------------------


def test_a_forgotten_script_is_loaded_once_and_the_same_call_goes_again(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "flush_scripts")
    frame = take(walker, "enqueue")
    first, loading, again = frame.calls
    script = load("leased/enqueue")
    assert (first.command, loading.command, again.command) == ("EVALSHA", "SCRIPT LOAD", "EVALSHA")
    assert (first.error or "").split()[0] == "NOSCRIPT"
    assert (loading.args, loading.keys) == ((script.source.encode(),), ())
    assert loading.reply in (script.sha1, script.sha1.encode())
    assert (first.keys, first.args, first.sha1) == (again.keys, again.args, again.sha1)
    assert (again.reply, frame.outcome.name) == (1, "enqueued")
    assert [call.command for call in take(walker, "claim").calls if call.script] == [
        "EVALSHA",
        "SCRIPT LOAD",
        "EVALSHA",
    ]
    assert [call.command for call in take(walker, "enqueue").calls] == ["EVALSHA"], "known again"


def test_noscript_is_known_by_its_first_word(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    once = iter([exceptions.NoScriptError("Kein passendes Skript. Bitte EVAL verwenden.")])
    sha1 = load("leased/enqueue").sha1
    tap.instead = lambda words: next(once, None) if words[1] == sha1 else None
    frame = take(walker, "enqueue")
    assert [call.command for call in frame.calls] == ["EVALSHA", "SCRIPT LOAD", "EVALSHA"]
    assert frame.calls[0].error == "NOSCRIPT Kein passendes Skript. Bitte EVAL verwenden."


def test_another_error_loads_nothing(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    sha1 = load("leased/enqueue").sha1
    tap.instead = lambda words: exceptions.ResponseError("ERR there is NOSCRIPT in this") if words[1] == sha1 else None
    frame = take(walker, "enqueue")
    assert [(call.command, call.error) for call in frame.calls] == [("EVALSHA", "ERR there is NOSCRIPT in this")]
    assert frame.outcome.name == "error"
    assert ErrorReply(frame.outcome.refused or "").code == "ERR"


def test_the_observers_own_script_is_in_no_wire_log(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    tap.sent.clear()
    flush = take(walker, "flush_scripts")
    frame = take(walker, "update_progress", progress="1")
    observe = load("observe")
    assert [words[2] for words in tap.sent if words[:2] == ("SCRIPT", "LOAD")].count(observe.source) == 1
    assert [call.command for call in flush.calls] == ["SCRIPT FLUSH"]
    assert all(call.sha1 != observe.sha1 for call in frame.calls)
    assert all(observe.source.encode() not in call.args for call in frame.calls)


def test_scripts_are_known_when_a_walk_opens(engine: Engine) -> None:
    engine.client.script_flush()
    walker = walker_on(engine)
    assert [call.command for call in take(walker, "enqueue").calls] == ["EVALSHA"]


def test_a_lane_is_followed_from_the_moment_it_is_named(engine: Engine) -> None:
    walker = walker_on(engine)
    frame = take(walker, "lane_enqueue", group=GROUP)
    assert LANE not in frame.before.places
    assert (frame.moves[0].enters, frame.after.places[LANE].count) == ((LANE,), 1)
