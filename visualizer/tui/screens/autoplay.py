"""Autoplay on the lesson screen: a step every so many seconds, until the path ends or something fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from visualizer.tui.screens.lesson import LessonScreen

    Step = Callable[[LessonScreen], None]

# In seconds a step.
_SLOWEST, _FASTEST = 32.0, 0.25


def toggle(screen: LessonScreen, step: Step) -> None:
    """Ends autoplay where it runs; else begins it, with a step at once."""
    if screen.autoplay is not None:
        stop(screen)
    else:
        _start(screen, step)
        step(screen)
    _redraw(screen)


def pace(screen: LessonScreen, factor: float, step: Step) -> None:
    """Makes the time between two steps that many times as long; the first is counted from now."""
    screen.seconds_a_step = min(max(screen.seconds_a_step * factor, _FASTEST), _SLOWEST)
    _start(screen, step)
    _redraw(screen)


def stop(screen: LessonScreen) -> None:
    """Ends autoplay, if it runs."""
    if screen.autoplay is not None:
        screen.autoplay.stop()
        screen.autoplay = None
        _redraw(screen)


def _start(screen: LessonScreen, step: Step) -> None:
    stop(screen)

    def next_step() -> None:
        scene = screen.scene
        if scene is None or scene.running:
            return
        if scene.trouble or (scene.walk and scene.walk.at_end and scene.next_step is None):
            stop(screen)
            _redraw(screen)
            return
        step(screen)

    screen.autoplay = screen.set_interval(screen.seconds_a_step, next_step)


def _redraw(screen: LessonScreen) -> None:
    if screen.scene is not None:
        told = f"autoplay, {screen.seconds_a_step:g} s a step" if screen.autoplay is not None else ""
        screen.scene = replace(screen.scene, autoplay=told)
