"""From the command to the first painted lesson with its engine running, against a bare Textual app's first paint.

Both are real processes under a pty, started in turn, timed from just before the start until the words that tell it
have come out of the terminal: the lesson's title, a place, REAL, and what stands there only once the engine was read.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.bare_app import FIRST_WORDS
from tests.benchmarks.figures import Finding, rounds
from tests.benchmarks.terminal import terminal_program

LESSON = ("-m", "visualizer", "states-as-locations", "--engine", "valkey")
PAINTED = ("States as locations", "pending", "REAL", "Nothing has run yet.")
BARE = str(Path(__file__).with_name("bare_app.py"))


def measure(share: float) -> Iterator[Finding]:
    """The median of each, after one start of each that is not counted."""
    ours: list[float] = []
    bare: list[float] = []
    for turn in range(rounds(10, share) + 1):
        lesson_ms, bare_ms = _painted_ms(LESSON, PAINTED), _painted_ms((BARE,), (FIRST_WORDS,))
        if turn:
            ours.append(lesson_ms)
            bare.append(bare_ms)
    yield Finding(
        "the first painted lesson, engine running",
        statistics.median(ours),
        1.8,
        statistics.median(bare),
        by_ratio=True,
        beside=f"fastest {min(ours):.0f} ms, bare {min(bare):.0f} ms; aim 1.3 ×",
    )


def _painted_ms(arguments: tuple[str, ...], words: tuple[str, ...]) -> float:
    with terminal_program(*arguments) as program:
        return program.seconds_until(*words) * 1000
