"""The processes of a proof: started all at once, told to go and to stop, ended whatever happens.

Each is a fresh interpreter and no fork: a forked child would keep the pipe open by which the private server's watch
notices our death. Each has a pipe as its standard input, and ends when that closes; if we are killed, the server's
watch ends the server besides.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from time import monotonic

import msgspec

from visualizer.prove.counts import Order, Report
from visualizer.visible import visible

# The child gets our module path, and not the folder it happens to be started in.
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from visualizer.prove.child import main; main(sys.argv[2])"
)
_FINAL_SECONDS = 3.0


class CrewError(Exception):
    """A process of the proof ended by itself; the sentence says how."""


class Crew:
    """Processes with their orders, and the latest report of each."""

    def __init__(self, orders: Sequence[Order]) -> None:
        self.orders = tuple(orders)
        self.reports = [Report() for _ in self.orders]
        self._said: queue.SimpleQueue[tuple[int, Report | None]] = queue.SimpleQueue()
        self._ended: set[int] = set()
        self._members: list[subprocess.Popen[bytes]] = []
        self._readers: list[threading.Thread] = []

    def start(self) -> None:
        """Starts every process; OSError where the system does not let us."""
        path = msgspec.json.encode(sys.path).decode()
        for number, order in enumerate(self.orders):
            member = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT, path, msgspec.json.encode(order).decode()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Ctrl-C in the terminal is for us alone: we tell them.
                start_new_session=True,
            )
            self._members.append(member)
            reader = threading.Thread(target=self._listen, args=(number, member), name="crew", daemon=True)
            reader.start()
            self._readers.append(reader)

    def _listen(self, number: int, member: subprocess.Popen[bytes]) -> None:
        assert member.stdout is not None
        for line in member.stdout:
            self._said.put((number, msgspec.json.decode(line, type=Report)))
        self._said.put((number, None))

    def hear(self, seconds: float) -> None:
        """Takes in what was said, waiting so long for it at most. CrewError when one of them ended too early."""
        until = monotonic() + seconds
        while True:
            with contextlib.suppress(queue.Empty):
                self._take(*self._said.get(timeout=max(until - monotonic(), 0.001)))
            if monotonic() >= until:
                return

    def _take(self, number: int, report: Report | None) -> None:
        if report is not None:
            self.reports[number] = report
            return
        self._ended.add(number)
        if not self.reports[number].final:
            raise CrewError(self._last_words(number))

    def _last_words(self, number: int) -> str:
        member, order = self._members[number], self.orders[number]
        code = member.wait()
        assert member.stderr is not None
        lines = member.stderr.read().splitlines()
        said = f" Its last words: {visible(lines[-1], 200)}" if lines else ""
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return f"A process of the proof ({order.role} {order.number}, {order.column} queue) {how}.{said}"

    @property
    def ready(self) -> bool:
        return all(report.ready for report in self.reports)

    @property
    def gone(self) -> bool:
        """Whether one of them found that the server does not answer any more."""
        return any(report.gone for report in self.reports)

    def tell(self, word: str, to: Callable[[Order], bool] = lambda _: True) -> None:
        """Says a word to those whose orders fit."""
        for member, order in zip(self._members, self.orders, strict=False):
            if to(order) and member.stdin is not None:
                with contextlib.suppress(OSError):  # it has ended, and what it said last is heard
                    member.stdin.write(f"{word}\n".encode())
                    member.stdin.flush()

    def stop(self, which: Callable[[Order], bool] = lambda _: True) -> None:
        """Lets those whose orders fit finish their turn, and takes in their final reports."""
        self.tell("stop", which)
        wanted = {number for number, order in enumerate(self.orders) if which(order)}
        until = monotonic() + _FINAL_SECONDS
        while not all(self.reports[number].final for number in wanted - self._ended) and monotonic() < until:
            self.hear(0.02)

    def close(self) -> None:
        """Ends what still runs, at once."""
        for member in self._members:
            member.kill()
        for member in self._members:
            member.wait()
        for reader in self._readers:
            reader.join()
        for member in self._members:
            for pipe in (member.stdin, member.stdout, member.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what was left to write to a process that has ended
                        pipe.close()
