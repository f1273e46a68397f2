"""A process's own connection to the private engine, and its talk with the process that started it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from time import monotonic, sleep
from typing import Any

import msgspec
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as Silent

from visualizer.caller import ReplyLostError
from visualizer.engine.client import unix_client
from visualizer.prove.counts import Report

ANSWER_SECONDS = 10.0
REPORT_SECONDS = 0.2
# What a connection to a server that has ended raises.
GONE = (ReplyLostError, Broken, Silent, OSError)


class Link:
    """One connection to a private server, by its socket. What goes wrong is raised as redis-py raises it.

    ``sent_bytes`` counts what `send` has put on the socket.
    """

    owner_key: bytes | None = None

    def __init__(self, socket_path: str) -> None:
        self._client = unix_client(socket_path, ANSWER_SECONDS)
        self._wire: Any = self._client.connection_pool.get_connection()
        self._last: tuple[Any, ...] = ()
        self._packed: Any = None
        self._packed_bytes = self.sent_bytes = 0

    def send(self, *words: Any) -> Any:
        """Sends one command, once, and answers the reply as it came."""
        # An observer sends the same long command again and again: it is packed once.
        if words != self._last:
            self._last, self._packed = words, self._wire.pack_command(*words)
            self._packed_bytes = sum(map(len, self._packed))
        try:
            self._wire.send_packed_command(self._packed)
            self.sent_bytes += self._packed_bytes
            return self._wire.read_response()
        except ResponseError:
            raise
        except BaseException:
            self._wire.disconnect()
            raise

    def hold(self, names: Iterable[bytes]) -> None:
        """The server is our own: nothing has to be noted."""

    def close(self) -> None:
        self._client.close()


class Boss:
    """The process that started this one: it says ``go`` and then ``stop``; when it dies, this process ends at once."""

    def __init__(self) -> None:
        self._go = threading.Event()
        self._stop = threading.Event()
        threading.Thread(target=self._listen, name="boss", daemon=True).start()

    def _listen(self) -> None:
        # Read without Python's buffer: a thread that waits in it would be in the way when the process ends.
        while said := os.read(0, 64):
            if b"stop" in said:
                self._stop.set()
            self._go.set()
        # The other end is closed: whoever wanted to know what we count is not there any more.
        os._exit(1)

    def wait_for_go(self) -> None:
        self._go.wait()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def tell(self, report: Report) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
        sys.stdout.buffer.flush()

    def work(self, turn: Callable[[], None], report: Callable[[], Report], pause_s: float) -> None:
        """Waits for ``go``, then takes turn after turn until ``stop``, and reports now and then."""
        self.wait_for_go()
        due = monotonic() + REPORT_SECONDS
        stop = self._stop
        while not stop.is_set():
            turn()
            if pause_s:
                sleep(pause_s)
            if monotonic() >= due:
                self.tell(report())
                due = monotonic() + REPORT_SECONDS
