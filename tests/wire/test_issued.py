"""What a script issued: heard from MONITOR on a real Valkey and inside fakeredis, and never in the way of the call."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.walking import (
    GROUP,
    GUESS,
    RIVAL,
    THIRD,
    Tap,
    claimed,
    held,
    take,
    walker_on,
)
from tests.engine.serving import needs_server
from tests.wire.issued_by_verbs import EXPECTED, ROW, happy_cases
from visualizer.engine import Engine
from visualizer.engine.monitor import words_of_a_script
from visualizer.machine import MACHINES
from visualizer.model import Frame, Issued
from visualizer.wire_log import BROKE_OFF, wire_log


def issued_in(frame: Frame) -> tuple[Issued, ...]:
    """What the scripts of a frame issued; every EVALSHA was watched."""
    found: list[Issued] = []
    for call in frame.calls:
        assert (call.issued is not None) == (call.command == "EVALSHA")
        found.extend(call.issued or ())
    return tuple(found)


def told(frame: Frame) -> list[str]:
    lines = (b" ".join(each.words).decode().replace("emq:{cm}:", "") for each in issued_in(frame))
    lines = (re.sub(r"\b1[78]\d{11}\b", "T", line) for line in lines)
    # The two engines write a table's keys in orders of their own.
    return [re.sub(r"^(PUBLISH \S+) .*", r"\1 EVENT", line) for line in lines]


def test_what_the_script_of_each_verb_issues(engine: Engine) -> None:
    frames = list(happy_cases(walker_on(engine, GUESS, RIVAL, THIRD, groups=(GROUP,), watch=True)))
    assert {frame.step.do: told(frame) for frame in frames if frame.step} == EXPECTED
    assert set(EXPECTED) == set(MACHINES["leased"].verbs)
    for frame in frames:
        assert not {"ECHO", "MONITOR"} & {call.command for call in frame.calls}
        # The one difference between the engines: only the emulation tells what was answered.
        assert {each.answered for each in issued_in(frame)} == {engine.kind == "fakeredis"}


def test_a_refusal_tells_what_was_issued_until_then(engine: Engine) -> None:
    walker = walker_on(engine, watch=True)
    claimed(walker)
    frame = take(walker, "complete", token=9)
    assert frame.outcome.refused == "EMQSTALE complete token mismatch"
    assert told(frame) == [f"HGET {ROW} attempts"]


def test_a_script_that_the_server_does_not_know_issued_nothing(engine: Engine) -> None:
    walker = walker_on(engine, watch=True)
    take(walker, "flush_scripts", None)
    first, loading, again = take(walker, "enqueue").calls
    assert (first.error or "").startswith("NOSCRIPT")
    assert first.issued == ()
    assert (loading.command, loading.issued) == ("SCRIPT LOAD", None)
    assert [each.words[0] for each in again.issued or ()] == [b"EXISTS", b"HSET", b"ZADD"]


def test_without_trace_nothing_is_watched(engine: Engine) -> None:
    frame = claimed(walker_on(engine))
    assert [call.issued for call in frame.calls] == [None] * len(frame.calls)


def test_the_emulation_tells_replies_and_errors(fake: Engine) -> None:
    source = "redis.call('SET', 'k', 1.5); redis.pcall('LPUSH', 'k', 2); return redis.call('GET', 'k')"
    sha1 = fake.send("SCRIPT", "LOAD", source)
    with fake.watching() as watch:
        assert fake.send("EVALSHA", sha1, 0) == b"1.5"
    wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
    assert watch.issued == (
        Issued((b"SET", b"k", b"1.5"), b"OK", True),
        Issued((b"LPUSH", b"k", b"2"), None, True, wrong),
        Issued((b"GET", b"k"), b"1.5", True),
    )
    fake.send("EVALSHA", sha1, 0)
    assert len(watch.issued) == 3


# Any bytes ------------------------------------------------------------------------------------------------------------

ANY_BYTES = st.binary(max_size=300) | st.text(alphabet='"\\\\ \n\r\t\a\bxn0af[]', max_size=20).map(str.encode)


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_words_come_back_byte_for_byte(spec: str, request: pytest.FixtureRequest) -> None:
    engine: Engine = request.getfixturevalue("valkey" if spec == "valkey" else "fake")
    sha1 = engine.send("SCRIPT", "LOAD", "return redis.call('SET', KEYS[1], ARGV[1])")

    @given(key=ANY_BYTES, value=ANY_BYTES)
    @settings(max_examples=200)
    def check(key: bytes, value: bytes) -> None:
        with engine.watching() as watch:
            engine.send("EVALSHA", sha1, 1, key, value)
        assert [each.words for each in watch.issued or ()] == [(b"SET", key, value)]
        engine.send("DEL", key)

    check()


def test_every_byte_and_a_long_word(engine: Engine) -> None:
    sha1 = engine.send("SCRIPT", "LOAD", "return redis.call('SET', KEYS[1], ARGV[1])")
    value = bytes(range(256)) * 2_000
    with engine.watching() as watch:
        engine.send("EVALSHA", sha1, 1, b"emq:{cm}:k", value)
    assert [each.words for each in watch.issued or ()] == [(b"SET", b"emq:{cm}:k", value)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (rb'1700000000.123456 [0 lua] "GET" "a \"b\" \\x41"', (b"GET", rb'a "b" \x41')),
        (rb'1700000000.123456 [15 lua] "SET" "" "\xff\a\b\t"', (b"SET", b"", b"\xff\a\b\t")),
        (rb'1700000000.123456 [0 127.0.0.1:6379] "GET" "[0 lua] \"DEL\""', None),
        (rb'1700000000.123456 [0 unix:/a "b" [0 lua] c] "GET" "k"', None),
        (b"OK", None),
    ],
)
def test_only_a_scripts_lines_count(line: bytes, words: tuple[bytes, ...] | None) -> None:
    assert words_of_a_script(line) == words


# Never in the way -----------------------------------------------------------------------------------------------------


def kill_listeners(engine: Engine) -> None:
    client: Any = engine.client
    for other in client.client_list():
        if "O" in other["flags"]:
            client.execute_command("CLIENT", "KILL", "ID", other["id"])


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_listener_that_breaks_costs_only_what_it_would_have_told(
    valkey: Engine, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    tap = Tap(valkey, monkeypatch)
    walker = walker_on(valkey, watch=True)

    def kill(words: tuple[Any, ...]) -> None:
        if words[0] == "EVALSHA" and GUESS in words and b"payload" in words:
            kill_listeners(valkey)

    setattr(tap, when, kill)
    frame = take(walker, "enqueue")
    assert (frame.outcome.name, [call.issued for call in frame.calls]) == ("enqueued", [None])
    assert sum(1 for words in tap.sent if words[0] == "EVALSHA" and b"payload" in words) == 1
    assert wire_log(frame, b"emq:{cm}:")[-1].text == BROKE_OFF
    setattr(tap, when, lambda _: None)
    assert told(take(walker, "claim", worker="w1"))[0] == "ZPOPMIN pending"


def test_a_server_that_does_not_let_us_listen(valkey: Engine) -> None:
    walker = walker_on(valkey, watch=True)
    client: Any = valkey.client
    client.execute_command("ACL", "SETUSER", "default", "-monitor")
    try:
        frame = take(walker, "enqueue")
    finally:
        client.execute_command("ACL", "SETUSER", "default", "+@all")
    assert (frame.outcome.name, [call.issued for call in frame.calls]) == ("enqueued", [None])


def test_a_lost_reply_is_not_asked_for_again(tap: Tap, engine: Engine) -> None:
    walker = walker_on(engine, watch=True)
    tap.lose = b"payload"
    frame = take(walker, "enqueue")
    assert (frame.outcome.name, frame.calls[0].issued) == ("reply_lost", None)
    assert frame.calls[0].sent_bytes > 0
    assert sum(1 for words in tap.sent if words[0] == "EVALSHA" and b"payload" in words) == 1


def test_no_listener_stays_behind(valkey: Engine) -> None:
    walker = walker_on(valkey, watch=True)
    claimed(walker)
    # Asked on the connection of the calls: taking one of the others out of its pool would end the listening.
    assert b"flags=O" not in valkey.send("CLIENT", "LIST")


def test_the_emulation_is_left_as_it_was(fake: Engine) -> None:
    claimed(walker_on(fake, watch=True))
    wire: Any = fake._wire
    assert not {"_lua_redis_call", "_run_command"} & vars(wire.get_socket()).keys()


def test_a_watched_walk_leaves_the_same_keys_as_an_unwatched_one(engine: Engine) -> None:
    left = []
    for watch in (False, True):
        engine.clear_queue()
        walker = walker_on(engine, watch=watch)
        claimed(walker)
        take(walker, "update_progress", progress="50")
        take(walker, "retry", token="w1", max_attempts=1)
        left.append(held(engine))
    assert left[0] == left[1]


# A server by URL ------------------------------------------------------------------------------------------------------


@needs_server
def test_a_server_by_url_is_never_listened_to(url_engine: Engine) -> None:
    frame = claimed(walker_on(url_engine, watch=True))
    assert [call.issued for call in frame.calls] == [None] * len(frame.calls)
    assert "cmdstat_monitor" not in url_engine.client.info("commandstats")
    why = url_engine.may("watch")
    assert why is not None
    assert wire_log(frame, b"emq:{cm}:", why)[-1].text == why
