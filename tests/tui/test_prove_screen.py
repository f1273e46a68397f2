"""The screen of the proof under a pilot: where it opens, what it shows, and that leaving it ends everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from tests.engine.serving import eventually, needs_server, running
from tests.prove.few import few
from tests.tui.driving import MEDIUM, SMALL, WIDE, lesson_open, text_of, the_lesson, until
from tests.tui.test_sizes import SIZES
from visualizer.prove.proving import NEEDS_VALKEY, Proof
from visualizer.tui.app import VisualizerApp
from visualizer.tui.screens import prove
from visualizer.tui.screens.home import HomeScreen
from visualizer.tui.screens.lesson import LessonScreen
from visualizer.tui.screens.prove import ProveScreen

__all__ = ["few"]


@asynccontextmanager
async def home_open(size: tuple[int, int] = WIDE) -> AsyncIterator[Pilot[int]]:
    lesson = the_lesson()
    app = VisualizerApp(lambda: (lesson,), engine_spec="fakeredis")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        yield pilot


@asynccontextmanager
async def proof_open(seconds: float, size: tuple[int, int] = WIDE) -> AsyncIterator[tuple[ProveScreen, Pilot[int]]]:
    async with home_open(size) as pilot:
        screen = ProveScreen(seconds)
        await pilot.app.push_screen(screen)
        await pilot.pause()
        yield screen, pilot


async def counted(screen: ProveScreen) -> None:
    """Waits until the run has ended; it waits for processes, so for longer than a key takes."""
    for _ in range(10_000):
        if not screen.running:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the proof did not end")


async def test_d_opens_it_at_home_and_in_a_lesson_and_esc_leaves_it() -> None:
    async with home_open() as pilot:
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProveScreen))
        await pilot.pause()
        assert "Enter runs it for 10 seconds." in text_of(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, HomeScreen))
    async with lesson_open() as (screen, pilot):
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProveScreen))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert isinstance(screen, LessonScreen)


async def test_the_command_palette_opens_it_too() -> None:
    async with home_open() as pilot:
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
        await pilot.press(*"Proof")
        await until(pilot, lambda: "Proof (d)" in text_of(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProveScreen))


@needs_server
@pytest.mark.usefixtures("few")
async def test_enter_runs_it_and_the_columns_fill() -> None:
    async with proof_open(0.5, (120, 60)) as (screen, pilot):
        await pilot.press("enter")
        assert screen.running
        await pilot.press("enter")
        await counted(screen)
        await pilot.pause()
        tally = screen.latest
        assert tally is not None
        assert (tally.ended, tally.faults) == ("done", ())
        shown = text_of(pilot)
        readings = tally.read("scripted").readings
        for words in (
            *(f"{readings:,} readings by 1 observer", "no law was broken.", f"seed {tally.seed}"),
            *("━ scripted ━", "━ naive ━", "─ odd but accepted ─", "0 break a law", "refused that had to be"),
            *("separate breaches", "the naive queue, in detail", "Harmful orders of two actors"),
        ):
            assert words in shown


@needs_server
@pytest.mark.usefixtures("few")
async def test_leaving_in_the_midst_of_it_ends_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Proof] = []
    made = Proof.__init__

    def noted(self: Proof, *given: object) -> None:
        made(self, *given)  # type: ignore[arg-type]  # passed on as they came
        started.append(self)

    monkeypatch.setattr(Proof, "__init__", noted)
    async with proof_open(20.0) as (screen, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: screen.latest is not None and screen.latest.elapsed > 0)
        shown = text_of(pilot)
        assert "░" in shown
        assert "esc stop and leave" in shown
        assert "enter start" not in shown
        (proof,) = started
        pids = [member.pid for member in proof._crew._members]
        assert all(map(running, pids))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, HomeScreen))
        eventually(lambda: not any(map(running, pids)), "every process is gone")
        assert proof.tally.ended == "interrupted"
        assert not proof._server_lives()


async def test_the_question_mark_tells_about_the_proof_and_closes_again() -> None:
    async with proof_open(0.5) as (screen, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: "separate breaches" in text_of(pilot))
        assert "Runs the proof, also once more." in text_of(pilot)
        assert "rewind" not in text_of(pilot), "a lesson's keys are not the proof's"
        await pilot.press("question_mark")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert "enter start  esc back" in text_of(pilot)


async def test_without_a_valkey_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "server_binary", lambda: None)
    async with proof_open(0.5) as (screen, pilot):
        assert NEEDS_VALKEY in " ".join(text_of(pilot).split())
        await pilot.press("enter")
        await pilot.pause()
        assert not screen.running


async def test_any_size_shows_a_finished_proof() -> None:
    from tests.prove.test_counts import WELL

    async with proof_open(0.5, MEDIUM) as (screen, pilot):
        screen.post_message(screen.Counted(WELL))
        await until(pilot, lambda: screen.latest is WELL)
        for width, height in (*SIZES, SMALL, *reversed(SIZES)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            lines = text_of(pilot).split("\n")
            assert len(lines) == height
            assert all(len(line) <= width for line in lines)
        await pilot.resize_terminal(*SMALL)
        await pilot.pause()
        await pilot.pause()
        assert "━ scripted ━" in text_of(pilot)
        assert "━ naive ━" not in text_of(pilot), "they stand above each other"
        screen.query_one("#prove").scroll_to_widget(screen.query_one("#prove-naive"), animate=False)
        await until(pilot, lambda: "━ naive ━" in text_of(pilot))
        assert "? help" in text_of(pilot).split("\n")[-1]
