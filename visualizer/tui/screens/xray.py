"""The x-ray screen: one script line by line, and what the script and every other client see meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen

from visualizer.actions import INSIDE
from visualizer.called import Called, NoXrayError
from visualizer.debugger import DebuggerError
from visualizer.engine import EngineError
from visualizer.look_inside import source_of, why_never
from visualizer.model import Frame, Machine
from visualizer.player import Player
from visualizer.trace import Trace, call_of
from visualizer.tui.screens import xray_actions
from visualizer.tui.screens.xray_view import XrayView
from visualizer.tui.widgets.bars import KeyBar
from visualizer.xray import Stop, Xray

_AFTERWARDS = "When the step has run, x shows the commands that its script issued."


class Inside(Struct, frozen=True):
    """What the screen draws. ``shown`` is the index of the stop under the cursor; ``frame`` is None for a step to come.

    ``trouble`` is a sentence where there is nothing (more) to look into, ``missed`` says that a line was run to and not
    reached. ``number`` is the step's,
    ``base`` begins the queue's keys.
    """

    number: int
    of: int
    path: str
    frame: Frame | None
    machine: Machine
    base: bytes
    called: Called | None = None
    job: bytes | None = None
    stops: tuple[Stop, ...] = ()
    shown: int = 0
    trace: Trace | None = None
    breakpoints: frozenset[int] = frozenset()
    chosen: int = 0
    trouble: str = ""
    missed: bool = False

    @property
    def stop(self) -> Stop | None:
        return self.stops[self.shown] if self.stops else None

    @property
    def at_edge(self) -> bool:
        return self.shown == len(self.stops) - 1


class Traced(Struct, frozen=True):
    """A whole run of one of the path's steps, for the lesson to mark its lines."""

    number: int
    trace: Trace


