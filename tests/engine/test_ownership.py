"""A queue on a server that is not ours: who may have it, what is written, and what is deleted (nothing else)."""

from __future__ import annotations

import pytest
import redis

from tests.engine.serving import calls_of, everything, needs_server
from tests.engine.their_server import BASE, FOREIGN, KEYS, OWNER, Opener, abandon, put
from visualizer.engine import EngineError, ownership

pytestmark = needs_server


# A free queue ---------------------------------------------------------------------------------------------------------


def test_what_a_url_engine_says_of_itself(opened: Opener, their_url: str) -> None:
    engine = opened()
    assert (engine.kind, engine.real, engine.own, engine.badge) == ("url", True, False, "REAL")
    assert engine.label.startswith("Valkey 9.")
    assert engine.shown_url == their_url
    for feature in ("restart", "flush_scripts", "scan", "debug", "watch"):
        assert "--engine valkey" in (engine.may(feature) or "")
    with pytest.raises(EngineError, match="named by its URL"):
        engine.restart()


def test_open_writes_the_owner_key_and_close_leaves_nothing(opened: Opener, admin: redis.Redis) -> None:
    before = everything(admin)
    engine = opened()
    assert admin.get(OWNER) == engine.owner_token
    assert engine.owner_key == OWNER
    assert 50_000 < admin.pttl(OWNER) <= 60_000
    assert set(everything(admin)) == {*before, OWNER}
    put(engine, b"pending", b"job:1")
    assert admin.smembers(KEYS) == {BASE + b"pending", BASE + b"job:1"}
    assert admin.ttl(KEYS) == -1
    assert engine.close() is None
    assert everything(admin) == before


def test_two_engines_have_different_tokens(opened: Opener) -> None:
    first, second = opened(queue="cm"), opened(queue="cn2")
    assert first.owner_token != second.owner_token
    assert len(first.owner_token or b"") == 32


