"""The Textual app: themes, the command palette, and which screen is open."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from rich.segment import Segments
from rich.traceback import Traceback
from textual.app import App, SystemCommand
from textual.screen import Screen

from visualizer.actions import ACTIONS, sign
from visualizer.engine import EmbeddedServer, Engine, open_engine
from visualizer.lesson import Lesson
from visualizer.player import Player
from visualizer.tui.screens.lesson import LessonScreen
from visualizer.tui.themes import DARK, LIGHT, defaults_for

# By then the first frames are painted.
_COLLECTING_AFTER_SECONDS = 1.0

# What leaving may take once a signal has said so; far more than a server by URL needs to let go of its keys.
_LEAVING_SECONDS = 5.0


def _collect_again() -> None:
    """What the start has left stays for good, so the collector need not look at it again."""
    gc.freeze()
    gc.enable()


def _as_taught(lesson: Lesson) -> tuple[str, str, bool, str]:
    """The order in which lessons are listed: a machine's together, the leased one first, by the course; within it what
    needs lanes comes after what does not."""
    return ("" if lesson.machine == "leased" else lesson.machine, lesson.course, bool(lesson.groups), lesson.slug)


def _let_go_of_terminal() -> None:
    """What is still written goes nowhere instead of failing: the terminal is gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


class VisualizerApp(App[int]):
    """Opens the home screen, or one lesson at once."""

    TITLE = "visualizer"
    CSS_PATH = "visualizer.tcss"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-medium"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [
        (0, "-flat"),
        (9, "-low"),
        (22, "-tall"),
    ]

    def __init__(
        self,
        load_lessons: Callable[[], tuple[Lesson, ...]],
        opened: Lesson | None = None,
        *,
        path: str | None = None,
        engine_spec: str = "auto",
        queue: str | None = None,
        theme: str = DARK.name,
        take_over: bool = False,
        spawned: EmbeddedServer | None = None,
        engine: Engine | None = None,
        pace: float = 1.0,
    ) -> None:
        super().__init__()
        self._load_lessons = load_lessons
        self._lessons: tuple[Lesson, ...] | None = None
        self._opened = opened
        self._path = path
        self._engine_spec = engine_spec
        self._queue = queue
        self._take_over = take_over
        self._spawned = spawned
        self._engine = engine
        self.pace = pace
        # Sentences for the terminal after the screen is gone: keys that had to be left behind.
        self.last_words: list[str] = []
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        # Before the styles are read for the first time: set later, all of them would be read again.
        if theme in self.available_themes:
            self.set_reactive(VisualizerApp.theme, theme)
            self.stylesheet.set_variables(self.get_css_variables())

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """Every lesson there is, and the opened one where it is another; loaded when they are first asked for."""
        if self._lessons is None:
            lessons, opened = tuple(sorted(self._load_lessons(), key=_as_taught)), self._opened
            known = {lesson.file for lesson in lessons}
            self._lessons = lessons if opened is None or opened.file in known else (*lessons, opened)
        return self._lessons

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return defaults_for(self.current_theme)

    def on_mount(self) -> None:
        self.set_timer(_COLLECTING_AFTER_SECONDS, _collect_again)
        self._end_in_order()
        if self._opened is not None:
            self.open_lesson(self._opened, self._path)
        else:
            from visualizer.tui.screens.home import HomeScreen  # imported late: a lesson's first frame needs none

            self.push_screen(HomeScreen(self.lessons))

    def _end_in_order(self) -> None:
        """SIGTERM and SIGHUP leave like Quit does: the terminal is put right and no keys stay on a server."""
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and threading.current_thread() is threading.main_thread():
                with contextlib.suppress(NotImplementedError):  # an event loop on Windows has no signal handlers
                    asyncio.get_running_loop().add_signal_handler(number, self._ended_by, number)

    def _ended_by(self, number: int) -> None:
        # Textual's thread that writes to the terminal dies with it, and then leaving waits for that thread for ever.
        last = threading.Timer(_LEAVING_SECONDS, os._exit, (128 + number,))
        last.daemon = True
        last.start()
        if number == getattr(signal, "SIGHUP", None):
            _let_go_of_terminal()
        self.exit(128 + number)

    def open_lesson(self, lesson: Lesson, path: str | None = None) -> None:
        """Pushes a lesson's screen; its engine is opened by the screen's own thread."""
        self.push_screen(LessonScreen(lesson, path, self._open_player))

    def open_proof(self) -> None:
        """Pushes the screen of the proof; it runs on a private engine of its own."""
        from visualizer.tui.screens.prove import ProveScreen  # imported late: few ask for it

        self.push_screen(ProveScreen())

    def _fatal_error(self) -> None:
        """A traceback without the variables' values: they may hold the password of a server."""
        self.bell()
        traceback = Traceback(show_locals=False, width=None)
        self._exit_renderables.append(Segments(self.console.render(traceback, self.console.options)))
        self._close_messages_no_wait()

    def action_help_quit(self) -> None:
        """Ctrl+C: Textual would name a key with a modifier."""
        self.notify("q leaves the visualizer.", markup=False)

    def _open_player(self, lesson: Lesson) -> Player:
        spawned, self._spawned = self._spawned, None
        engine, self._engine = self._engine, None
        if engine is None:
            queue = lesson.queue if self._queue is None else self._queue
            engine = open_engine(self._engine_spec, queue=queue, take_over=self._take_over, spawned=spawned)
        try:
            return Player(lesson, engine, watch=True)
        except BaseException:
            engine.close()
            raise

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every action of ours by name, then Textual's own."""
        if isinstance(screen, LessonScreen):
            for action in ACTIONS:
                if action.name != "commands" and screen.applies(action.name):
                    title = f"{action.label.capitalize()} ({sign(action.keys[0])})"
                    yield SystemCommand(title, action.help, lambda name=action.name: screen.action_act(name))
        else:
            from visualizer.tui.screens.home import HomeScreen

            if isinstance(screen, HomeScreen):
                proof = next(action for action in ACTIONS if action.name == "prove")
                yield SystemCommand(f"{proof.label.capitalize()} ({sign(proof.keys[0])})", proof.help, self.open_proof)
        yield from super().get_system_commands(screen)


def run(
    load_lessons: Callable[[], tuple[Lesson, ...]],
    opened: Lesson | None,
    *,
    path: str | None = None,
    engine_spec: str = "auto",
    queue: str | None = None,
    theme: str | None = None,
    take_over: bool = False,
    spawned: EmbeddedServer | None = None,
    engine: Engine | None = None,
    pace: float = 1.0,
) -> int:
    """Opens the program; answers the exit code. ValueError names the themes where ``theme`` is none of them.

    ``engine`` is one that is open already, for the first lesson; ``spawned`` a private server started already.
    """
    app = VisualizerApp(
        load_lessons,
        opened,
        path=path,
        engine_spec=engine_spec,
        queue=queue,
        theme=theme or DARK.name,
        take_over=take_over,
        spawned=spawned,
        engine=engine,
        pace=pace,
    )
    if theme is not None and theme not in app.available_themes:
        raise ValueError(f"there is no theme {theme}; there are: {', '.join(sorted(app.available_themes))}")
    app.run()
    for sentence in app.last_words:
        print(sentence, file=sys.stderr)
    if spawned is not None:
        spawned.close()
    return app.return_code or 0
