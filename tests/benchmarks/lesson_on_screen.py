"""The lesson screen and the bare app, each on a swallowing terminal."""

from __future__ import annotations

from msgspec.structs import replace

from tests.benchmarks.bare_app import BareApp
from tests.benchmarks.painting import Painted, Screening
from visualizer.lesson import Lesson, find, load
from visualizer.machine import MACHINES
from visualizer.model import Step, Walk
from visualizer.perform import NAMED_STEPS
from visualizer.player import Player
from visualizer.tui.app import VisualizerApp
from visualizer.tui.screens.lesson import LessonScreen

LESSON = "states-as-locations"


def the_lesson() -> Lesson:
    """The first lesson, as it is."""
    return load(find(LESSON), MACHINES, NAMED_STEPS)


def long_lesson(steps: int) -> Lesson:
    """The first lesson's happy path, walked round and round for so many steps."""
    lesson = the_lesson()
    path = lesson.paths[0]
    once: tuple[Step, ...] = path.steps
    around = [once[number % len(once)] for number in range(steps)]
    return replace(lesson, paths=(replace(path, steps=tuple(around)),))


class LessonOnScreen(Screening):
    """A lesson's screen on an embedded Valkey."""

    def __init__(self, lesson: Lesson) -> None:
        super().__init__(VisualizerApp(lambda: (lesson,), lesson, engine_spec="valkey"))

    @property
    def screen(self) -> LessonScreen:
        screen = self.app.screen
        assert isinstance(screen, LessonScreen)
        return screen

    @property
    def player(self) -> Player:
        player = self.screen.player
        assert player is not None
        return player

    @property
    def walk(self) -> Walk | None:
        """What is drawn; None while a step runs."""
        scene = self.screen.scene
        return scene.walk if scene is not None and not scene.running else None

    async def opened(self) -> None:
        """Waits until the lesson is open on its engine."""
        await self.until(lambda: isinstance(self.app.screen, LessonScreen) and self.walk is not None)

    async def key(self, key: str, cursor: int) -> Painted:
        """Presses a key that brings the walk's cursor there."""
        return await self.press(key, lambda: self.walk is not None and self.walk.cursor == cursor)


def bare_presses(count: int) -> list[Painted]:
    """What as many key presses take in a bare app."""
    app = BareApp()
    screening = Screening(app)
    taken: list[Painted] = []

    async def pressed(_screening: Screening) -> None:
        await screening.until(lambda: app.is_running)
        for number in range(1, count + 1):
            taken.append(await screening.press("n", lambda wanted=number: app.count == wanted))  # type: ignore[misc]  # mypy does not infer a lambda's default

    screening.run(pressed)
    return taken
