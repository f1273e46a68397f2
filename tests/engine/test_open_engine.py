"""What `open_engine` hands out, and what an engine of our own can do."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest
import redis

from tests.engine.serving import eventually, needs_server, running
from visualizer import engine as engines
from visualizer.engine import EmbeddedServer, Engine, EngineError, EngineGone, open_engine
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.keyspace import QueueNameError

QUEUE = "cm"
BASE = b"emq:{cm}:"


@pytest.fixture
def alone() -> Iterator[EmbeddedEngine]:
    """A private Valkey of this test's own, for what the shared one would not survive."""
    opened = open_engine("valkey", queue=QUEUE)
    assert isinstance(opened, EmbeddedEngine)
    yield opened
    opened.close()


# Which engine ---------------------------------------------------------------------------------------------------------


@needs_server
def test_auto_is_the_private_valkey_where_its_wheel_exists() -> None:
    engine = open_engine("auto", queue=QUEUE)
    assert (engine.kind, engine.real, engine.own, engine.badge, engine.shown_url) == ("valkey", True, True, "REAL", "")
    assert engine.label.startswith("Valkey 9.")
    engine.close()


def test_auto_is_fakeredis_where_there_is_no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "server_binary", lambda: None)
    engine = open_engine("auto", queue=QUEUE)
    assert (engine.kind, engine.real, engine.own, engine.badge) == ("fakeredis", False, True, "EMULATED")
    assert engine.label.startswith("fakeredis 2.")
    engine.close()


@needs_server
def test_a_server_spawned_earlier_is_used() -> None:
    spawned = EmbeddedServer.spawn()
    engine = open_engine("auto", queue=QUEUE, spawned=spawned)
    assert isinstance(engine, EmbeddedEngine)
    assert engine.server is spawned
    engine.close()
    assert not running(spawned.pid)


@needs_server
@pytest.mark.parametrize("spec", ["fakeredis", "redis://127.0.0.1:1", "nonsense"])
def test_a_server_spawned_for_nothing_is_closed(spec: str) -> None:
    spawned = EmbeddedServer.spawn()
    try:
        open_engine(spec, queue=QUEUE, spawned=spawned).close()
    except EngineError:
        assert spec != "fakeredis"
    assert not running(spawned.pid)
    assert not os.path.exists(spawned.folder)


@needs_server
@pytest.mark.parametrize("spec", ["auto", "valkey", "fakeredis", "redis://127.0.0.1:1"])
@pytest.mark.parametrize("queue", ["", "a}b", "a{b"])
def test_a_queue_name_that_would_change_the_slot_is_refused_everywhere(spec: str, queue: str) -> None:
    spawned = EmbeddedServer.spawn()
    with pytest.raises(QueueNameError):
        open_engine(spec, queue=queue, spawned=spawned)
    assert not running(spawned.pid)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "redis",
        "Valkey",
        "redsi://user:s3cret@host",
        "user:s3cret@host",
        "s3cret@host:1",
        "http://s3cret@host",
        "\x1b[2J",
    ],
)
def test_an_unknown_engine_lists_the_choices_and_repeats_no_password(spec: str) -> None:
    with pytest.raises(EngineError) as caught:
        open_engine(spec, queue=QUEUE)
    sentence = str(caught.value)
    assert "auto, valkey, fakeredis" in sentence
    assert "redis://" in sentence
    assert "s3cret" not in sentence
    assert "\x1b" not in sentence


@pytest.mark.parametrize(
    "spec",
    ["", "redis", "Valkey", "http://host", "redis://h:99999", "redis://h/notadb", "redis://h?retry=1", "unix://"],
)
def test_an_engine_is_refused_before_anything_is_opened_in_the_same_words(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError) as opening:
        open_engine(spec, queue=QUEUE)
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("a connection was tried"))
    with pytest.raises(EngineError) as checking:
        engines.check_spec(spec)
    assert str(checking.value) == str(opening.value)


@pytest.mark.parametrize("spec", ["auto", "valkey", "fakeredis", "redis://nowhere.invalid", "UNIX:///none"])
def test_an_engine_that_may_exist_passes(spec: str) -> None:
    engines.check_spec(spec)
    assert engines.is_url(spec) == ("://" in spec)


# What each can do -----------------------------------------------------------------------------------------------------


def test_what_an_engine_of_our_own_allows(valkey: Engine, fake: Engine) -> None:
    assert [valkey.may(feature) for feature in ("flush_scripts", "restart", "scan", "debug", "watch")] == [None] * 5
    assert fake.may("flush_scripts") is fake.may("scan") is fake.may("watch") is None
    for feature in ("restart", "debug"):
        assert "--engine valkey" in (fake.may(feature) or "")
    with pytest.raises(EngineError, match="cannot be restarted"):
        fake.restart()


