"""The bytes of a call are those that went onto its socket."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.walking import GUESS, claimed, take, walker_on
from tests.engine.serving import needs_server
from visualizer.engine import Engine
from visualizer.model import Frame
from visualizer.script import load


class RecordedSocket:
    """Stands before a socket and keeps what is sent on it, message by message."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.sent: list[bytes] = []

    def sendall(self, data: bytes) -> Any:
        self.sent.append(data)
        return self._socket.sendall(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


def recorded(engine: Engine) -> RecordedSocket:
    """The socket of the connection that calls go over, recorded from now on."""
    engine.send("PING")
    wire: Any = engine._wire
    wire._sock = RecordedSocket(wire._sock)
    found: RecordedSocket = wire._sock
    return found


def packed(*words: bytes) -> bytes:
    """A command as the protocol has it, written here a second time."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


@pytest.mark.parametrize("watch", [False, True])
def test_every_calls_bytes_are_those_on_the_socket(engine: Engine, watch: bool) -> None:
    check_bytes(engine, watch)


@needs_server
def test_also_on_a_server_by_url(url_engine: Engine) -> None:
    check_bytes(url_engine, watch=True)


def check_bytes(engine: Engine, watch: bool) -> None:
    walker = walker_on(engine, watch=watch)
    socket = recorded(engine)
    for frame in (claimed(walker), take(walker, "complete", token="w1")):
        assert [call.sent_bytes for call in frame.calls] == [len(message) for message in messages_of(frame, socket)]


def messages_of(frame: Frame, socket: RecordedSocket) -> list[bytes]:
    """The recorded message of each call of a frame, found by what it must be."""
    found = []
    for call in frame.calls:
        head = (b"EVALSHA", call.sha1.encode(), str(len(call.keys)).encode()) if call.sha1 else (call.command.encode(),)
        message = packed(*head, *call.keys, *call.args)
        assert socket.sent.count(message) >= 1
        found.append(message)
    return found


def test_the_counter_counts_everything_that_is_sent(engine: Engine) -> None:
    socket = recorded(engine)
    before = engine.sent_bytes
    engine.send("SET", b"emq:{cm}:k", b"\x83\x00\xff" * 100_000)
    engine.send("GET", b"emq:{cm}:k")
    assert engine.sent_bytes - before == sum(map(len, socket.sent)) > 300_000


def test_a_script_that_had_to_be_loaded_counts_its_text(engine: Engine) -> None:
    walker = walker_on(engine, watch=True)
    take(walker, "flush_scripts", None)
    first, loading, again = take(walker, "enqueue").calls
    source = load("leased/enqueue").source.encode()
    assert loading.sent_bytes == len(packed(b"SCRIPT", b"LOAD", source))
    sha1 = load("leased/enqueue").sha1.encode()
    assert first.sent_bytes == again.sent_bytes == len(packed(b"EVALSHA", sha1, b"2", *again.keys, GUESS, b"payload"))
