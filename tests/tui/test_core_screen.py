"""A core lesson under a pilot: eight places, the lock with its bar, the lesson's own clock, layers and codes."""

from __future__ import annotations

import re
from contextlib import AbstractAsyncContextManager

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from tests.core_machine.core_walking import BASE, GUESS, the_lesson
from tests.tui.driving import MEDIUM, SMALL, WIDE, lesson_open, press, text_of, until
from tests.tui.test_sizes import SIZES
from visualizer.tui.screens.choice import PageScreen
from visualizer.tui.screens.lesson import LessonScreen

CODES = ("JobNotExist", "JobLockNotExist", "JobNotInState", "JobPendingChildren", "ParentJobNotExist")


def core_open(
    path: str = "happy", size: tuple[int, int] = WIDE, engine: str = "fakeredis"
) -> AbstractAsyncContextManager[tuple[LessonScreen, Pilot[int]]]:
    return lesson_open(path, size, lesson=the_lesson(), engine=engine)


def line_with(pilot: Pilot[int], text: str) -> str:
    """The first line of the screen that holds a text."""
    return next(line for line in text_of(pilot).split("\n") if text in line)


# What a step shows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["fakeredis", "valkey"])
async def test_the_leaving_and_the_entering_place_are_marked_and_the_edge_is_named(engine: str) -> None:
    async with core_open("happy", WIDE, engine) as (screen, pilot):
        await press(screen, pilot, "right", "right")
        shown = text_of(pilot)
        assert "┏━ active ━" in shown
        assert "╭─ wait ─" in shown
        assert "│ − JOB0KHTO…LuC" in shown
        assert "┃ + JOB0KHTO…LuC" in shown
        arrow = line_with(pilot, "═▶")
        assert "− JOB0KHTO…LuC" in arrow, "it starts at the place that was left"
        assert "pick up" in shown.split("\n")[shown.split("\n").index(arrow) - 1]
        await press(screen, pilot, "right")
        arrow = line_with(pilot, "═▶")
        lines = text_of(pilot).split("\n")
        assert "┏━ completed ━" in text_of(pilot)
        assert "complete" in lines[lines.index(arrow) - 1]


async def test_the_same_at_80_by_24_a_line_a_place() -> None:
    async with core_open("happy", MEDIUM) as (screen, pilot):
        await press(screen, pilot, "right", "right")
        left = line_with(pilot, "− wait")
        assert "pick up" in left
        assert "┏━ active ━" in left
        assert "═▶" in text_of(pilot)
        assert "+ JOB0KHTO…LuC" in text_of(pilot)
        for place in ("prioritized", "delayed", "paused", "waiting-children", "completed", "failed"):
            assert place in text_of(pilot)
        await press(screen, pilot, "right")
        assert "═▶" in line_with(pilot, "failed"), "in the gap, and nothing is written over"
        assert "+ completed  1" in text_of(pilot)
        assert "moveToFinished: active ═▶ completed" in text_of(pilot), "the name did not fit into the gap"
        assert "− JOB0KHTO…LuC" in text_of(pilot)


async def test_the_same_at_40_by_15_what_moved_first() -> None:
    async with core_open("happy", SMALL) as (screen, pilot):
        await press(screen, pilot, "right", "right")
        lines = text_of(pilot).split("\n")
        at = next(at for at, line in enumerate(lines) if line.startswith("+ active"))
        assert "JOB0KHTO…LuC" in lines[at]
        assert lines[at + 1].startswith("− wait")
        assert "readout, then " in text_of(pilot)
        assert "clock 00:00.020" in text_of(pilot)


async def test_a_way_that_is_to_no_neighbour_is_told_in_words() -> None:
    async with core_open() as (screen, pilot):
        await press(screen, pilot, "right")
        assert "new ═▶ wait" in text_of(pilot)


# The lock and the clock -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [WIDE, MEDIUM])
async def test_the_active_box_holds_the_lock_and_its_bar(size: tuple[int, int]) -> None:
    async with core_open("happy", size) as (screen, pilot):
        await press(screen, pilot, "right")
        assert "lock   " not in line_with(pilot, "active")
        await press(screen, pilot, "right")
        assert "lock   w1:1" in text_of(pilot)
        full = line_with(pilot, "█ 30.0 s")
        assert "░" not in full
        await press(screen, pilot, *["full_stop"] * 3)
        half = line_with(pilot, " 15.0 s")
        assert abs(half.count("█") - half.count("░")) <= 1
        assert half.count("█") + half.count("░") == full.count("█")
        await press(screen, pilot, *["full_stop"] * 3)
        assert "lock   none" in text_of(pilot)
        assert "█" not in line_with(pilot, "lock   none")
        await press(screen, pilot, "left")
        assert " 5.0 s" in text_of(pilot), "looking back shows what was left then"


async def test_actors_are_named_with_their_numbers_whether_they_act_or_not() -> None:
    async with core_open("heartbeat") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        assert "renew  every 15 s · off" in text_of(pilot)
        assert "sweep  every 30 s · by hand" in text_of(pilot)
        await press(screen, pilot, "right", "right")
        assert "renew  w1, 15 s: in" in text_of(pilot)
        assert "sweep  30 s: in" in text_of(pilot)


