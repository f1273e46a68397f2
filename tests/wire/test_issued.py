"""What a script issued: heard from MONITOR on a real Valkey and inside fakeredis, and never in the way of the call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.walking import (
    GROUP,
    GUESS,
    HOUR_MS,
    LANE,
    RIVAL,
    THIRD,
    Tap,
    claimed,
    held,
    take,
    walker_on,
)
from tests.engine.serving import needs_server
from visualizer.engine import Engine
from visualizer.engine.monitor import words_of_a_script
from visualizer.machine import MACHINES
from visualizer.model import Frame, Issued
from visualizer.walk import Walker
from visualizer.wire_log import BROKE_OFF, wire_log

ROW = "job:" + GUESS.decode()
LANE_ROW = "job:" + THIRD.decode()
IN_THE_RING = [f"HGET gactive {GROUP.decode()}", f"HGET glimit {GROUP.decode()}", f"SISMEMBER paused {GROUP.decode()}"]
RINGS = [f"RPUSH ring {GROUP.decode()}", "LPUSH wake 1", "LTRIM wake 0 63"]

# What each verb's script issues where all goes well, written from the Lua. T is an instant in ms; the queue's prefix
# is left out.
EXPECTED: dict[str, list[str]] = {
    "enqueue": [
        f"EXISTS {ROW}",
        f"HSET {ROW} state pending attempts 0 payload payload",
        f"ZADD pending 0 {GUESS.decode()}",
    ],
    "claim": [
        "ZPOPMIN pending",
        "TIME",
        f"HINCRBY {ROW} attempts 1",
        f"HSET {ROW} state active",
        f"ZADD active T {GUESS.decode()}",
        f"HGET {ROW} payload",
    ],
    "extend_lock": [f"HGET {ROW} attempts", "TIME", f"ZADD active T {GUESS.decode()}"],
    "extend_locks": ["TIME", f"HGET {ROW} attempts", f"ZADD active T {GUESS.decode()}"],
    "update_data": [f"EXISTS {ROW}", f"HSET {ROW} payload new"],
    "update_progress": [f"EXISTS {ROW}", f"HSET {ROW} progress 50", "PUBLISH events EVENT"],
    "delay": [
        f"HGET {ROW} attempts",
        f"ZREM active {GUESS.decode()}",
        f"HSET {ROW} state scheduled",
        "TIME",
        f"ZADD schedule T {GUESS.decode()}",
    ],
    "promote": [
        "TIME",
        "ZRANGEBYSCORE schedule -inf T LIMIT 0 100",
        f"ZREM schedule {GUESS.decode()}",
        f"HGET {ROW} group",
        f"ZADD pending 0 {GUESS.decode()}",
        f"HSET {ROW} state pending",
    ],
    "claim_batch": [
        "TIME",
        "ZCARD pending",
        "ZPOPMIN pending",
        f"HINCRBY {ROW} attempts 1",
        f"HSET {ROW} state active",
        f"ZADD active T {GUESS.decode()}",
        f"HGET {ROW} payload",
    ],
    "reap": [
        "TIME",
        "ZRANGEBYSCORE active -inf T LIMIT 0 100",
        f"ZREM active {GUESS.decode()}",
        f"HGET {ROW} group",
        f"ZADD pending 0 {GUESS.decode()}",
        f"HSET {ROW} state pending",
    ],
    "sweep_stalled": [
        "TIME",
        "ZRANGEBYSCORE active -inf T LIMIT 0 100",
        f"ZREM active {GUESS.decode()}",
        f"HGET {ROW} group",
        f"HINCRBY {ROW} stalled 1",
        f"HSET {ROW} state dead last_error stalled",
        f"ZADD dead 0 {GUESS.decode()}",
        "HINCRBY metrics:failed count 1",
    ],
    "retry": [
        f"HGET {ROW} attempts",
        f"HGET {ROW} group",
        f"ZREM active {GUESS.decode()}",
        f"HSET {ROW} last_error error",
        f"HSET {ROW} state dead",
        f"ZADD dead 0 {GUESS.decode()}",
        "HINCRBY metrics:failed count 1",
    ],
    "reprocess": [
        f"EXISTS {ROW}",
        f"ZREM dead {GUESS.decode()}",
        f"HDEL {ROW} last_error",
        f"HSET {ROW} state pending",
        f"ZADD pending 0 {GUESS.decode()}",
    ],
    "complete": [
        f"HGET {ROW} attempts",
        f"HGET {ROW} group",
        f"ZREM active {GUESS.decode()}",
        f"DEL {ROW}",
        "HINCRBY metrics:completed count 1",
    ],
    "schedule": [
        f"EXISTS {ROW}",
        "TIME",
        f"HSET {ROW} state scheduled attempts 0 payload payload",
        f"ZADD schedule T {GUESS.decode()}",
    ],
    "remove_job": [
        f"EXISTS {ROW}",
        f"EXISTS {ROW}:lock",
        f"HEXISTS {ROW} lock",
        *(f"ZREM {place} {GUESS.decode()}" for place in ("pending", "active", "schedule", "dead")),
        f"DEL {ROW} {ROW}:logs",
    ],
    "queue_pause": ["HSET meta paused 1"],
    "queue_resume": ["HDEL meta paused"],
    "lane_enqueue": [
        f"EXISTS {LANE_ROW}",
        f"HSET {LANE_ROW} state pending attempts 0 payload payload group {GROUP.decode()}",
        f"ZADD {LANE} 0 {THIRD.decode()}",
        *IN_THE_RING,
        f"LPOS ring {GROUP.decode()}",
        *RINGS,
    ],
    "lane_limit": [
        f"HSET glimit {GROUP.decode()} 1",
        f"HGET gactive {GROUP.decode()}",
        f"ZCARD {LANE}",
        *IN_THE_RING[1:],
        f"LPOS ring {GROUP.decode()}",
    ],
    "lane_pause": [f"SADD paused {GROUP.decode()}", f"LREM ring 0 {GROUP.decode()}"],
    "lane_resume": [
        f"SREM paused {GROUP.decode()}",
        f"ZCARD {LANE}",
        *IN_THE_RING,
        f"LPOS ring {GROUP.decode()}",
        *RINGS,
    ],
    "lane_claim": [
        "LMOVE ring ring LEFT RIGHT",
        f"ZPOPMIN {LANE}",
        "TIME",
        f"HINCRBY {LANE_ROW} attempts 1",
        f"HSET {LANE_ROW} state active",
        f"ZADD active T {THIRD.decode()}",
        f"HGET {LANE_ROW} payload",
        f"HINCRBY gactive {GROUP.decode()} 1",
        f"HGET glimit {GROUP.decode()}",
        f"LREM ring 0 {GROUP.decode()}",
    ],
}


def happy_cases(walker: Walker) -> Iterator[Frame]:
    """Each verb of the leased machine once where it does what it is for, and what lies between."""
    yield take(walker, "enqueue")
    yield take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    yield take(walker, "extend_lock", token="w1", lease_ms=HOUR_MS)
    yield take(walker, "extend_locks", pairs=({"job": GUESS, "token": "w1"},), lease_ms=HOUR_MS)
    yield take(walker, "update_data", payload=b"new")
    yield take(walker, "update_progress", progress="50")
    yield take(walker, "delay", token="w1", delay_ms=0)
    yield take(walker, "promote")
    yield take(walker, "claim_batch", worker="w1", lease_ms=1, size=3)
    take(walker, "wait_until_lapsed")
    yield take(walker, "reap")
    take(walker, "claim", worker="w1", lease_ms=1)
    take(walker, "wait_until_lapsed")
    yield take(walker, "sweep_stalled")
    take(walker, "reprocess")
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    yield take(walker, "retry", token="w1", max_attempts=1)
    yield take(walker, "reprocess")
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    yield take(walker, "complete", token="w1")
    yield take(walker, "schedule", delay_ms=HOUR_MS)
    yield take(walker, "remove_job")
    yield take(walker, "queue_pause")
    yield take(walker, "queue_resume")
    yield take(walker, "lane_enqueue", THIRD, group=GROUP)
    yield take(walker, "lane_limit", group=GROUP, limit=1)
    yield take(walker, "lane_pause", group=GROUP)
    yield take(walker, "lane_resume", group=GROUP)
    yield take(walker, "lane_claim", THIRD, worker="w1", lease_ms=HOUR_MS)


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
