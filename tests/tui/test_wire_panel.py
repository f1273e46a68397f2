"""The wire log on the lesson screen."""

from __future__ import annotations

import pytest

from tests.tui.driving import MEDIUM, SMALL, WIDE, lesson_open, press, text_of
from visualizer.tui.widgets.wire_panel import WirePanel


@pytest.mark.parametrize(("size", "engine"), [(WIDE, "valkey"), (MEDIUM, "fakeredis"), (SMALL, "fakeredis")])
async def test_the_wire_log_follows_the_steps(size: tuple[int, int], engine: str) -> None:
    async with lesson_open("happy", size, engine=engine) as (screen, pilot):
        await press(screen, pilot, "right", "i")
        assert "wire · 1 call, 217 B sent" in text_of(pilot)
        assert "call 1 EVALSHA leased/enqueue" in text_of(pilot)
        await press(screen, pilot, "right", "z")
        zoomed = text_of(pilot)
        assert zoomed.startswith("╭─ wire · 2 calls, 192 B sent")
        if size is not SMALL:
            assert "1 ZPOPMIN pending" in zoomed
            assert "total  2 calls" in zoomed
        # Zoomed it stays the log of the step under the cursor; the Lua comes back as large.
        await press(screen, pilot, "left")
        assert "call 1 EVALSHA leased/enqueue" in text_of(pilot)
        await press(screen, pilot, "i")
        assert "leased/enqueue.lua" in text_of(pilot).splitlines()[0]
        await press(screen, pilot, "z")
        assert not screen.query_one(WirePanel).display


async def test_the_wire_log_stands_where_the_lua_and_the_row_do() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await press(screen, pilot, "i")
        assert "Nothing has run yet, so nothing went over the wire." in text_of(pilot)
        assert "╭─ row" not in text_of(pilot)
        assert screen.focused is screen.query_one(WirePanel)
        await press(screen, pilot, "tab", "tab", "tab")
        assert screen.focused is screen.query_one(WirePanel)
        await press(screen, pilot, "i")
        assert "╭─ row" in text_of(pilot)
