"""The lesson screen: keys become steps on one worker thread; one handler turns what came back into one scene."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, cast

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer

from visualizer.actions import ACTIONS
from visualizer.engine import EngineError, EngineGone
from visualizer.keyspace import QueueNameError
from visualizer.lesson import Lesson
from visualizer.model import Walk
from visualizer.player import DeadlinePassedError, Player, machine_of
from visualizer.race import NO_CHOICE
from visualizer.trace import Trace
from visualizer.tui.scene import EngineLabel, Scene, Surveyed
from visualizer.tui.screens import autoplay, lesson_actions
from visualizer.tui.screens.lesson_view import LessonView
from visualizer.tui.surveying import survey_of
from visualizer.tui.widgets.bars import KeyBar
from visualizer.tui.widgets.board import Board

if TYPE_CHECKING:
    from visualizer.tui.app import VisualizerApp


_TOLD_AFTER_SECONDS = 0.1


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
        """The worker thread is done: the walk as it is now, a sentence to tell if any, and what a scan found."""

        def __init__(self, player: Player, told: str, surveyed: Surveyed | None = None) -> None:
            super().__init__()
            self.player = player
            self.told = told
            self.surveyed = surveyed

    class Failed(Message):
        """The worker thread could not do it. ``gone``: the engine cannot be used any more."""

        def __init__(self, sentence: str, *, gone: bool) -> None:
            super().__init__()
            self.sentence = sentence
            self.gone = gone

    # The view repaints what differs; the screen as a whole need not.
    scene: reactive[Scene | None] = reactive(None, init=False, repaint=False)

    def __init__(self, lesson: Lesson, path: str | None, open_player: Callable[[Lesson], Player]) -> None:
        super().__init__()
        self.lesson = lesson
        self.player: Player | None = None
        self.autoplay: Timer | None = None
        self.seconds_a_step = 4.0
        # What the debugger saw of a path's steps, by the path's name and the step's number.
        self.traces: dict[tuple[str, int], Trace] = {}
        self._open_player = open_player
        self._wanted_path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="walk")
        self._trouble = ""

    # Composing --------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield LessonView(self.applies)

    def on_mount(self) -> None:
        path = self.lesson.path(self._wanted_path) if self._wanted_path else self.lesson.paths[0]
        pace = cast("VisualizerApp", self.app).pace
        self.scene = Scene(self.lesson, path, machine_of(self.lesson), pace=pace)
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
        running = replace(self.scene, running=name, until_ms=until_ms)
        self.set_reactive(LessonScreen.scene, running)
        # Most steps are done before anyone could read that they run: it is drawn only for those that take longer.
        self.set_timer(_TOLD_AFTER_SECONDS, lambda: self._tell_running(running))
        self.run_worker(self._answer(job), exit_on_error=True)

    def _tell_running(self, running: Scene) -> None:
        if self.scene is running:
            self.watch_scene(running)

    async def _answer(self, job: Callable[[], str | Walk]) -> None:
        def working() -> tuple[str, Surveyed | None]:
            told = job()
            return told if isinstance(told, str) else "", survey_of(self.player) if self.player else None

        try:
            told, surveyed = await asyncio.get_running_loop().run_in_executor(self._thread, working)
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
                self.post_message(self.Answered(self.player, told, surveyed))

    def on_lesson_screen_answered(self, event: Answered) -> None:
        player, engine = event.player, event.player.engine
        prefix = player.space.base.decode("utf-8", "backslashreplace")
        if self.scene is None:
            return
        fresh = self.scene.walk is None or self.scene.walk.frames is not player.walk.frames
        surveyed = event.surveyed if fresh else None
        self.scene = replace(
            self.scene,
            path=player.path,
            engine=EngineLabel(engine.badge, engine.label, prefix),
            walk=player.walk,
            step=player.shown_step,
            taken=player.taken,
            read_at=monotonic() if fresh else self.scene.read_at,
            found=surveyed.found if surveyed else {} if fresh else self.scene.found,
            surveyed=surveyed.amiss if surveyed else "" if fresh else self.scene.surveyed,
            running="",
            until_ms=None,
            trouble=self._trouble,
            unwatched=engine.may("watch") or "",
            real_locks=player.real_locks,
            trace=self.traces.get((player.path.name, player.shown_step)),
            turns=player.turns,
            other=player.other,
        )
        if event.told:
            self.notify(event.told, markup=False)

    def on_lesson_screen_failed(self, event: Failed) -> None:
        autoplay.stop(self)
        if self.scene is None:
            return
        if event.gone or self.scene.walk is None:
            self._trouble = event.sentence
        else:
            self.notify(event.sentence, severity="error", timeout=8, markup=False)
        # What ran before it failed is shown: a path that was replayed, say.
        shown, player = self.scene, self.player
        if player is not None and not event.gone:
            shown = replace(shown, path=player.path, walk=player.walk, turns=player.turns, other=player.other)
        self.scene = replace(shown, running="", until_ms=None, trouble=self._trouble)

    def watch_scene(self, scene: Scene | None) -> None:
        if scene is not None:
            self.query_one(LessonView).show(scene)

    # Actions ----------------------------------------------------------------------------------------------------------

    def applies(self, name: str) -> bool:
        """Whether an action does something now."""
        return lesson_actions.applies(self, name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "act" and parameters:
            name = str(parameters[0])
            return self.applies(name) or bool(self._why_not(name))
        return super().check_action(action, parameters)

    def action_act(self, name: str) -> None:
        """Does the action of that name from the table of actions."""
        if self.applies(name):
            lesson_actions.DO[name](self)
        elif why := self._why_not(name):
            self.notify(why, markup=False)

    def _why_not(self, name: str) -> str:
        """Why another actor cannot run next here, as a sentence; empty where a key has nothing to say."""
        scene = self.scene
        if name != "other" or scene is None or scene.walk is None or scene.running or scene.trouble:
            return ""
        if scene.walk.at_end or scene.other is None:
            return NO_CHOICE
        if scene.next_step is not None and scene.next_step.turn:
            return "You are looking back: w rewinds to here, then o chooses."
        return "You are looking back: e goes to the newest frame, where o chooses."

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        self.action_act(event.action)

    def on_board_place_clicked(self, event: Board.PlaceClicked) -> None:
        lesson_actions.explore(self, state=event.place)


def _sentence(failure: BaseException) -> str:
    text = str(failure)
    return text[:1].upper() + text[1:]