async def test_the_path_line_tells_the_lessons_clock() -> None:
    async with core_open() as (screen, pilot):
        assert "clock 00:00.000   0 of 3" in text_of(pilot)
        await press(screen, pilot, "right")
        assert "clock 00:00.010   1 of 3" in text_of(pilot)
        await press(screen, pilot, "full_stop")
        assert "clock 00:05.010   1 of 3" in text_of(pilot)
        assert "5.0 s passed on the lesson's clock. Nothing moved." in text_of(pilot)
        assert screen.player is not None
        assert screen.player.taken == 1
        await press(screen, pilot, "left", "left")
        assert "clock 00:00.000   0 of 3" in text_of(pilot)
        await press(screen, pilot, "right", "right", "right")
        assert "clock 00:05.020   2 of 3" in text_of(pilot)


async def test_reading_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redraw much later shows the same lock, the same clock and the same countdown, and nothing ticks."""
    async with core_open("later") as (screen, pilot):
        await press(screen, pilot, "right")
        before = text_of(pilot)
        assert "│   in 9.0 s" in before or "┃   in 9.0 s" in before
        monkeypatch.setattr("visualizer.tui.screens.lesson_view.monotonic", lambda: 1e9)
        await press(screen, pilot, "y", "y")
        assert text_of(pilot) == before


async def test_a_restart_sets_the_clock_to_zero() -> None:
    async with core_open() as (screen, pilot):
        await press(screen, pilot, "right", "right", "full_stop", "r")
        assert "clock 00:00.000   0 of 3" in text_of(pilot)
        assert "w1:1" not in text_of(pilot)


# Layers, codes --------------------------------------------------------------------------------------------------------


async def test_y_shows_four_layers_top_down_and_the_lua_again() -> None:
    async with core_open() as (screen, pilot):
        await press(screen, pilot, "right", "right", "y")
        shown = text_of(pilot)
        assert shown.index("L4") < shown.index("L3") < shown.index("L2") < shown.index("L1")
        assert "the protocol" in shown
        assert "each runtime's own" in shown
        await press(screen, pilot, "full_stop")
        assert "no" in line_with(pilot, "runs no script")
        await press(screen, pilot, "left", "y")
        assert "L4" not in text_of(pilot)
        assert "core/moveToActive-11" in text_of(pilot)


async def test_k_shows_the_codes() -> None:
    async with core_open(size=(120, 60)) as (screen, pilot):
        await pilot.press("k")
        assert isinstance(pilot.app.screen, PageScreen)
        await pilot.pause()
        shown = text_of(pilot)
        positions = [shown.index(name) for name in CODES]
        assert positions == sorted(positions)
        assert "−1 " in shown
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_the_keys_of_a_lessons_clock_do_nothing_in_a_lesson_without_one() -> None:
    async with lesson_open("happy") as (screen, pilot):
        for key in ("full_stop", "y", "k"):
            await press(screen, pilot, key)
        assert pilot.app.screen is screen
        assert screen.scene is not None
        assert (screen.scene.layers, screen.scene.walk and screen.scene.walk.frames) == (False, ())


# Whatever is there ----------------------------------------------------------------------------------------------------


async def test_a_storm_of_sizes_breaks_nothing() -> None:
    async with core_open("heartbeat") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        for width, height in (*SIZES, (76, 24), (75, 24), (60, 9), (99, 30), *reversed(SIZES)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            lines = text_of(pilot).split("\n")
            assert len(lines) == height
            assert all(len(line) <= width for line in lines)
        await press(screen, pilot, "left")


async def test_more_ids_than_the_box_has_room_for_leave_the_lock_its_rows() -> None:
    async with core_open() as (screen, pilot):
        await press(screen, pilot, "right", "right")
        assert screen.player is not None
        client = screen.player.engine.client
        others = [b"JOB0KHTO%06d" % number for number in range(30)]
        client.rpush(BASE + b"active", *others)
        client.set(BASE + GUESS + b":lock", b"\x1b[2Jw1", px=30_000)
        screen.player.look()
        await press(screen, pilot, "left", "right", "right")
        assert "│   … 28 more" in text_of(pilot)
        assert text_of(pilot).count("lock   ") == 2, "the box's own words, and one lock: the others would take rows"
        assert "lock   \\x1b[2J… · JOB0KH…LuC │" in text_of(pilot)
        # This lock was set by hand, on the server's own clock: a moment of it has passed.
        assert re.search(r"(30\.0|2\d\.\d) s │", text_of(pilot))


async def test_two_running_jobs_have_two_locks_each_with_its_name() -> None:
    async with core_open("parent") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        assert screen.player is not None
        client = screen.player.engine.client
        client.lpush(BASE + b"active", GUESS)
        screen.player.look()
        await press(screen, pilot, "end")
        assert screen.scene is not None
        screen.scene = replace(screen.scene, walk=screen.player.walk)
        await pilot.pause()
        assert "lock   none · JOB0" in text_of(pilot)
        assert "lock   w1:1 · JOB0" in text_of(pilot)


async def test_keys_beside_a_row_are_not_taken_for_foreign() -> None:
    async with core_open("parent") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right", "right")
        assert screen.player is not None
        assert screen.player.engine.client.exists(BASE + GUESS + b":processed") == 1
        assert screen.scene is not None
        assert (screen.scene.surveyed, dict(screen.scene.found)) == ("", {})
