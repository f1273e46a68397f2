"""A debugger's server that goes away, says nothing, or says what cannot be: told as one error, and never waited for."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.engine.serving import eventually, needs_server, running
from tests.xray.looking import LOCAL, session
from visualizer.debugger import DebuggerError, Session
from visualizer.engine import EmbeddedServer

pytestmark = needs_server


@pytest.fixture
def dying() -> Iterator[EmbeddedServer]:
    """A server that the test may kill."""
    server = EmbeddedServer.spawn()
    server.wait()
    yield server
    server.close()


@pytest.mark.parametrize("doing", ["step", "locals", "look"])
def test_a_server_that_dies_in_the_middle_is_told(dying: EmbeddedServer, doing: str) -> None:
    with session(dying.socket_path, LOCAL) as made:
        os.killpg(dying.pid, signal.SIGKILL)
        eventually(lambda: not running(dying.pid), "the server has died")
        with pytest.raises(DebuggerError, match="the private server is gone"):
            made.look("GET", "k") if doing == "look" else getattr(made, doing)()
        assert made.over


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DebuggerError, match="the private server is gone"):
        Session(str(tmp_path / "s"), LOCAL, [], [])


@contextlib.contextmanager
def answering(answer: bytes | None, *, then_leaves: bool = False) -> Iterator[str]:
    """The socket of a server that answers a session's start with these bytes, or with nothing at all."""
    done = threading.Event()
    if then_leaves:
        done.set()
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = str(Path(folder, "s"))
        listener.bind(path)
        listener.listen()

        def serve() -> None:
            wire, _ = listener.accept()
            with wire:
                wire.recv(65_536)
                if answer is not None:
                    wire.sendall(answer)
                done.wait(20)

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield path
        finally:
            done.set()
            serving.join()


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning", "error::ResourceWarning")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"-NOPERM no debugging\r\n", "the debugger answered "),
        (b":1\r\n", "the debugger answered 1"),
        (b"*1\r\n+* Stopped\r\n", "which names no line"),
        (b"*0\r\n", "which names no line"),
        (b"!!\r\n", "the debugger answered "),
    ],
)
def test_an_answer_that_cannot_be_is_told(answer: bytes, said: str) -> None:
    with answering(answer) as path, pytest.raises(DebuggerError) as told:
        Session(path, LOCAL, [], [])
    assert said in str(told.value)


def test_a_server_that_says_nothing_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("visualizer.debugger.ANSWER_SECONDS", 0.05)
    started = time.monotonic()
    with answering(None) as path, pytest.raises(DebuggerError, match=r"^the private server gave no answer$"):
        Session(path, LOCAL, [], [])
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("cut", [b"", b"+O", b"+OK\r\n", b"+OK\r\n*2\r\n$3\r\nabc\r\n$9\r\nab"])
def test_a_reply_that_did_not_arrive_whole_is_no_reply(cut: bytes) -> None:
    ending = b"*1\r\n+<endsession>\r\n"
    with answering(ending + cut, then_leaves=True) as path:
        at = Session(path, LOCAL, [], []).at
    assert (at.ended, at.cut, at.reply) == (True, True, None)
    with answering(ending + b"+OK\r\n$-1\r\n", then_leaves=True) as path:
        at = Session(path, LOCAL, [], []).at
    assert (at.ended, at.cut, at.reply) == (True, False, None)
