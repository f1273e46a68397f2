"""From a key press to its painted step at 120×36 on embedded Valkey, against a bare app whose key changes one Static.

The first lesson's paths are stepped through as a learner does, a few times over; paths that wait for the clock are left
out. The very first press, which imports what only a script's colours need, counts like any other and stands beside. The
bar is on our own work as `painting` counts it; what is felt stands beside it. Rounds of lesson and
bare app take turns.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tests.benchmarks.figures import Finding, p95, rounds
from tests.benchmarks.lesson_on_screen import LessonOnScreen, bare_presses, the_lesson
from tests.benchmarks.painting import Painted, Screening

TIMES = 3


def measure(share: float) -> Iterator[Finding]:
    """The 95th percentile of our work a step."""
    ours: list[Painted] = []
    bare: list[Painted] = []
    first: list[float] = []
    for _ in range(rounds(4, share)):
        pressed = _lesson_presses(share)
        first.append(pressed[0].work_ms)
        ours += pressed
        bare += bare_presses(len(pressed))
    work = [painted.work_ms for painted in ours]
    felt = [painted.felt_ms for painted in ours]
    yield Finding(
        "key press to painted step, our own work",
        statistics.median(work),
        16.0,
        statistics.median(painted.work_ms for painted in bare),
        worst=p95(work),
        beside=f"felt {statistics.median(felt):.0f} ms (p95 {p95(felt):.0f}), "
        f"bare {statistics.median(painted.felt_ms for painted in bare):.0f} ms; "
        f"first press {statistics.median(first):.0f} ms of work",
    )


def _lesson_presses(share: float) -> list[Painted]:
    lesson = the_lesson()
    unhurried = [path for path in lesson.paths if not any(step.do.startswith("wait_until") for step in path.steps)]
    chosen = unhurried[: rounds(len(unhurried), share)] * rounds(TIMES, share)
    on_screen = LessonOnScreen(lesson)
    taken: list[Painted] = []

    async def walked(_screening: Screening) -> None:
        await on_screen.opened()
        for path in chosen:
            on_screen.screen.work("opening", lambda name=path.name: on_screen.player.choose(name))  # type: ignore[misc]  # as above
            await on_screen.until(lambda: on_screen.walk is not None)
            for number in range(1, len(path.steps) + 1):
                taken.append(await on_screen.key("n", number))

    on_screen.run(walked)
    return taken
