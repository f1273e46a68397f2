"""A few pictures of the screen, on a real Valkey with its times put right so that they are the same every run.

The first one is the README's. `pytest --snapshot-update` makes them anew; look at them before they are committed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from tests.tui.driving import the_lesson, until
from visualizer.lesson import find, load
from visualizer.machine import MACHINES
from visualizer.model import Frame, Member, Observation, PlaceReading, Walk
from visualizer.perform import NAMED_STEPS
from visualizer.tui.app import VisualizerApp
from visualizer.tui.screens.lesson import LessonScreen
from visualizer.tui.screens.xray import XrayScreen

# 2026-01-27 15:11:37.641, the moment at which the lesson's first id was minted.
_START_MS = 1_769_526_697_641


def at_fixed_times(walk: Walk) -> Walk:
    """The walk as if its frames were a second apart and each call took 0.11 ms; scores keep their distance from the
    clock, to a tenth of a second."""
    fixed: dict[int, Observation] = {}

    def observation(seen: Observation, number: int) -> Observation:
        if id(seen) not in fixed:
            clock_ms = _START_MS + number * 1_000
            places = {name: _shifted(reading, seen.clock_ms, clock_ms) for name, reading in seen.places.items()}
            fixed[id(seen)] = replace(seen, clock_ms=clock_ms, places=places)
        return fixed[id(seen)]

    def frame(number: int, past: Frame) -> Frame:
        calls = tuple(replace(call, ms=0.11) for call in past.calls)
        before, after = observation(past.before, number - 1), observation(past.after, number)
        return replace(past, before=before, after=after, calls=calls)

    frames = tuple(frame(number, past) for number, past in enumerate(walk.frames, start=1))
    return Walk(observation(walk.opening, 0), frames, walk.cursor)


def at_fixed_calls(walk: Walk) -> Walk:
    """The walk as if each call took 0.11 ms."""
    frames = tuple(replace(frame, calls=tuple(replace(call, ms=0.11) for call in frame.calls)) for frame in walk.frames)
    return replace(walk, frames=frames)


def _shifted(reading: PlaceReading, clock_ms: int, fixed_ms: int) -> PlaceReading:
    def member(held: Member) -> Member:
        if not held.score:
            return held
        return replace(held, score=fixed_ms + round((held.score - clock_ms) / 100) * 100)

    return replace(reading, members=tuple(map(member, reading.members)))


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("visualizer.tui.screens.lesson_view.monotonic", lambda: 0.0)
    monkeypatch.setattr("visualizer.tui.screens.lesson.monotonic", lambda: 0.0)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)


def _app(path: str, theme: str = "echomq-dark", slug: str = "") -> VisualizerApp:
    lesson = load(find(slug), MACHINES, NAMED_STEPS) if slug else the_lesson(pace=1.0)
    return VisualizerApp(lambda: (lesson,), lesson, path=path, engine_spec="valkey", theme=theme)


def _after(steps: int, *, own_clock: bool = False) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        screen = await _stepped(pilot, steps)
        assert screen.scene is not None
        assert screen.scene.walk is not None
        walk = screen.scene.walk
        # A lesson's own clock is the same every run already; only the calls' times are not.
        fixed = at_fixed_calls(walk) if own_clock else at_fixed_times(walk)
        screen.scene = replace(screen.scene, walk=fixed)
        await pilot.pause()

    return run


async def _stepped(pilot: Pilot[Any], steps: int) -> LessonScreen:
    screen = pilot.app.screen
    assert isinstance(screen, LessonScreen)
    await until(pilot, lambda: screen.player is not None and screen.scene is not None and not screen.scene.running)
    for number in range(1, steps + 1):
        await pilot.press("right")
        await until(pilot, partial(_at, screen, number))
    return screen


def _at(screen: LessonScreen, number: int) -> bool:
    return screen.scene is not None and screen.scene.step == number


def _looks(snap_compare: Any, path: str, steps: int, size: tuple[int, int], theme: str = "echomq-dark") -> bool:
    same: bool = snap_compare(_app(path, theme), run_before=_after(steps), terminal_size=size)
    return same


def test_lesson_120x36(snap_compare: Any) -> None:
    assert _looks(snap_compare, "retry", 3, (120, 36))


def test_lesson_80x24(snap_compare: Any) -> None:
    assert _looks(snap_compare, "retry", 3, (80, 24))


def test_lesson_40x15(snap_compare: Any) -> None:
    assert _looks(snap_compare, "retry", 3, (40, 15))


def test_crash_120x36(snap_compare: Any) -> None:
    assert _looks(snap_compare, "place-not-flag", 4, (120, 36))


def test_dead_in_the_light_120x36(snap_compare: Any) -> None:
    assert _looks(snap_compare, "dead", 3, (120, 36), "echomq-light")


def test_core_120x36(snap_compare: Any) -> None:
    assert snap_compare(_app("retry", slug="lifecycle"), run_before=_after(2, own_clock=True), terminal_size=(120, 36))


def test_core_80x24(snap_compare: Any) -> None:
    assert snap_compare(_app("retry", slug="lifecycle"), run_before=_after(3, own_clock=True), terminal_size=(80, 24))


def test_inside_120x36(snap_compare: Any) -> None:
    async def look(pilot: Pilot[Any]) -> None:
        await _stepped(pilot, 2)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, XrayScreen) and pilot.app.screen.applies("write"))
        inside = pilot.app.screen
        assert isinstance(inside, XrayScreen)
        await pilot.press("w")
        await until(pilot, lambda: not inside.busy and inside.applies("line_back"))
        await pilot.pause()

    assert snap_compare(_app("happy"), run_before=look, terminal_size=(120, 36))
