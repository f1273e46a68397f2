"""A lost answer, a lost connection, a lost server: no call is ever sent twice, and each is told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from tests.engine.serving import Relay, calls_of, everything, needs_server, stand_in, tcp_server
from visualizer.engine import Engine, EngineError, EngineGone, open_engine

pytestmark = needs_server

COUNTER = b"emq:{cm}:metrics:completed"
SCRIPT = "return redis.call('INCR', KEYS[1])"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with tcp_server() as opened:
        yield opened


@pytest.fixture
def admin(port: int) -> Iterator[redis.Redis]:
    with redis.Redis(port=port) as client:
        client.flushall()
        client.config_resetstat()
        yield client


@pytest.fixture
def relay(port: int) -> Relay:
    return Relay(port)


@pytest.fixture
def engine(relay: Relay, admin: redis.Redis) -> Iterator[Engine]:  # noqa: ARG001 - it empties the server
    """An engine whose connections all pass through the relay."""
    with stand_in(relay.serve) as entrance:
        opened = open_engine(f"redis://127.0.0.1:{entrance}", queue="cm")
        yield opened
        relay.lose = None
        opened.close()


def test_redis_py_left_to_itself_sends_a_call_twice(relay: Relay, admin: redis.Redis) -> None:
    """The danger is real, and the relay shows it: otherwise the tests below would prove nothing."""
    with stand_in(relay.serve) as entrance, redis.Redis(port=entrance) as client:
        relay.lose = b"INCR"
        client.incr("counter")
    assert admin.get("counter") == b"2"


def test_a_call_whose_answer_is_lost_has_run_once(engine: Engine, relay: Relay, admin: redis.Redis) -> None:
    sha = engine.client.script_load(SCRIPT)
    engine.hold([COUNTER])
    relay.lose = sha.encode()
    with pytest.raises(redis.exceptions.ConnectionError) as caught:
        engine.client.evalsha(sha, 1, COUNTER)
    assert relay.lost == 1
    assert admin.get(COUNTER) == b"1"
    assert calls_of(admin, "evalsha") == 1
    told = engine.failure(caught.value)
    assert isinstance(told, EngineGone)
    assert told.may_have_run
    assert "The server may have run the call." in str(engine.failure(caught.value))
    assert engine.client.evalsha(sha, 1, COUNTER) == 2, "the next call finds a new connection"


def test_a_pipeline_whose_answer_is_lost_has_run_once(engine: Engine, relay: Relay, admin: redis.Redis) -> None:
    for number, transaction in enumerate((False, True), start=1):
        relay.lose = b"INCR"
        pipeline = engine.client.pipeline(transaction=transaction)
        pipeline.incr(COUNTER)
        with pytest.raises(redis.exceptions.ConnectionError):
            pipeline.execute()
        assert admin.get(COUNTER) == b"%d" % number


def test_a_note_whose_answer_is_lost_stops_the_call(engine: Engine, relay: Relay, admin: redis.Redis) -> None:
    relay.lose = b"SADD"
    with pytest.raises(EngineGone, match="may have run"):
        engine.hold([COUNTER])
    assert calls_of(admin, "sadd") == 1
    engine.hold([COUNTER])
    assert calls_of(admin, "sadd") == 2, "a name that may not be noted is noted again"


@pytest.mark.parametrize("word", [b"DEL", b"WATCH"])
def test_an_answer_lost_while_leaving_is_told(word: bytes, engine: Engine, relay: Relay, admin: redis.Redis) -> None:
    engine.hold([COUNTER])
    engine.client.incr(COUNTER)
    relay.lose = word
    assert "could not be reached" in (engine.close() or "")
    assert bool(admin.exists(COUNTER)) is (word == b"WATCH")


def test_a_slow_answer_is_told_as_one_that_may_have_run(engine: Engine, relay: Relay, admin: redis.Redis) -> None:
    engine.client.connection_pool.disconnect()
    engine.client.connection_pool.reset()
    engine.client.connection_pool.connection_kwargs["socket_timeout"] = 0.05
    relay.hang_up = False
    relay.lose = b"INCR"
    with pytest.raises(redis.exceptions.TimeoutError) as caught:
        engine.client.incr(COUNTER)
    told = engine.failure(caught.value)
    assert isinstance(told, EngineGone)
    assert told.may_have_run
    assert "did not answer in time" in str(told)
    assert "The server may have run the call." in str(told)
    assert calls_of(admin, "incrby") == 1


def test_a_server_that_dies_is_told_and_comes_back_as_a_stranger() -> None:
    with tcp_server() as port:
        engine = open_engine(f"redis://127.0.0.1:{port}", queue="cm")
        engine.hold([COUNTER])
        engine.client.incr(COUNTER)
    with pytest.raises(redis.exceptions.ConnectionError) as caught:
        engine.client.incr(COUNTER)
    told = engine.failure(caught.value)
    assert isinstance(told, EngineGone)
    assert not told.may_have_run
    assert "nothing listens there" in str(told)
    with tcp_server(port=port), redis.Redis(port=port) as admin:
        assert engine.owner_key is not None
        seen = engine.client.get(engine.owner_key)
        assert seen is None
        assert "is gone" in (engine.owner_lost(seen) or "")
        with pytest.raises(EngineError, match="no longer ours"):
            engine.client.incr(COUNTER)
        assert engine.close()
        assert everything(admin) == {}


def test_no_connection_sends_anything_by_itself(port: int, admin: redis.Redis) -> None:
    engine = open_engine(f"redis://127.0.0.1:{port}", queue="cm")
    admin.config_resetstat()
    engine.client.connection_pool.disconnect()
    for _ in range(3):
        engine.client.get(COUNTER)
    ran = {name.removeprefix("cmdstat_") for name in admin.info("commandstats")}
    assert ran - {"config|resetstat", "info"} == {"get"}
    engine.close()
