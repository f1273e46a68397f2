"""What the script cache has to do with a call: the SHA-1 on both sides, NOSCRIPT, and the bytes of EVAL and EVALSHA."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.core.walking import GUESS, HOUR_MS, Tap, claimed, take, texts, walker_on
from visualizer.engine import Engine
from visualizer.model import Frame
from visualizer.perform import NAMED_STEPS
from visualizer.script import load
from visualizer.trace import call_of
from visualizer.walk import Walker
from visualizer.wire_log import wire_log

EXTEND = load("leased/extend_lock")


def words_of(tap: Tap) -> list[tuple[Any, ...]]:
    """What the engine was asked to send, apart from the observer's own calls."""
    observer = load("observe")
    return [words for words in tap.sent if not {observer.sha1, observer.source} & set(words)]


def commands(frame: Frame) -> list[str]:
    return [call.command for call in frame.calls]


def sending(walker: Walker, do: str, **given: Any) -> Frame:
    return take(walker, do, token="w1", lease_ms=HOUR_MS, **given)


# The SHA-1 ------------------------------------------------------------------------------------------------------------


def test_the_sha1_is_computed_before_anything_is_sent(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    tap.sent.clear()
    frame = take(walker, "compute_sha1", None, of="enqueue")
    source = load("leased/enqueue").source.encode()
    assert (frame.outcome.name, frame.calls, words_of(tap)) == ("computed", (), [])
    assert f"text   leased/enqueue.lua, {len(source)} bytes" in texts(walker)
    assert f"sha-1  {hashlib.sha1(source).hexdigest()}" in texts(walker)


def test_a_load_shows_our_sha1_beside_the_servers(engine: Engine) -> None:
    walker = walker_on(engine)
    frame = take(walker, "load_script", None, of="extend_lock")
    assert (frame.outcome.name, commands(frame)) == ("loaded", ["SCRIPT LOAD"])
    assert frame.calls[0].reply == EXTEND.sha1.encode()
    assert f"here   {EXTEND.sha1}" in texts(walker)
    assert f"server {EXTEND.sha1}" in texts(walker)


def test_after_a_flush_one_frame_holds_the_three_calls(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "flush_scripts", None)
    frame = sending(walker, "extend_lock")
    assert commands(frame) == ["EVALSHA", "SCRIPT LOAD", "EVALSHA"]
    assert (frame.calls[0].keys, frame.calls[0].args) == (frame.calls[2].keys, frame.calls[2].args)
    told = "The server did not know the script and ran nothing: one SCRIPT LOAD, the same EVALSHA again."
    assert told in texts(walker)
    sending(walker, "extend_lock")
    assert told not in texts(walker)


def test_a_sha1_of_no_script_is_refused_and_nothing_is_loaded_for_it(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    frame = sending(walker, "call_wrong_sha")
    assert (frame.outcome.name, frame.outcome.refused, commands(frame)) == ("no_script", "NOSCRIPT", ["EVALSHA"])
    assert (frame.calls[0].error or "").split()[0] == "NOSCRIPT"
    assert frame.calls[0].sha1 == hashlib.sha1(f"{EXTEND.source} ".encode()).hexdigest() != EXTEND.sha1
    assert (frame.moves, frame.before.places) == ((), frame.after.places)


def test_a_text_that_changed_on_the_way_is_loaded_and_not_called(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    assert sending(walker, "load_changed_text").outcome.name == "sent", "what is known is not loaded"
    take(walker, "flush_scripts", None)
    frame = sending(walker, "load_changed_text")
    assert (frame.outcome.name, commands(frame)) == ("sha_differs", ["EVALSHA", "SCRIPT LOAD"])
    answer = hashlib.sha1(EXTEND.source.replace("\n", "\r\n").encode()).hexdigest()
    assert frame.calls[1].reply == answer.encode()
    assert [f"here   {EXTEND.sha1}", f"server {answer}"] == [
        line for line in texts(walker) if line[:6] in ("here  ", "server")
    ]
    assert texts(walker)[0] == "The caller stopped: the server computed another SHA-1. Nothing moved."
    assert any(line.startswith("wire   SCRIPT LOAD leased/extend_lock, changed, ") for line in texts(walker))
    assert any(line.text.startswith("text   the script, changed, ") for line in wire_log(frame, b"emq:{cm}:"))
    assert sending(walker, "extend_lock").outcome.name == "extended"
    assert any(line.startswith("wire   SCRIPT LOAD leased/extend_lock, 1") for line in texts(walker))


def test_a_changed_text_is_left_on_no_server_whose_cache_is_not_ours(
    engine: Engine, tap: Tap, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker = walker_on(engine)
    claimed(walker)
    monkeypatch.setattr(engine, "may", lambda feature: f"no {feature} here")
    tap.sent.clear()
    frame = sending(walker, "load_changed_text")
    assert (frame.outcome.name, frame.outcome.refused) == ("not_sent", "no flush_scripts here")
    assert (frame.calls, words_of(tap)) == ((), [])


def test_a_call_that_met_no_script_has_no_inside(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    assert call_of(take(walker, "compute_sha1", None, of="extend_lock")) is None
    assert call_of(sending(walker, "call_wrong_sha")) is None
    take(walker, "flush_scripts", None)
    assert call_of(sending(walker, "load_changed_text")) is None
    frame = sending(walker, "extend_lock")
    assert call_of(frame) is frame.calls[2]


def test_which_steps_call_scripts_by_themselves() -> None:
    calling = {name for name, step in NAMED_STEPS.items() if step.calls_scripts}
    assert calling == {"call_wrong_sha", "load_changed_text", "send_by_eval", "send_by_evalsha"}


def test_a_load_that_is_answered_by_another_sha1_says_so(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    tap.instead = lambda words: b"f" * 40 if words[:2] == ("SCRIPT", "LOAD") else None
    frame = take(walker, "load_script", None, of="claim")
    assert (frame.outcome.name, frame.outcome.refused) == ("sha_differs", "the server computed another SHA-1")
    assert f"server {'f' * 40}" in texts(walker)


# Bytes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 20])
def test_so_many_calls_are_made_and_their_bytes_are_those_of_the_connection(
    engine: Engine, tap: Tap, count: int
) -> None:
    walker = walker_on(engine)
    claimed(walker)
    wire: Any = engine.client.connection_pool.get_connection()
    for do, command in (("send_by_eval", "EVAL"), ("send_by_evalsha", "EVALSHA")):
        tap.sent.clear()
        frame = sending(walker, do, count=count)
        sent = words_of(tap)
        assert (frame.outcome.name, commands(frame)) == ("sent", [command] * count)
        assert {call.reply for call in frame.calls} == {1}
        assert [words[0] for words in sent] == [command] * count
        packed = [sum(map(len, wire.pack_command(*words))) for words in sent]
        assert [call.sent_bytes for call in frame.calls] == packed
        assert any(f"sent   {sum(packed):,} bytes in " in line for line in texts(walker))
    engine.client.connection_pool.release(wire)


def test_the_server_got_as_many_bytes_as_we_count(valkey: Engine) -> None:
    walker = walker_on(valkey)
    claimed(walker)
    info = len(b"*2\r\n$4\r\nINFO\r\n$5\r\nstats\r\n")

    def received() -> int:
        return int(valkey.client.info("stats")["total_net_input_bytes"])

    def asked(caller: Any, *words: Any) -> int:
        before = received()
        caller(*words)
        return received() - before - info

    send = {"EVAL": walker._caller.call_by_text, "EVALSHA": walker._caller.call}
    keys = {"active": walker._space.key("active"), "row": walker._space.job(GUESS)}
    for call in send.values():
        walker._caller.drain()
        got = asked(call, EXTEND, keys, {"id": GUESS, "token": "1", "lease_ms": HOUR_MS})
        (made,) = walker._caller.drain()
        assert got == made.sent_bytes > 0


def test_two_ways_of_sending_are_compared_where_they_sent_as_much(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    sending(walker, "send_by_eval", count=3)
    by_text = sum(call.sent_bytes for call in walker.walk.frames[-1].calls)
    sending(walker, "send_by_evalsha", count=2)
    assert not any("By EVAL the same" in line for line in texts(walker)), "two are not three"
    sending(walker, "send_by_evalsha", count=3)
    by_name = sum(call.sent_bytes for call in walker.walk.frames[-1].calls)
    assert (
        f"By EVAL the same 3 took {by_text:,} bytes (step 3): {by_text - by_name:,} more, "
        f"{by_text / by_name:.1f} times as many." in texts(walker)
    )
    sending(walker, "send_by_eval", count=3)
    assert f"By EVALSHA the same 3 took {by_name:,} bytes (step 5): {by_text - by_name:,} fewer." in texts(walker), (
        "the last one that sent as much"
    )


def test_a_load_among_the_calls_is_counted_with_them(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "flush_scripts", None)
    frame = sending(walker, "send_by_evalsha", count=2)
    assert commands(frame) == ["EVALSHA", "SCRIPT LOAD", "EVALSHA", "EVALSHA"]
    assert any(line.endswith("bytes in 4 calls, the load among them") for line in texts(walker))


def test_calls_that_are_alike_share_a_line(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    sending(walker, "send_by_evalsha", count=7)
    (line,) = [line for line in texts(walker) if line.startswith("wire")]
    assert line.startswith(f"wire   7 × EVALSHA {EXTEND.sha1[:7]}… 2 keys 3 args → 1")


def test_an_error_ends_the_sending(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    frame = take(walker, "send_by_evalsha", token=7)
    assert (frame.outcome.name, len(frame.calls)) == ("error", 1)
    assert frame.outcome.refused == "EMQSTALE extend token mismatch"
    assert take(walker, "send_by_eval", token="w9").outcome.name == "not_sent"