class XrayScreen(Screen[tuple[Traced, ...]]):
    """Looks into the steps of one walk; answers the whole runs that there were. Nothing of the lesson changes.

    ``frame`` is the one to begin with; None begins with the first step that there is to look into.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), f"act('{action.name}')", action.label, priority=True) for action in INSIDE
    ]

    class Looked(Message):
        """The thread is done: what is to be drawn now."""

        def __init__(self, inside: Inside) -> None:
            super().__init__()
            self.inside = inside

    inside: reactive[Inside | None] = reactive(None, init=False, repaint=False)

    def __init__(self, player: Player, frame: Frame | None) -> None:
        super().__init__()
        self._player = player
        # The frame that was asked for stands among them also where it ran no script: then that is said.
        self._steps: list[Frame | None] = [
            each for each in player.walk.frames if each is frame or (call_of(each) and each.of_path)
        ]
        if player.coming is not None:
            self._steps.append(None)
        self._at = self._steps.index(frame) if frame in self._steps else 0
        self.xray: Xray | None = None
        self._traced: dict[int, Trace] = {}
        self.busy = False
        self._leaving = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inside")

    def compose(self) -> ComposeResult:
        yield XrayView(self.applies)

    def on_mount(self) -> None:
        self._open()

    def on_unmount(self) -> None:
        # After whatever runs there: a preview that is just being made has its server only then.
        self._thread.submit(self._close)
        self._thread.shutdown(wait=True)

    # Working on the copy ----------------------------------------------------------------------------------------------

    def _open(self) -> None:
        player, frame = self._player, self._steps[self._at] if self._steps else None
        number = player.number_of(frame) if frame is not None else player.taken + 1
        fresh = Inside(number, len(player.path.steps), player.path.name, frame, player.machine, player.space.base)

        def opening() -> Inside:
            from redis.exceptions import RedisError  # imported late: the engine has loaded it by now

            self._close()
            try:
                xray = self.xray = Xray(source_of(player, frame))
            except NoXrayError as none:
                later = frame is None and why_never(player.engine)
                return replace(fresh, trouble=f"{none} {_AFTERWARDS}" if later else str(none))
            except (EngineError, RedisError) as failure:
                # The lesson's own engine is read for a step to come, and may be gone.
                return replace(fresh, trouble=str(player.engine.failure(failure, reading=True)))
            return self._now(replace(fresh, called=xray.called, job=xray.job))

        self._work(opening)

    def _work(self, job: Callable[[], Inside]) -> None:
        if self.busy:
            return
        self.busy = True
        self.run_worker(self._answer(job), exit_on_error=True)

    async def _answer(self, job: Callable[[], Inside]) -> None:
        looked = await asyncio.get_running_loop().run_in_executor(self._thread, job)
        self.busy = False
        self.post_message(self.Looked(looked))

    def _now(self, inside: Inside) -> Inside:
        """As the copy stands now, the newest stop in view."""
        xray = self.xray
        if xray is None:
            return inside
        stops = tuple(xray.stops)
        if xray.trace is not None:
            self._traced[inside.number] = xray.trace
        return replace(
            inside,
            stops=stops,
            shown=len(stops) - 1,
            trace=xray.trace,
            chosen=0,
            missed=False,
        )

    def run_on(self, go: Callable[[Xray], Stop], wanted: Callable[[Stop], bool] | None = None) -> None:
        """Lets the copy run on, and draws what it came to; says so where that is not a stop that was wanted."""
        inside, xray = self.inside, self.xray
        if inside is None or xray is None or inside.trouble:
            return

        def running() -> Inside:
            try:
                go(xray)
            except DebuggerError as failure:
                told = f"The preview broke off: {failure}. The lesson is untouched; esc goes back to it."
                xray.close()
                self.xray = None
                return replace(inside, trouble=told)
            now = self._now(inside)
            if wanted is not None and now.stop is not None and not wanted(now.stop):
                return replace(now, missed=True)
            return now

        self._work(running)

    def _close(self) -> None:
        xray, self.xray = self.xray, None
        if xray is not None:
            xray.close()

    def on_xray_screen_looked(self, event: Looked) -> None:
        self.inside = event.inside
        if event.inside.missed:
            told = "The script has ended without coming to that line again."
            self.notify(told, markup=False)
        if self._leaving:
            self.leave()

    def watch_inside(self, inside: Inside | None) -> None:
        if inside is not None:
            self.query_one(XrayView).show(inside)

    # Actions ----------------------------------------------------------------------------------------------------------

    def applies(self, name: str) -> bool:
        """Whether an action does something now."""
        return xray_actions.applies(self, name)

    @property
    def has_later(self) -> bool:
        """Whether a later step of the walk can be looked into."""
        return self._at < len(self._steps) - 1

    @property
    def has_earlier(self) -> bool:
        """Whether an earlier one can."""
        return self._at > 0

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        self.action_act(event.action)

    def action_act(self, name: str) -> None:
        if self.applies(name):
            xray_actions.DO[name](self)
        elif name in xray_actions.WHY_NOT:
            self.notify(xray_actions.WHY_NOT[name], markup=False)

    def turn(self, by: int) -> None:
        """Another step of the walk."""
        if not self.busy:
            self._at += by
            self._open()

    def leave(self) -> None:
        """Back to the lesson, with the whole runs there were; what is half run is run to its end for its lines.

        Asked for while something runs, it happens after that.
        """
        self._leaving = True
        if self.busy:
            return
        self.busy = True
        self.run_worker(self._leave(), exit_on_error=True)

    async def _leave(self) -> None:
        inside = self.inside

        def finishing() -> None:
            xray = self.xray
            if xray is not None and inside is not None and not inside.trouble:
                # Where the copy is gone there is no whole run, and so no line to mark.
                with contextlib.suppress(DebuggerError):
                    xray.to_end()
                self._now(inside)
            self._close()

        await asyncio.get_running_loop().run_in_executor(self._thread, finishing)
        # What was told here is about this screen, and would cover the lesson's.
        self.app.clear_notifications()
        self.dismiss(tuple(Traced(number, trace) for number, trace in self._traced.items()))