def test_a_name_is_noted_before_the_call_and_costs_a_round_trip_only_once(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    names = [BASE + b"pending", BASE + b"active"]
    for _ in range(5):
        engine.hold(names)
    engine.hold(names[:1])
    assert calls_of(admin, "sadd") == 1
    engine.hold([*names, BASE + b"dead"])
    assert calls_of(admin, "sadd") == 2
    assert admin.smembers(KEYS) == {*names, BASE + b"dead"}


def test_a_name_outside_the_queue_is_refused(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    with pytest.raises(ValueError, match="outside the queue"):
        engine.hold([BASE + b"pending", b"other"])
    assert not admin.exists(KEYS)


def test_clear_queue_deletes_only_what_was_noted(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    put(engine, *(b"job:%d" % number for number in range(1200)))
    admin.set(BASE + b"somebody", b"1")
    engine.clear_queue()
    assert set(everything(admin)) == {*FOREIGN, BASE + b"somebody", OWNER, KEYS}
    put(engine, b"job:1")
    engine.close()
    assert set(everything(admin)) == {*FOREIGN, BASE + b"somebody"}


def test_a_throwaway_engine_is_our_own(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    before = everything(admin)
    other = engine.throwaway()
    other.client.set(BASE + b"pending", b"1")
    assert (other.kind, other.own) == ("valkey", True)
    assert everything(admin) == before
    other.close()


def test_nothing_forbidden_is_ever_sent(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    put(engine, b"pending")
    engine.clear_queue()
    engine.close()
    ran = {name.removeprefix("cmdstat_") for name in admin.info("commandstats")}
    assert not ran & {"flushall", "flushdb", "keys", "config|set", "script|flush", "monitor", "client|setinfo", "debug"}


# A queue that is not free ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("take_over", [False, True])
def test_somebodys_jobs_are_named_and_nothing_is_written(take_over: bool, opened: Opener, admin: redis.Redis) -> None:
    admin.zadd(BASE + b"pending", {b"JOB0KHTOWnGLuC": 0})
    admin.hset(BASE + b"job:JOB0KHTOWnGLuC", mapping={b"payload": b"\x83\xff"})
    admin.set(BASE + b"\x1b[2J", b"1", px=600_000)
    before = everything(admin)
    with pytest.raises(EngineError) as caught:
        opened(take_over=take_over)
    sentence = str(caught.value)
    assert "emq:{cm}:pending" in sentence
    assert "emq:{cm}:job:JOB0KHTOWnGLuC" in sentence
    assert r"emq:{cm}:\x1b[2J" in sentence
    assert "\x1b" not in sentence
    assert "--queue NAME" in sentence
    assert everything(admin) == before
    opened(queue="cm2")


def test_many_keys_are_counted_and_five_are_named(opened: Opener, admin: redis.Redis) -> None:
    for number in range(1005):
        admin.set(BASE + b"job:%04d" % number, b"1")
    with pytest.raises(EngineError) as caught:
        opened()
    assert str(caught.value).count("emq:{cm}:job:") == 5
    assert "and 1,000 more" in str(caught.value)


@pytest.mark.parametrize("take_over", [False, True])
def test_a_second_visualizer_is_refused_and_neither_deletes_the_others_keys(
    take_over: bool, opened: Opener, admin: redis.Redis
) -> None:
    first = opened()
    put(first, b"pending", b"job:1")
    before = everything(admin)
    with pytest.raises(EngineError, match=r"Another visualizer has the queue cm .*--queue NAME.* in \d+ s at most"):
        opened(take_over=take_over)
    assert everything(admin) == before
    second = opened(queue="cm2")
    second.close()
    assert everything(admin) == before
    first.check()
    first.close()
    assert set(everything(admin)) == set(FOREIGN)


def test_the_later_of_two_at_once_is_refused(
    opened: Opener, admin: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = ownership.Ownership.look

    def look_then_lose(self: ownership.Ownership, take_over: bool) -> list[bytes]:
        found = look(self, take_over)
        admin.set(OWNER, b"another", px=60_000)
        return found

    monkeypatch.setattr(ownership.Ownership, "look", look_then_lose)
    admin.delete(OWNER)
    with pytest.raises(EngineError, match="Another visualizer"):
        opened()
    assert admin.get(OWNER) == b"another"


def test_too_many_keys_to_look_through_is_refused(
    opened: Opener, admin: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "LOOK_SECONDS", -1.0)
    before = everything(admin)
    with pytest.raises(EngineError, match="more keys than can be looked through"):
        opened()
    assert everything(admin) == before


# Taking over ----------------------------------------------------------------------------------------------------------


def test_what_a_killed_visualizer_left_is_deleted_only_when_asked(opened: Opener, admin: redis.Redis) -> None:
    killed = opened()
    put(killed, b"pending", b"job:1", *(b"row:%d" % number for number in range(1100)))
    abandon(killed, admin)
    before = everything(admin)
    with pytest.raises(EngineError, match=r"left behind.*--take-over"):
        opened()
    assert everything(admin) == before
    engine = opened(take_over=True)
    assert set(everything(admin)) == {*FOREIGN, OWNER}
    assert admin.get(OWNER) == engine.owner_token


@pytest.mark.parametrize("where", ["before", "between"])
def test_take_over_spares_a_queue_with_one_key_of_somebody_else(
    where: str, opened: Opener, admin: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = opened()
    put(killed, b"pending", b"job:1")
    abandon(killed, admin)
    look = ownership.Ownership.look

    def look_then_meet(self: ownership.Ownership, take_over: bool) -> list[bytes]:
        found = look(self, take_over)
        admin.set(BASE + b"theirs", b"1")
        return found

    if where == "before":
        admin.set(BASE + b"theirs", b"1")
    else:
        monkeypatch.setattr(ownership.Ownership, "look", look_then_meet)
    with pytest.raises(EngineError, match=r"no visualizer wrote: emq:\{cm\}:theirs\. .*--queue NAME"):
        opened(take_over=True)
    assert set(everything(admin)) == {*FOREIGN, BASE + b"theirs", BASE + b"pending", BASE + b"job:1", KEYS}


def test_names_outside_the_queue_in_the_keys_set_are_never_deleted(opened: Opener, admin: redis.Redis) -> None:
    admin.sadd(KEYS, b"other", b"emq:{cn}:pending", BASE + b"pending")
    admin.set(BASE + b"pending", b"1")
    opened(take_over=True).close()
    assert set(everything(admin)) == set(FOREIGN)


@pytest.mark.parametrize("key", [OWNER, KEYS])
def test_a_key_of_ours_with_another_type_is_somebody_elses(key: bytes, opened: Opener, admin: redis.Redis) -> None:
    admin.hset(key, mapping={b"a": b"1"})
    before = everything(admin)
    with pytest.raises(EngineError, match="no visualizer wrote"):
        opened(take_over=True)
    assert everything(admin) == before
