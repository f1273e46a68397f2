"""Drives the real app in tests: opens it on a lesson, presses keys, and waits for what is to come, never for a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache

from textual.pilot import Pilot

from visualizer.lesson import Lesson, find, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.tui.app import VisualizerApp
from visualizer.tui.screens.lesson import LessonScreen

WIDE, MEDIUM, SMALL = (120, 36), (80, 24), (40, 15)
# How often a condition is looked at, and for how long, before it counts as never coming: far longer than a step takes.
_LOOK_SECONDS, _LOOKS = 0.002, 20_000


@cache
def the_lesson(pace: float = 0.05) -> Lesson:
    return load(find("states-as-locations"), MACHINES, NAMED_STEPS, pace)


@asynccontextmanager
async def lesson_open(
    path: str = "happy",
    size: tuple[int, int] = WIDE,
    *,
    engine: str = "fakeredis",
    lesson: Lesson | None = None,
    theme: str = "echomq-dark",
) -> AsyncIterator[tuple[LessonScreen, Pilot[int]]]:
    """The lesson screen with its engine open, and the pilot."""
    opened = lesson or the_lesson()
    app = VisualizerApp(lambda: (opened,), opened, path=path, engine_spec=engine, theme=theme)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, LessonScreen) and _ready(app.screen))
        screen = app.screen
        assert isinstance(screen, LessonScreen)
        yield screen, pilot


def _ready(screen: LessonScreen) -> bool:
    scene = screen.scene
    return scene is not None and not scene.running and (scene.walk is not None or bool(scene.trouble))


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    """Lets the app work until the condition holds."""
    # Not by `pilot.pause`: that asks every widget for a sign and paints, which takes longer than most of what is
    # waited for.
    for _ in range(_LOOKS):
        if holds():
            return
        if pilot.app._exception is not None:
            break
        await asyncio.sleep(_LOOK_SECONDS)
    raise AssertionError("what the test waited for did not come")


async def press(screen: LessonScreen, pilot: Pilot[int], *keys: str) -> None:
    """Presses keys one after the other, each when the step before has been painted."""
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: _ready(screen))
    await pilot.pause()


def text_of(pilot: Pilot[int]) -> str:
    """What is on the screen, line by line."""
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)
