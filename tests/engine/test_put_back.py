"""Keys put back as they were: on engines of our own, and on a server that is not ours only while the queue is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import redis

from tests.engine.serving import calls_of, everything, needs_server
from tests.engine.their_server import BASE, FOREIGN, KEYS, OWNER, Opener, put
from visualizer.engine import Engine, EngineError, QueueLostError

PENDING, ROW, LANE = BASE + b"pending", BASE + b"job:1", BASE + b"g:1:pending"

Dumps = dict[bytes, tuple[bytes, int]]


def dumped(client: Any, *keys: bytes) -> Dumps:
    """The keys as a reading dumps them."""
    found: Dumps = {}
    for key in keys:
        held = client.dump(key)
        assert isinstance(held, bytes)
        found[key] = held, max(int(client.pexpiretime(key)), 0)
    return found


def existing(client: redis.Redis, keys: Iterable[bytes]) -> set[bytes]:
    return {key for key in keys if client.exists(key)}


def test_on_an_engine_of_our_own(engine: Engine) -> None:
    client: Any = engine.client
    seconds, _ = client.time()
    ends_at_ms = (int(seconds) + 1_000) * 1_000
    client.zadd(PENDING, {b"\x83\xff": 0})
    client.set(ROW, b"x", pxat=ends_at_ms)
    dumps = dumped(client, PENDING, ROW)
    client.zadd(PENDING, {b"later": 0})
    client.delete(ROW)
    client.set(LANE, b"came since")
    engine.put_back(dumps, [LANE, BASE + b"never there"])
    assert client.zrange(PENDING, 0, -1) == [b"\x83\xff"]
    assert client.pexpiretime(ROW) // 1_000 == ends_at_ms // 1_000
    assert existing(client, (PENDING, ROW, LANE)) == {PENDING, ROW}
    for _ in ("into nothing", "over what is there"):
        engine.put_back({ROW: (dumps[PENDING][0], 0)}, ())
        assert client.zrange(ROW, 0, -1) == [b"\x83\xff"]
        assert client.pexpiretime(ROW) == -1
        client.delete(ROW)
        client.set(ROW, b"other", px=600_000)
    engine.put_back({ROW: (dumps[ROW][0], ends_at_ms - 2_000_000)}, ())
    assert not client.exists(ROW), "its time had come"
    engine.put_back({}, ())
    engine.client.delete(PENDING)


def test_a_dump_that_is_none_is_told(valkey: Engine) -> None:
    with pytest.raises(EngineError, match="answered with an error"):
        valkey.put_back({PENDING: (b"no dump", 0)}, ())


# On a server that is not ours -----------------------------------------------------------------------------------------


@needs_server
def test_a_queue_that_is_ours_is_put_back_in_one_transaction(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    put(engine, b"pending", b"job:1", b"g:1:pending")
    dumps = dumped(admin, PENDING, ROW)
    admin.delete(ROW)
    admin.set(PENDING, b"other")
    admin.pexpire(OWNER, 20_000)
    admin.config_resetstat()
    engine.put_back(dumps, [LANE])
    assert calls_of(admin, "exec") == 1
    assert calls_of(admin, "watch") == 1
    assert (admin.get(PENDING), admin.get(ROW)) == (b"1", b"1")
    assert set(everything(admin)) == {*FOREIGN, OWNER, KEYS, PENDING, ROW}
    assert admin.pttl(OWNER) > 50_000, "the hold on the queue is renewed by the way"


@needs_server
def test_what_we_never_noted_is_neither_deleted_nor_overwritten(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    put(engine, b"pending")
    for key in (ROW, LANE):
        admin.set(key, b"theirs")
    before = everything(admin)
    engine.put_back({ROW: dumped(admin, PENDING)[PENDING]}, [LANE, *FOREIGN])
    assert everything(admin) == before
    engine.close()
    assert set(everything(admin)) == {*FOREIGN, ROW, LANE}


@needs_server
@pytest.mark.parametrize("taker", [b"another", None])
def test_a_queue_that_is_not_ours_any_more_is_left_alone(
    taker: bytes | None, opened: Opener, admin: redis.Redis
) -> None:
    engine = opened()
    put(engine, b"pending", b"job:1")
    dumps = dumped(admin, PENDING)
    admin.set(PENDING, b"theirs")
    if taker:
        admin.set(OWNER, taker, px=60_000)
    else:
        admin.delete(OWNER)
    before = everything(admin)
    with pytest.raises(QueueLostError, match="no longer ours"):
        engine.put_back(dumps, [ROW])
    assert everything(admin) == before


@needs_server
def test_a_command_that_fails_inside_the_transaction_is_told(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    put(engine, b"pending")
    with pytest.raises(EngineError, match="answered with an error"):
        engine.put_back({PENDING: (b"no dump", 0)}, ())
    assert admin.get(PENDING) == b"1"