def test_members_are_bytes_and_scores_are_the_text_that_was_sent(engine: Engine) -> None:
    engine.client.zadd(BASE + b"active", {b"\x83\xff": 1700000000000.0})
    assert engine.client.zrange(BASE + b"active", 0, -1) == [b"\x83\xff"]
    assert engine.client.eval(f"return redis.call('ZSCORE', '{BASE.decode()}active', ARGV[1])", 0, b"\x83\xff") in (
        b"1700000000000",
    )


@pytest.mark.parametrize("queue", ["cm", "a*b", "a?b", "a[b]c", "a\\b", "ünï code", "x:y"])
@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_clear_queue_deletes_the_queues_keys_and_no_others(queue: str, spec: str, valkey_session: Engine) -> None:
    engine: Engine
    if spec == "valkey":
        assert isinstance(valkey_session, EmbeddedEngine)
        engine = EmbeddedEngine(valkey_session.server, queue, f"emq:{{{queue}}}:".encode())
    else:
        engine = open_engine("fakeredis", queue=queue)
    others = [b"emq:{other}:pending", b"emq:{aXb}:pending", b"emq:{ab}:x", b"emq:{cm", b"emq:{cm}", b"x" + engine.base]
    for key in (*others, engine.base, engine.base + b"pending", *(engine.base + b"job:%d" % n for n in range(1200))):
        engine.client.set(key, b"1")
    engine.clear_queue()
    assert sorted(engine.client.keys("*")) == sorted(set(others))
    engine.client.delete(*others)


def test_a_throwaway_engine_shares_nothing(engine: Engine) -> None:
    engine.client.set(BASE + b"a", b"1")
    other = engine.throwaway()
    assert (other.kind, other.queue, other.base) == (engine.kind, engine.queue, engine.base)
    assert other.client.dbsize() == 0
    other.client.set(BASE + b"b", b"1")
    assert not engine.client.exists(BASE + b"b")
    other.close()
    assert engine.client.get(BASE + b"a") == b"1"


def test_on_our_own_engine_nobody_owns_the_queue(engine: Engine) -> None:
    engine.hold([BASE + b"pending"])
    assert engine.owner_key is engine.owner_token is None
    assert engine.owner_lost(None) is None
    assert engine.owner_lost(b"anything") is None
    assert engine.client.dbsize() == 0


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_after_close_everything_is_refused(spec: str) -> None:
    engine = open_engine(spec, queue=QUEUE)
    assert engine.close() is None
    assert engine.close() is None
    for attempt in (engine.check, lambda: engine.hold([]), engine.clear_queue, lambda: engine.send("PING")):
        with pytest.raises(EngineGone, match="is closed") as caught:
            attempt()
        assert engine.failure(caught.value) is caught.value


# When the server goes away --------------------------------------------------------------------------------------------


def refused(path: str) -> bool:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
        return probe.connect_ex(path) != 0


@needs_server
def test_restart_comes_back_empty_on_the_same_client(alone: EmbeddedEngine) -> None:
    alone.client.set(BASE + b"a", b"1")
    sha = alone.client.script_load("return 7")
    before = alone.server.pid
    alone.restart()
    assert alone.server.pid != before
    assert alone.client.dbsize() == 0
    with pytest.raises(redis.exceptions.NoScriptError):
        alone.client.evalsha(sha, 0)


@needs_server
def test_a_server_that_cannot_be_started_again_is_told(alone: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", refused)
        with pytest.raises(EngineError, match="could not be started: no more processes"):
            alone.restart()
    assert not os.path.exists(alone.server.folder)
    with pytest.raises(EngineError, match="is closed"):
        alone.restart()


@needs_server
def test_a_server_that_died_is_told_and_can_be_started_again(alone: EmbeddedEngine) -> None:
    alone.client.ping()
    os.kill(alone.server.pid, signal.SIGKILL)
    eventually(lambda: refused(alone.server.socket_path), "the killed server takes no connection")
    with pytest.raises(redis.exceptions.ConnectionError) as caught:
        alone.client.ping()
    told = alone.failure(caught.value)
    assert isinstance(told, EngineGone)
    assert "The private Valkey is gone." in str(alone.failure(caught.value))
    assert "gone; the step was not sent." in str(alone.failure(caught.value, reading=True))
    alone.restart()
    assert alone.client.ping()


@needs_server
def test_after_a_failed_start_of_a_spawned_server_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedServer, "_options", lambda _: ["--maxmemory", "plenty"])
    spawned = EmbeddedServer.spawn()
    with pytest.raises(EngineError, match="memory value"):
        open_engine("valkey", queue=QUEUE, spawned=spawned)
    assert not os.path.exists(spawned.folder)
