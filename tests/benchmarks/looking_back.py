"""Back and jump in a walk of 1,000 frames, drawing included, and what a frame weighs.

The screen shows the happy path walked round and round. Back is its key; a jump is the first, the last, or a step by
its number. The time is our own work as `painting` counts it. Memory is what Python holds for 1,000 frames more,
readings with the dumps for rewind.
"""

from __future__ import annotations

import gc
import statistics
import tracemalloc
from collections.abc import Iterator, Sequence

from tests.benchmarks.figures import Finding, p95, rounds
from tests.benchmarks.lesson_on_screen import LessonOnScreen, bare_presses, long_lesson
from tests.benchmarks.painting import Painted, Screening
from visualizer.engine import open_engine
from visualizer.player import Player

FRAMES = 1_000


def measure(share: float) -> Iterator[Finding]:
    """Back, jump, and a frame's memory."""
    frames, presses = max(12, round(FRAMES * share)), rounds(20, share)
    back, jumps = _looked_back(frames, presses)
    bare = [painted.work_ms for painted in bare_presses(presses)]
    yield _paint("back", frames, back, bare)
    yield _paint("jump", frames, jumps, bare)
    yield Finding(f"memory a frame, over {frames:,} frames", _bytes_a_frame(frames) / 1024, 8.0, unit="KiB")


def _paint(what: str, frames: int, painted: Sequence[Painted], bare: Sequence[float]) -> Finding:
    work = [each.work_ms for each in painted]
    return Finding(
        f"{what} with {frames:,} frames, our own work",
        statistics.median(work),
        16.0,
        statistics.median(bare),
        worst=p95(work),
        beside=f"felt {statistics.median(each.felt_ms for each in painted):.0f} ms",
    )


def _looked_back(frames: int, presses: int) -> tuple[list[Painted], list[Painted]]:
    on_screen = LessonOnScreen(long_lesson(frames))
    back: list[Painted] = []
    jumps: list[Painted] = []

    async def looked(_screening: Screening) -> None:
        await on_screen.opened()
        player = on_screen.player
        on_screen.screen.work("walking", lambda: player.jump(frames))
        await on_screen.until(lambda: on_screen.walk is not None and len(on_screen.walk.frames) == frames)
        for number in range(1, min(presses, frames) + 1):
            back.append(await on_screen.key("b", frames - number))
        for turn in range(presses):
            step = 1 + turn * (frames - 1) // presses
            jumps.append(await on_screen.key("g", 0))
            jumps.append(await on_screen.key("e", frames))
            jumps.append(
                await on_screen.act(
                    lambda wanted=step: on_screen.screen.work("going", lambda: player.jump(wanted)),  # type: ignore[misc]  # mypy does not infer a lambda's default
                    lambda wanted=step: on_screen.walk is not None and on_screen.walk.cursor == wanted,  # type: ignore[misc]  # as above
                )
            )

    on_screen.run(looked)
    return back, jumps


def _bytes_a_frame(frames: int) -> float:
    engine = open_engine("valkey", queue="bench")
    try:
        player = Player(long_lesson(frames + 10), engine)
        player.jump(10)
        gc.collect()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        player.jump(frames + 10)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        return (after - before) / frames
    finally:
        tracemalloc.stop()
        engine.close()
