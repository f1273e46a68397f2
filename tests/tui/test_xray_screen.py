"""The x-ray screen on a real Valkey: what it shows in the middle of a script, its keys, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from textual.pilot import Pilot

from tests.tui.driving import MEDIUM, SMALL, WIDE, lesson_open, press, text_of, until
from visualizer.called import Source
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.lesson import find, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.tui.screens.lesson import LessonScreen
from visualizer.tui.screens.xray import XrayScreen
from visualizer.tui.screens.xray_view import XrayView
from visualizer.tui.widgets.lines_panel import LinesPanel
from visualizer.tui.widgets.lua_panel import LuaPanel
from visualizer.xray import Xray

PANELS = ("xray-lua", "locals", "commands", "seen-inside", "seen-outside")


async def look_inside(pilot: Pilot[int], *keys: str) -> XrayScreen:
    """Presses x on the lesson screen, then the keys inside."""
    await pilot.press("x")
    await until(pilot, lambda: isinstance(pilot.app.screen, XrayScreen))
    inside = pilot.app.screen
    assert isinstance(inside, XrayScreen)
    await inside_press(inside, pilot, *keys)
    return inside


async def inside_press(inside: XrayScreen, pilot: Pilot[int], *keys: str) -> None:
    await until(pilot, lambda: _still(inside))
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: _still(inside))
    await pilot.pause()


def _still(inside: XrayScreen) -> bool:
    seen = inside.inside
    return not inside.busy and seen is not None and bool(seen.stops or seen.trouble)


async def leave(screen: LessonScreen, pilot: Pilot[int]) -> None:
    await pilot.press("escape")
    await until(pilot, lambda: pilot.app.screen is screen)
    await press(screen, pilot)


def panel(pilot: Pilot[int], name: str) -> str:
    return "\n".join(line.text for line in pilot.app.screen.query_one(f"#{name}", LinesPanel).lines)


def told(pilot: Pilot[int]) -> list[str]:
    """The sentences that were told in passing."""
    return [notification.message for notification in pilot.app._notifications]


def source_line(inside: XrayScreen) -> str:
    seen = inside.inside
    assert seen is not None
    assert seen.stop is not None
    assert seen.called is not None
    return seen.called.script.lines[seen.stop.line - 1] if seen.stop.line else ""


def ran_line(inside: XrayScreen) -> str:
    seen = inside.inside
    assert seen is not None
    assert seen.stop is not None
    assert seen.called is not None
    return seen.called.script.lines[seen.stop.ran_line - 1]


async def test_in_the_middle_of_claim_the_id_is_nowhere_inside_and_in_pending_outside() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        inside = await look_inside(pilot)
        while "ZPOPMIN" not in ran_line(inside):
            await inside_press(inside, pilot, "right")
        shown = text_of(pilot)
        assert "JOB0KHTOWnGLuC is in no set" in panel(pilot, "seen-inside")
        assert "JOB0KHTOWnGLuC is in pending" in panel(pilot, "seen-outside")
        assert "ZPOPMIN emq:{cm}:pending" in panel(pilot, "commands")
        for told in ("is in no set", "is in pending", "PREVIEW", "❱", "as every other client sees it"):
            assert told in shown


async def test_the_keys_run_to_a_write_to_a_breakpoint_to_the_end_and_look_back() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        inside = await look_inside(pilot)
        await inside_press(inside, pilot, "w")
        assert "ZPOPMIN" in ran_line(inside)
        await inside_press(inside, pilot, "w")
        assert "HINCRBY" in ran_line(inside)
        # The line two below the one that runs next: HSET, ZADD, return.
        await inside_press(inside, pilot, "down", "down", "b", "c")
        assert source_line(inside).lstrip().startswith("return {id")
        await inside_press(inside, pilot, "e")
        assert "now every client sees what it wrote" in panel(pilot, "standing")
        assert "It did what the step did" in panel(pilot, "standing")
        assert "JOB0KHTOWnGLuC is in active" in panel(pilot, "seen-outside")
        await inside_press(inside, pilot, "left")
        assert "JOB0KHTOWnGLuC is in active" in panel(pilot, "seen-inside")
        assert "JOB0KHTOWnGLuC is in pending" in panel(pilot, "seen-outside")
        await inside_press(inside, pilot, "g")
        assert "nothing has run yet" in panel(pilot, "standing")


async def test_leaving_marks_the_lines_and_changes_nothing_else() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        assert screen.scene is not None
        walk, before = screen.scene.walk, text_of(pilot)
        assert "┃ 24" not in before
        await look_inside(pilot, "right")
        await leave(screen, pilot)
        assert screen.scene.walk is walk
        lua = screen.query_one(LuaPanel)
        assert {16, 23, 24, 25, 29, 32} <= lua.marks.lit
        assert 13 not in lua.marks.lit
        assert "┃" in text_of(pilot)


async def test_another_step_is_looked_into_without_leaving() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        inside = await look_inside(pilot, "p")
        assert "enqueue.lua" in text_of(pilot)
        await inside_press(inside, pilot, "n", "n")
        shown = text_of(pilot)
        assert "complete.lua" in shown
        assert "about to run" in shown
        assert not inside.applies("later")
        await inside_press(inside, pilot, "e")
        await leave(screen, pilot)
        assert screen.player is not None
        assert screen.player.taken == 2
        # What was seen before the step lights its lines once it has run and did the same.
        await press(screen, pilot, "right")
        assert screen.query_one(LuaPanel).marks.lit


async def test_at_the_start_the_coming_step_is_looked_into() -> None:
    async with lesson_open(engine="valkey") as (_screen, pilot):
        await look_inside(pilot)
        assert "enqueue.lua   step 1 of 3 · happy · about to run" in text_of(pilot)


async def test_a_preview_whose_server_dies_is_told_and_left() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right")
        inside = await look_inside(pilot, "right")
        assert inside.xray is not None
        os.kill(inside.xray.server_pid, signal.SIGKILL)
        await inside_press(inside, pilot, "right")
        assert "The preview broke off: the private server is gone." in panel(pilot, "standing")
        await leave(screen, pilot)
        await press(screen, pilot, "right")
        assert screen.scene is not None
        assert screen.scene.step == 2


async def test_the_emulation_says_what_it_cannot() -> None:
    async with lesson_open(engine="fakeredis") as (screen, pilot):
        await press(screen, pilot, "right")
        await look_inside(pilot)
        assert "fakeredis has no script debugger" in panel(pilot, "standing")
        # The commands that the script issued are offered instead, with what they were answered.
        assert "ZADD pending 0 JOB0KHTOWnGLuC → 1" in panel(pilot, "commands")
        await leave(screen, pilot)


async def test_every_size_tells_where_the_id_is() -> None:
    async with lesson_open(engine="valkey", size=(20, 8)) as (screen, pilot):
        await press(screen, pilot, "right", "right")
        await look_inside(pilot, "w")
        for size in ((20, 8), SMALL, MEDIUM, WIDE, (200, 60), SMALL):
            if size != (20, 8):
                await pilot.resize_terminal(*size)
            for _ in range(5):
                await pilot.press("tab")
            if size >= SMALL:
                assert "in no set" in text_of(pilot), size
                assert "in pending" in text_of(pilot), size


async def test_a_run_time_error_paints_its_line() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        assert screen.player is not None
        # Somebody has put a list where complete expects the row.
        engine = screen.player.engine
        engine.client.delete("emq:{cm}:job:JOB0KHTOWnGLuC")
        engine.client.rpush("emq:{cm}:job:JOB0KHTOWnGLuC", "x")
        await press(screen, pilot, "right")
        await look_inside(pilot, "e")
        assert "the script broke off" in panel(pilot, "standing")
        assert "✗" in text_of(pilot)
        assert "WRONGTYPE" in text_of(pilot)


async def test_on_the_smallest_screen_one_panel_has_the_place_and_both_sides_a_line_each() -> None:
    async with lesson_open(engine="valkey", size=SMALL) as (screen, pilot):
        await press(screen, pilot, "right", "right")
        inside = await look_inside(pilot, "w")
        shown = [name for name in PANELS if inside.query_one(f"#{name}").region.height]
        assert shown == ["xray-lua"]
        assert "inside JOB0KHTOWnGLuC is in no set" in text_of(pilot)
        assert "others JOB0KHTOWnGLuC is in pending" in text_of(pilot)
        await inside_press(inside, pilot, "e")
        assert "JOB0KHTOWnGLuC is in active" in text_of(pilot)


async def test_zoom_and_help() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right")
        inside = await look_inside(pilot, "z")
        assert inside.maximized is not None
        await inside_press(inside, pilot, "z")
        assert inside.maximized is None
        await pilot.press("question_mark")
        await until(pilot, lambda: pilot.app.screen is not inside)
        assert "Run until a line has written" in text_of(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is inside)
        assert inside.query_one(XrayView).lua_has_focus


async def test_an_engine_that_is_gone_is_told_and_the_program_goes_on() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right")
        assert screen.player is not None
        engine = screen.player.engine
        assert isinstance(engine, EmbeddedEngine)
        inside = await look_inside(pilot)
        os.kill(engine.server.pid, signal.SIGKILL)
        # The step to come is read from the lesson's own engine.
        await inside_press(inside, pilot, "n")
        assert "the private Valkey" in panel(pilot, "standing")
        await leave(screen, pilot)


async def test_a_step_without_a_script_says_so_and_the_next_one_is_a_key_away() -> None:
    async with lesson_open("lease-lapses", engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        inside = await look_inside(pilot)
        assert "No script ran here (wait), so there is no inside." in panel(pilot, "standing")
        await inside_press(inside, pilot, "n")
        assert "reap.lua" in text_of(pilot)
        await inside_press(inside, pilot, "n")
        await pilot.pause()
        assert "No later step can be looked into." in told(pilot)


async def test_leaving_while_it_opens_leaves_when_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    may_open = threading.Event()

    class Slow(Xray):
        def __init__(self, source: Source) -> None:
            may_open.wait()
            super().__init__(source)

    monkeypatch.setattr("visualizer.tui.screens.xray.Xray", Slow)
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right")
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, XrayScreen))
        inside = pilot.app.screen
        assert isinstance(inside, XrayScreen)
        assert inside.busy
        await pilot.press("escape")
        may_open.set()
        await until(pilot, lambda: pilot.app.screen is screen)


@pytest.mark.parametrize("size", [WIDE, MEDIUM])
async def test_the_verdict_is_whole_however_long_the_reply(size: tuple[int, int]) -> None:
    lesson = load(find("codemojex"), MACHINES, NAMED_STEPS, 0.05)
    async with lesson_open("a-guess", size, engine="valkey", lesson=lesson) as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        await look_inside(pilot, "e")
        assert "It did what the step did: its lines are marked in the lesson." in text_of(pilot)


async def test_a_breakpoint_is_seen_and_a_line_that_never_stops_takes_none() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        inside = await look_inside(pilot, "w", "down", "down", "b")
        assert "32●" in text_of(pilot)
        await inside_press(inside, pilot, "up", "b")
        assert inside.inside is not None
        assert inside.inside.breakpoints == {32}
        assert "Nothing runs on that line, so nothing can stop there." in told(pilot)
        await leave(screen, pilot)
        assert told(pilot) == []


async def test_the_line_that_runs_next_is_in_view_after_any_change_of_size() -> None:
    async with lesson_open(engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right", "right")
        inside = await look_inside(pilot, "w", "w")
        for size in ((200, 60), (60, 20), (120, 36)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await until(pilot, lambda: "❱" in text_of(pilot))
        await inside_press(inside, pilot, "z")
        assert "❱" in text_of(pilot)
