"""Looking into a claim: entering against the bare start of a server, one step against the debugger's bare round trip.

Entering starts a private server, lays the queue's keys out there and stops before the script's first line. A step runs
one line and reads its variables and the queue from both sides; the last one runs the script once more, whole.
"""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Iterator
from time import perf_counter

from tests.benchmarks.bench_queue import bench_queue
from tests.benchmarks.figures import Finding, interleaved, p95, rounds
from tests.xray.looking import CLAIM, ENQUEUE, player_on, taken
from visualizer.called import Source
from visualizer.debugger import Session
from visualizer.engine import EmbeddedServer
from visualizer.look_inside import source_of
from visualizer.xray import Xray


def measure(share: float) -> Iterator[Finding]:
    """Entering, and every step of claims that are looked through."""
    with bench_queue() as queue:
        player = player_on(queue.engine, ENQUEUE, CLAIM)
        source = source_of(player, taken(player))
        yield _entering(source, rounds(30, share))
        mine: list[float] = []
        bare: list[float] = []
        with contextlib.closing(EmbeddedServer.spawn()) as server:
            server.wait()
            for _ in range(rounds(30, share)):
                _one_look(source, server, mine, bare)
        yield Finding("one step of an x-ray", statistics.median(mine), 16, statistics.median(bare), p95(mine))


def _entering(source: Source, count: int) -> Finding:
    opened: list[Xray | EmbeddedServer] = []

    def enter() -> None:
        opened.append(Xray(source))

    def start() -> None:
        server = EmbeddedServer.spawn()
        opened.append(server)
        server.wait()  # until it has answered a PING

    def end() -> None:
        while opened:
            opened.pop().close()

    mine, bare, _ = map(statistics.median, interleaved(count, enter, start, end))
    return Finding("entering an x-ray", mine, 100, bare)


def _one_look(source: Source, server: EmbeddedServer, mine: list[float], bare: list[float]) -> None:
    """Looks a claim through, and steps through the same script in a bare session, in turn."""
    with contextlib.closing(Xray(source)) as xray:
        called = xray.called
        # Its queue is empty there, so it ends a few lines earlier.
        with contextlib.closing(Session(server.socket_path, called.script.source, called.keys, called.args)) as session:
            while not xray.ended:
                started = perf_counter()
                xray.step()
                mine.append((perf_counter() - started) * 1000)
                if not session.over:
                    started = perf_counter()
                    session.step()
                    bare.append((perf_counter() - started) * 1000)
