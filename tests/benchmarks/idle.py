"""What an open lesson costs while nobody presses a key, and what 10,000 steps leave in memory.

The lesson runs as a real process under a pty, one step in; its processor time is read over 20 seconds. Its private
server stands beside it. Memory is that of a process of its own that walks the happy path again and again: what it
holds at the end over what it held after a tenth of the steps.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter

from tests.benchmarks.bare_app import FIRST_WORDS
from tests.benchmarks.figures import Finding
from tests.benchmarks.first_paint import BARE, LESSON, PAINTED
from tests.benchmarks.processes import children, usage
from tests.benchmarks.terminal import TerminalProgram, terminal_program

SECONDS = 20.0
STEPS = 10_000
# Resident memory comes in pages and arenas: flat is less than this more.
FLAT_KIB = 1024.0


def measure(share: float) -> Iterator[Finding]:
    """The share of one processor, and the growth."""
    seconds, steps = max(0.5, SECONDS * share), max(30, round(STEPS * share))
    with terminal_program(*LESSON) as lesson, terminal_program(BARE) as bare:
        lesson.seconds_until(*PAINTED)
        bare.seconds_until(FIRST_WORDS)
        lesson.press("n")
        lesson.seconds_until("1 of ")
        ours, server, theirs = _shares(lesson, bare, seconds)
    yield Finding(
        f"idle for {seconds:g} s, share of a core", ours, 1.0, theirs, unit="%", beside=f"its server {server:.2f} %"
    )
    early, late = _resident_bytes(steps)
    yield Finding(
        f"resident memory after {steps:,} steps, more than after {max(1, steps // 10):,}",
        (late - early) / 1024,
        FLAT_KIB,
        unit="KiB",
        beside=f"{late / 2**20:.1f} MiB in all",
    )


def _shares(lesson: TerminalProgram, bare: TerminalProgram, seconds: float) -> tuple[float, float, float]:
    """Percent of a core of the lesson, of what it started, and of the bare app, over the same time."""
    lesson.settle(1.0)
    bare.settle(0.1)
    watched = ([lesson.process.pid], children(lesson.process.pid), [bare.process.pid])
    before, started = [_cpu_seconds(pids) for pids in watched], perf_counter()
    lesson.settle(seconds / 2)
    bare.settle(seconds / 2)
    after, ended = [_cpu_seconds(pids) for pids in watched], perf_counter()
    ours, server, theirs = ((late - early) / (ended - started) * 100 for early, late in zip(before, after, strict=True))
    return ours, server, theirs


def _cpu_seconds(pids: list[int]) -> float:
    return sum(usage(pid).cpu_seconds for pid in pids)


def _resident_bytes(steps: int) -> tuple[int, int]:
    told = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.many_steps", str(steps)], capture_output=True, text=True, check=True
    )
    early, late = (int(line) for line in told.stdout.split())
    return early, late
