"""The lesson screen: keys become steps on one worker thread; one handler turns what came back into one scene."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, cast

from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from visualizer.actions import ACTIONS
from visualizer.clock import duration
from visualizer.engine import EngineError, EngineGone
from visualizer.keyspace import QueueNameError
from visualizer.lesson import Lesson
from visualizer.machine import MACHINES
from visualizer.model import Frame, Walk, WireCall
from visualizer.picture import OVERDUE_TOLD_MS, picture
from visualizer.player import DeadlinePassedError, Player
from visualizer.readout import readout
from visualizer.script import load
from visualizer.spans import Line, Span
from visualizer.tui.scene import EngineLabel, Scene
from visualizer.tui.screens import lesson_actions
from visualizer.tui.widgets.bars import KeyBar, PathLine, TopLine
from visualizer.tui.widgets.board import Board
from visualizer.tui.widgets.lua_panel import LuaPanel
from visualizer.tui.widgets.readout_panel import ReadoutPanel
from visualizer.tui.widgets.text_panels import RowPanel, StoryPanel
from visualizer.visible import visible

if TYPE_CHECKING:
    from visualizer.tui.app import VisualizerApp

# A countdown that ends later than this does not tick: nothing on screen changes that fast.
_TICKING_MS = 60_000
_PANELS = ("story", "lua", "row", "readout")
# The panels that share one place on a small screen; the readout then has its own, or leads the story.
_SHARING = _PANELS[:3]
# Columns below which panels share one place, columns and lines below which the story's panel tells the readout too.
_SHARED_BELOW, _ONE_BELOW, _ONE_BELOW_LINES = 100, 60, 22


class LessonScreen(Screen[None]):
    """One lesson on one engine. ``scene`` is the only state that is drawn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            # Before the focused panel's own: → steps wherever the focus is.
            Binding(",".join(action.keys), f"act('{action.name}')", action.label, priority=True)
            for action in ACTIONS
        ),
    ]

    class Answered(Message):
        """The worker thread is done: the walk as it is now, and a sentence to tell, if any."""

        def __init__(self, player: Player, told: str) -> None:
            super().__init__()
            self.player = player
            self.told = told

    class Failed(Message):
        """The worker thread could not do it. ``gone``: the engine cannot be used any more."""

        def __init__(self, sentence: str, *, gone: bool) -> None:
            super().__init__()
            self.sentence = sentence
            self.gone = gone

    scene: reactive[Scene | None] = reactive(None, init=False)

    def __init__(self, lesson: Lesson, path: str | None, open_player: Callable[[Lesson], Player]) -> None:
        super().__init__()
        self.lesson = lesson
        self.player: Player | None = None
        self.autoplay: Timer | None = None
        self.seconds_a_step = 4.0
        self._open_player = open_player
        self._wanted_path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="walk")
        self._countdown: Timer | None = None
        self._read_at = monotonic()
        self._panel = "story"
        self._trouble = ""
        self._newest: tuple[Frame, ...] | None = None

    # Composing --------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield TopLine()
        yield PathLine()
        yield Board()
        yield ReadoutPanel(id="readout")
        with Horizontal(id="bottom"):
            yield StoryPanel(id="story")
            yield LuaPanel(id="lua")
            yield RowPanel(id="row")
        yield KeyBar(ACTIONS)

    def on_mount(self) -> None:
        self._countdown = self.set_interval(1, self._tick, pause=True)
        self._show_panel("story")
        path = self.lesson.path(self._wanted_path) if self._wanted_path else self.lesson.paths[0]
        self.scene = Scene(self.lesson, path, MACHINES[self.lesson.machine])
        self.open_engine()

    def on_unmount(self) -> None:
        if self.player is not None:
            self.player.leave()
        # After whatever runs there: a lesson that is just being opened has its engine only then.
        told = self._thread.submit(self._close_engine)
        self._thread.shutdown(wait=True)
        if told.result():
            cast("VisualizerApp", self.app).last_words.append(str(told.result()))

    def _close_engine(self) -> str | None:
        return self.player.engine.close() if self.player is not None else None

    # Working on the engine --------------------------------------------------------------------------------------------

    def open_engine(self) -> None:
        """Opens an engine and the path on it; what an engine before it left is closed first."""
        old, path = self.player, self.scene.path.name if self.scene else None

        def opened() -> str:
            if old is not None:
                old.engine.close()
            player = self._open_player(self.lesson)
            self.player, self._trouble = player, ""
            if path is not None and path != player.path.name:
                player.choose(path)
            return ""

        self.work("opening the lesson", opened)

    def work(self, name: str, job: Callable[[], str | Walk], until_ms: int | None = None) -> None:
        """Runs a job on the walk's thread; keys wait meanwhile. A job answers a sentence to tell, or its walk."""
        if self.scene is None or self.scene.running:
            return
        self.scene = replace(self.scene, running=name, until_ms=until_ms)
        self.run_worker(self._answer(job), exit_on_error=True)

    async def _answer(self, job: Callable[[], str | Walk]) -> None:
        try:
            told = await asyncio.get_running_loop().run_in_executor(self._thread, job)
        except DeadlinePassedError as late:
            self.post_message(self.Failed(_sentence(late), gone=False))
        except (EngineError, QueueNameError, OSError) as failure:
            self.post_message(self.Failed(_sentence(failure), gone=isinstance(failure, EngineGone)))
        except Exception as failure:
            known = lesson_actions.engine_failure(self.player, failure)
            if known is None:
                raise
            self.post_message(self.Failed(_sentence(known), gone=True))
        else:
            if self.player is not None:
                self.post_message(self.Answered(self.player, told if isinstance(told, str) else ""))

    def on_lesson_screen_answered(self, event: Answered) -> None:
        player, engine = event.player, event.player.engine
        prefix = player.space.base.decode("utf-8", "backslashreplace")
        newest = player.walk.frames[-1:]
        if newest != self._newest:
            self._newest, self._read_at = newest, monotonic()
        self.scene = Scene(
            self.lesson,
            player.path,
            player.machine,
            EngineLabel(engine.badge, engine.label, prefix),
            player.walk,
            player.shown_step,
            player.taken,
            trouble=self._trouble,
        )
        if event.told:
            self.notify(event.told, markup=False)

    def on_lesson_screen_failed(self, event: Failed) -> None:
        lesson_actions.stop_autoplay(self)
        if self.scene is None:
            return
        without_engine = self.scene.walk is None
        if event.gone or without_engine:
            self._trouble = event.sentence
        self.scene = replace(self.scene, running="", until_ms=None, trouble=self._trouble)
        self.notify(event.sentence, severity="error", timeout=8, markup=False)

    # Drawing ----------------------------------------------------------------------------------------------------------

    def watch_scene(self, scene: Scene | None) -> None:
        if scene is None:
            return
        waiting = "no engine" if scene.trouble else "starting the engine…"
        pace = cast("VisualizerApp", self.app).pace
        course = scene.lesson.course if pace == 1 else f"{scene.lesson.course}   pace {pace:g}"
        self.query_one(TopLine).show(scene.lesson.title, course, scene.engine, waiting)
        self._tick()
        lines = lines_of(scene)
        panel = self.query_one(ReadoutPanel)
        panel.show(lines)
        refused = scene.frame is not None and (scene.frame.outcome.refused is not None or bool(scene.frame.broken))
        panel.set_class(refused or bool(scene.trouble), "refused")
        self.query_one(StoryPanel).show(scene, lines if self.has_class("one-panel") else ())
        self.query_one(RowPanel).show(scene, self.player.space if self.player else None)
        self._show_script(scene)
        self.query_one(KeyBar).show(self.applies)
        if self._countdown is not None:
            (self._countdown.resume if self._ticks(scene) else self._countdown.pause)()

    def _tick(self) -> None:
        """Draws what depends on the clock: the board's countdowns, and how long a wait still takes."""
        scene = self.scene
        if scene is None:
            return
        now_ms = self._now_ms(scene)
        board = None
        if scene.shown is not None:
            board = picture(scene.machine, scene.shown, scene.frame, now_ms)
        self.query_one(Board).show(scene.machine, board)
        told = scene.running
        if scene.until_ms is not None and now_ms is not None:
            told = f"{scene.running}, {duration(max(scene.until_ms - now_ms, 0))}"
        elif self.autoplay is not None and not told:
            told = f"autoplay, {self.seconds_a_step:g} s a step"
        self.query_one(PathLine).show(scene, told)
        if self._countdown is not None and not self._ticks(scene):
            self._countdown.pause()

    def _now_ms(self, scene: Scene) -> float | None:
        """The server's clock now, by the last reading and our own monotonic clock; None while looking back."""
        if scene.walk is None or not scene.walk.at_end or scene.shown is None:
            return None
        return scene.shown.clock_ms + (monotonic() - self._read_at) * 1000

    def _ticks(self, scene: Scene) -> bool:
        now_ms = self._now_ms(scene)
        if now_ms is None or scene.shown is None:
            return False
        if scene.until_ms is not None:
            return True
        return any(
            member.score is not None and -OVERDUE_TOLD_MS - 1_000 < member.score - now_ms < _TICKING_MS
            for name, reading in scene.shown.places.items()
            if scene.machine.place(name).scored in ("deadline", "due")
            for member in reading.members
        )

    def _show_script(self, scene: Scene) -> None:
        panel = self.query_one(LuaPanel)
        frame = scene.frame
        if frame is None:
            panel.show(None, "lua", ("", "No script has run yet.", "", *_coming(scene)))
        elif frame.performed.script is not None:
            panel.show(load(frame.performed.script), f"{frame.performed.script}.lua")
        elif frame.kind == "commands":
            sent = [" ".join(visible(word, 40) for word in _words(call)) for call in frame.calls]
            panel.show(None, "no script: single commands", ("", *sent, "", "Between two of them, anyone may look."))
        else:
            panel.show(None, "no script", ("", "This step runs no script."))

    def _show_panel(self, name: str) -> None:
        """Which panel shows where they share one place, and has the focus where they do not."""
        self._panel = name
        if name in _SHARING:
            for panel in _SHARING:
                self.query_one(f"#{panel}", Widget).set_class(panel == name, "current")
        self.focused_panel.focus()
        self._label_panels()

    @property
    def focused_panel(self) -> Widget:
        """The panel that Tab has reached."""
        return self.query_one(f"#{self._panel}", Widget)

    def _label_panels(self) -> None:
        """Where panels share one place, the shown one names the others."""
        for name in _SHARING:
            others = " · ".join(other for other in _SHARING if other != name)
            told = f"tab: {others}" if self.has_class("shared") else ""
            self.query_one(f"#{name}", Widget).border_subtitle = Content(told)

    def next_panel(self) -> None:
        """Shows the next panel, or gives it the focus."""
        order = _SHARING if self.has_class("one-panel") else _PANELS
        at = order.index(self._panel) if self._panel in order else -1
        self._show_panel(order[(at + 1) % len(order)])

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width < _SHARED_BELOW or height < _ONE_BELOW_LINES, "shared")
        self.set_class(width < _ONE_BELOW or height < _ONE_BELOW_LINES, "one-panel")
        self._label_panels()
        self.watch_scene(self.scene)

    # Actions ----------------------------------------------------------------------------------------------------------

    def applies(self, name: str) -> bool:
        """Whether an action does something now."""
        return lesson_actions.applies(self, name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "act" and parameters:
            return self.applies(str(parameters[0]))
        return super().check_action(action, parameters)

    def action_act(self, name: str) -> None:
        """Does the action of that name from the table of actions."""
        if self.applies(name):
            lesson_actions.DO[name](self)

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        self.action_act(event.action)

    def on_board_place_clicked(self, event: Board.PlaceClicked) -> None:
        lesson_actions.explore(self, state=event.place)


def _coming(scene: Scene) -> tuple[str, ...]:
    """What the next key will run, for a panel that has no script to show yet."""
    step = scene.next_step
    verb = scene.machine.verbs.get(step.do) if step else None
    return (f"The next key runs {verb.script}.lua.",) if verb else ()


def lines_of(scene: Scene) -> tuple[Line, ...]:
    """The readout of a scene; at the start, what there is before any step."""
    if scene.trouble:
        sentence = Line("", (Span(scene.trouble, "refused"),))
        if scene.walk is None:
            return (sentence, Line("", (Span("r tries again, q leaves."),)))
        kept = Line("", (Span("What was walked is kept: ← looks back. r starts the path again on a new engine."),))
        return (sentence, kept, *(readout(scene.machine, scene.frame, scene.earlier) if scene.frame else ()))
    if scene.frame is not None:
        return readout(scene.machine, scene.frame, scene.earlier)
    if scene.walk is None:
        return (Line("", (Span("The engine starts.", "quiet"),)),)
    return (
        Line("", (Span("Nothing has run yet.", "strong"), Span("  Press → for the first step."))),
        Line("path", (Span(visible(scene.path.title)),)),
    )


def _sentence(failure: BaseException) -> str:
    text = str(failure)
    return text[:1].upper() + text[1:]


def _words(call: WireCall) -> tuple[str | bytes, ...]:
    return (call.command, *call.keys, *call.args)
