"""A race under a pilot: who may run next is in view, one key lets the other one, and the path names the actors."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.tui.driving import MEDIUM, SMALL, WIDE, lesson_open, press, text_of
from visualizer.lesson import Lesson, find, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.race import NO_CHOICE
from visualizer.walk import Walker


def the_race() -> Lesson:
    return load(find("read-decide-write"), MACHINES, NAMED_STEPS, 0.001)


@pytest.mark.parametrize(
    ("size", "choice"),
    [
        (WIDE, ("│ → worker: HGET attempts ", "│ o reaper: ZRANGEBYSCORE active ")),
        (MEDIUM, ("│ → worker: HGET attempts   o reaper: ZRANGEBYSCORE active ",)),
        (SMALL, ("│ → worker   o reaper ",)),
    ],
)
async def test_who_may_run_next_is_in_view_with_the_question(size: tuple[int, int], choice: tuple[str, ...]) -> None:
    async with lesson_open("split-commands", size, lesson=the_race()) as (screen, pilot):
        assert not screen.applies("other")
        await press(screen, pilot, "right", "right", "right")
        shown = text_of(pilot)
        for line in (*choice, "? Which two numbers does w1"):
            assert line in shown
        await press(screen, pilot, "left")
        assert " o reaper" not in text_of(pilot), "while looking back nothing can be chosen"
        await press(screen, pilot, "o")
        (told,) = [note.message for note in screen.app._notifications]
        assert told == "You are looking back: e goes to the newest frame, where o chooses."
        screen.app.clear_notifications()
        assert not screen.applies("other")
        await pilot.resize_terminal(*WIDE)
        await press(screen, pilot, "right")
        assert "│ → worker: HGET attempts " in text_of(pilot)


async def test_on_the_smallest_screen_a_long_question_is_still_whole() -> None:
    async with lesson_open("split-commands", SMALL, lesson=the_race()) as (screen, pilot):
        await press(screen, pilot, *["right"] * 7)
        shown = text_of(pilot)
        assert "│ o worker   → reaper " in shown
        told = " ".join(shown.replace("│", " ").split())
        assert "? How many ids does this take out of active?" in told


async def test_the_other_actor_runs_and_the_order_is_told() -> None:
    async with lesson_open("split-commands", lesson=the_race()) as (screen, pilot):
        await press(screen, pilot, "right", "right", "right", "o")
        shown = text_of(pilot)
        assert "◆ reaper: ZRANGEBYSCORE active" in shown
        assert "Your own order (R): nothing is announced for it." in shown
        assert "o reaper: ZREM active" in shown
        await press(screen, pilot, "right", "o")
        assert screen.player is not None
        turns = [frame.step.turn for frame in screen.player.walk.frames if frame.step]
        assert turns == ["", "", "", "reaper", "worker", "reaper"]
        await press(screen, pilot, "r", "right", "right", "right", "right")
        assert "◆ worker: HGET attempts" in text_of(pilot)
        assert "Your own order" not in text_of(pilot)


async def test_the_end_says_whether_the_order_did_harm_and_a_key_that_can_do_nothing_says_why() -> None:
    async with lesson_open("split-commands", lesson=the_race()) as (screen, pilot):
        await press(screen, pilot, "o")
        assert [note.message for note in screen.app._notifications] == [NO_CHOICE]
        await press(screen, pilot, *["right"] * 14)
        shown = text_of(pilot)
        assert "The same job was counted twice." in shown
        assert "The written order did harm." in shown


async def test_the_end_names_what_was_refused() -> None:
    async with lesson_open("fencing-token", lesson=the_race()) as (screen, pilot):
        await press(screen, pilot, *["right"] * 7)
        assert "w1 completes refused: EMQSTALE" in text_of(pilot)


async def test_the_first_step_comes_before_what_is_said_of_the_lesson() -> None:
    async with lesson_open("fencing-token", lesson=the_race()) as (_, pilot):
        shown = text_of(pilot)
        assert shown.index("Look at attempts in the new") < shown.index("About this lesson")


async def test_a_title_that_does_not_fit_keeps_its_last_word() -> None:
    async with lesson_open("split-commands", lesson=the_race()) as (screen, pilot):
        await press(screen, pilot, *["right"] * 5)
        assert "─ next: 6 · worker: ZREM active ─" in text_of(pilot)


async def test_a_turn_that_could_not_run_is_still_the_one_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = the_race()
    path = lesson.path("one-script")
    steps = tuple(replace(step, needs="lease_running") if step.do == "reap" else step for step in path.steps)
    needing = replace(lesson, paths=(replace(path, steps=steps),))
    async with lesson_open("one-script", lesson=needing) as (screen, pilot):
        await press(screen, pilot, "right", "right", "right")
        monkeypatch.setattr(Walker, "server_now_ms", lambda _: 2**60)
        await press(screen, pilot, "o")
        assert "next: step 4 · reaper: reap" in text_of(pilot)
        assert screen.scene is not None
        assert (screen.scene.taken, screen.scene.other) == (3, "worker")


@pytest.mark.parametrize("size", [WIDE, MEDIUM])
async def test_an_id_that_is_nowhere_does_not_hide_that_it_entered_nothing(size: tuple[int, int]) -> None:
    async with lesson_open("split-commands", size, lesson=the_race()) as (screen, pilot):
        await press(screen, pilot, *["right"] * 6)
        (line,) = [line for line in text_of(pilot).split("\n") if "▼" in line]
        assert "▼ ZREM: enters nothing " in line
        assert " nowhere 1: JOB0KHTO…LuC" in line
