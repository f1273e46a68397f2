"""Walks a path again and again in this process, and prints its resident memory, in bytes, after a tenth and at the end.

``python -m tests.benchmarks.many_steps STEPS``
"""

from __future__ import annotations

import os
import sys

from tests.benchmarks.lesson_on_screen import the_lesson
from tests.benchmarks.processes import usage
from visualizer.engine import open_engine
from visualizer.player import Player


def main(steps: int) -> None:
    """Restarts the happy path until so many steps have run."""
    engine = open_engine("valkey", queue="bench")
    try:
        player = Player(the_lesson(), engine)
        marks = {max(1, steps // 10), steps}
        for number in range(1, steps + 1):
            if player.coming is None:
                player.restart()
            player.step()
            if number in marks:
                print(usage(os.getpid()).resident_bytes, flush=True)
    finally:
        engine.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
