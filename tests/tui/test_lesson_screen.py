"""The lesson screen under a pilot: each key does what its label says, and what is drawn was read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.screen import Screen

from tests.tui.driving import MEDIUM, SMALL, WIDE, lesson_open, press, text_of, the_lesson, until
from visualizer.actions import ACTIONS
from visualizer.tui.app import VisualizerApp
from visualizer.tui.screens.choice import ChoiceScreen, HelpScreen
from visualizer.tui.screens.explore import ExploreScreen
from visualizer.tui.screens.home import HomeScreen
from visualizer.tui.screens.lesson import LessonScreen
from visualizer.tui.widgets.readout_panel import ReadoutPanel


@pytest.mark.parametrize("size", [WIDE, MEDIUM, SMALL])
async def test_steps_show_who_left_and_who_entered(size: tuple[int, int]) -> None:
    async with lesson_open("happy", size) as (screen, pilot):
        await press(screen, pilot, "right", "right")
        shown = text_of(pilot)
        assert "− " in shown
        assert "+ " in shown
        assert "leaves pending, enters" in " ".join(shown.split()).replace("│ ", "")
        assert screen.scene is not None
        assert screen.scene.step == 2


async def test_back_and_forward_call_nothing() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        assert screen.player is not None
        frames = screen.player.walk.frames
        await press(screen, pilot, "left", "left")
        assert screen.scene is not None
        assert screen.scene.step == 1
        await press(screen, pilot, "right", "end", "home")
        assert screen.player.walk.frames is frames
        assert screen.scene.step == 0


async def test_the_script_that_ran_is_shown_with_its_name() -> None:
    async with lesson_open("happy") as (screen, pilot):
        assert "No script has run yet." in text_of(pilot)
        await press(screen, pilot, "right")
        assert "leased/enqueue.lua" in text_of(pilot)


async def test_a_path_is_chosen_from_a_list() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await pilot.press("p")
        assert isinstance(pilot.app.screen, ChoiceScreen)
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.scene is not None and screen.scene.path.name == "retry")


async def test_a_jump_runs_the_steps_before_it() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await pilot.press("j")
        await pilot.press("2", "enter")
        await until(pilot, lambda: screen.scene is not None and screen.scene.step == 2)
        assert screen.player is not None
        assert screen.player.taken == 2


async def test_rewind_drops_what_came_after_and_the_path_goes_on_from_there() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right", "left", "w")
        assert screen.player is not None
        assert screen.player.taken == 2
        await press(screen, pilot, "right")
        assert screen.player.walk.frames[-1].outcome.name == "completed"


async def test_restart_empties_the_queue() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await press(screen, pilot, "right", "r")
        assert screen.scene is not None
        assert screen.scene.taken == 0
        assert screen.player is not None
        assert not screen.player.engine.client.exists(screen.player.space.key("pending"))


async def test_autoplay_steps_to_the_end_and_stops() -> None:
    async with lesson_open("happy") as (screen, pilot):
        screen.seconds_a_step = 0.25
        await pilot.press("a")
        await until(pilot, lambda: screen.scene is not None and screen.scene.step == 3)
        await until(pilot, lambda: screen.autoplay is None)


async def test_autoplay_has_a_speed() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await pilot.press("a", "plus")
        assert screen.seconds_a_step == 2.0
        await pilot.press("minus", "minus")
        assert screen.seconds_a_step == 8.0
        await pilot.press("a")
        assert screen.autoplay is None


async def test_keys_wait_while_a_step_runs_and_quit_does_not() -> None:
    async with lesson_open("retry") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        assert screen.scene is not None
        screen.scene = type(screen.scene)(screen.lesson, screen.scene.path, screen.scene.machine, running="waiting")
        assert not screen.applies("step")
        assert not screen.applies("restart")
        assert screen.applies("quit")


async def test_a_state_is_shown_on_a_throw_away_engine() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await press(screen, pilot, "right")
        assert screen.player is not None
        before = screen.player.engine.client.dump(screen.player.space.key("pending"))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExploreScreen) and "holds the id" in text_of(pilot))
        assert "on a throw-away fakeredis" in text_of(pilot)
        await pilot.press("tab")
        await until(pilot, lambda: "select a transition" in text_of(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert screen.player.engine.client.dump(screen.player.space.key("pending")) == before


async def test_a_click_on_a_place_shows_that_state() -> None:
    async with lesson_open("happy") as (_, pilot):
        await pilot.click("Board", offset=(45, 3))
        await until(pilot, lambda: isinstance(pilot.app.screen, ExploreScreen) and "active holds" in text_of(pilot))


async def test_a_click_on_a_key_presses_it() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await pilot.click("KeyBar", offset=(3, 0))
        await until(pilot, lambda: screen.scene is not None and screen.scene.step == 1)


async def test_help_names_every_key() -> None:
    async with lesson_open("happy", (120, 60)) as (_, pilot):
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        shown = " ".join(text_of(pilot).split())
        for action in ACTIONS:
            assert action.help.split(";")[0].split(":")[0].rstrip(".") in shown


async def test_the_command_palette_lists_the_actions() -> None:
    async with lesson_open("happy") as (screen, pilot):
        app = pilot.app
        assert isinstance(app, VisualizerApp)
        titles = [command.title for command in app.get_system_commands(screen)]
        assert "Step (→)" in titles
        assert "Path (p)" in titles


async def test_the_readout_is_copied() -> None:
    async with lesson_open("happy") as (screen, pilot):
        await press(screen, pilot, "right")
        await pilot.press("c")
        assert "enters pending." in pilot.app.clipboard


async def test_a_picture_is_saved_in_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with lesson_open("happy") as (_, pilot):
        await pilot.press("v")
        pictures = list(tmp_path.glob("visualizer-states-as-locations-*.svg"))
        assert len(pictures) == 1
        assert pictures[0].read_text().startswith("<svg")


async def test_a_refusal_shows_in_words() -> None:
    async with lesson_open("lease-lapses") as (screen, pilot):
        await press(screen, pilot, *["right"] * 6)
        shown = text_of(pilot)
        assert "Refused: EMQSTALE complete token mismatch (stale). Nothing moved." in shown
        assert "The row holds 2 (claimed by w2 in step 5), you sent 1." in shown
        assert screen.query_one(ReadoutPanel).has_class("refused")


async def test_a_lost_id_is_told_to_be_nowhere() -> None:
    async with lesson_open("place-not-flag") as (screen, pilot):
        await press(screen, pilot, "right", "right", "right", "right")
        assert "nowhere 1: JOB0KHTO…LuC" in text_of(pilot)


async def test_a_dead_engine_is_told_the_frames_are_kept_and_one_key_starts_again() -> None:
    async with lesson_open("happy", engine="valkey") as (screen, pilot):
        await press(screen, pilot, "right")
        assert screen.player is not None
        gone = screen.player.engine
        gone.client.shutdown(nosave=True)
        await press(screen, pilot, "right")
        assert screen.scene is not None
        assert screen.scene.trouble
        assert "r starts the path again on a new engine" in text_of(pilot)
        await press(screen, pilot, "left")
        assert screen.scene.step == 0
        await press(screen, pilot, "r")
        assert not screen.scene.trouble
        assert screen.player.engine is not gone
        await press(screen, pilot, "right")
        assert screen.scene.step == 1


async def test_the_home_screen_lists_the_lessons_and_enter_opens_one() -> None:
    app = VisualizerApp(lambda: (the_lesson(),), engine_spec="fakeredis")
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        assert "States as locations" in text_of(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "EMULATED" in text_of(pilot))


async def test_another_lesson_is_chosen_without_losing_this_one_by_a_slip() -> None:
    lesson = the_lesson()
    other = replace(lesson, slug="other", title="Another lesson", file=Path("other.toml"))
    app = VisualizerApp(lambda: (lesson, other), lesson, engine_spec="fakeredis")
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: "EMULATED" in text_of(pilot))
        await pilot.press("right")
        await pilot.press("l", "escape")
        assert isinstance(app.screen, LessonScreen)
        assert app.screen.lesson is lesson
        await pilot.press("l", "down", "enter")
        await until(pilot, lambda: "Another lesson" in text_of(pilot) and "EMULATED" in text_of(pilot))


@pytest.mark.parametrize("key", ["q"])
async def test_quit_ends_the_program_and_its_engine(key: str) -> None:
    async with lesson_open("happy", engine="valkey") as (screen, pilot):
        assert screen.player is not None
        engine = screen.player.engine
        await pilot.press(key)
    with pytest.raises(Exception, match="closed"):
        engine.check()


async def test_a_step_repaints_and_lays_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[Screen[Any]] = []
    lay_out = Screen._refresh_layout

    def counted(screen: Screen[Any], *given: Any, **named: Any) -> None:
        laid_out.append(screen)
        lay_out(screen, *given, **named)

    async with lesson_open("happy") as (screen, pilot):
        # Once through, so that the readout has the height that the path needs.
        await press(screen, pilot, "right", "right", "right", "home")
        monkeypatch.setattr(Screen, "_refresh_layout", counted)
        await press(screen, pilot, "right", "right", "right")
        assert laid_out == []
