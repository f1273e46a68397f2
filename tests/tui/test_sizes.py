"""Any size, any order of sizes: nothing breaks, and Help and Quit stay as long as a line is there."""

from __future__ import annotations

import pytest

from tests.tui.driving import lesson_open, press, text_of
from visualizer.tui.themes import DARK

SIZES = [(120, 36), (80, 24), (60, 20), (40, 15), (20, 8), (5, 3), (2, 2), (1, 1), (300, 100), (200, 10), (30, 60)]


async def test_a_storm_of_sizes_breaks_nothing() -> None:
    async with lesson_open("retry") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        for width, height in (*SIZES, *reversed(SIZES)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            lines = text_of(pilot).split("\n")
            assert len(lines) == height
            assert all(len(line) <= width for line in lines)
        await press(screen, pilot, "left")


async def test_help_and_quit_stay_to_the_last() -> None:
    async with lesson_open("happy", (20, 8)) as (_, pilot):
        for size in ((20, 8), *(size for size in SIZES if size[0] >= 20)):
            if size != (pilot.app.size.width, pilot.app.size.height):
                await pilot.resize_terminal(*size)
                await pilot.pause()
            footer = text_of(pilot).split("\n")[-1]
            assert "? help" in footer, size
            assert "q quit" in footer, size


async def test_at_80_by_24_every_panel_is_reached_with_tab() -> None:
    async with lesson_open("happy", (80, 24)) as (screen, pilot):
        await press(screen, pilot, "right")
        seen = []
        for _ in range(3):
            seen.append(text_of(pilot))
            await pilot.press("tab")
            await pilot.pause()
        assert "next: step 2" in seen[0]
        assert "leased/enqueue.lua" in seen[1]
        assert "row  job:JOB0KHTO…LuC" in seen[2]
        for shown in seen:
            assert "enters pending." in shown


async def test_at_40_by_15_the_readout_leads_the_story() -> None:
    async with lesson_open("happy", (40, 15)) as (screen, pilot):
        await press(screen, pilot, "right")
        assert "readout, then " in text_of(pilot)
        assert "JOB0KHTOWnGLuC enters pending." in text_of(pilot)


@pytest.mark.parametrize("variable", ["NO_COLOR", "TEXTUAL_ANSI"])
async def test_without_colour_the_marks_tell_it(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "1")
    async with lesson_open("happy") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        shown = text_of(pilot)
        assert "− JOB0KHTO…LuC" in shown
        assert "+ JOB0KHTO…LuC" in shown
        assert "═▶" in shown
        assert "┏━ active" in shown


@pytest.mark.parametrize("theme", ["echomq-light", "textual-light", "nord", "ansi-dark"])
async def test_every_theme_has_the_colours_we_name(theme: str) -> None:
    async with lesson_open("happy", theme=theme) as (screen, pilot):
        await press(screen, pilot, "right")
        assert "+ JOB0KHTO…LuC" in text_of(pilot)


async def test_our_theme_is_there_from_the_first_frame() -> None:
    async with lesson_open("happy") as (screen, _):
        assert screen.styles.background.hex.lower() == str(DARK.background).lower()
        assert screen.app.theme_variables["entered"] == DARK.variables["entered"]
