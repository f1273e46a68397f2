"""Select a state or a transition: a fresh job on a throw-away engine shows it; the walk is not touched."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from visualizer.actions import ACTIONS, Action
from visualizer.engine import Engine
from visualizer.explore import Explorer
from visualizer.lock_view import locks_of
from visualizer.model import Frame, Machine
from visualizer.picture import picture
from visualizer.readout import readout
from visualizer.script import load
from visualizer.spans import Line, Span
from visualizer.tui.screens.choice import HelpScreen
from visualizer.tui.widgets.bars import KeyBar, TopLine
from visualizer.tui.widgets.board import Board
from visualizer.tui.widgets.lua_panel import LuaPanel
from visualizer.tui.widgets.readout_panel import ReadoutPanel

# Below that many columns, or lines, the list stands above the answer.
_STACKED_BELOW, _STACKED_BELOW_LINES = 110, 22
_HERE = {"help", "quit"}
_LEAVE = Action("leave", ("escape",), "back", "Leave; the walk is as it was.", 0, "choose")
_OTHER = Action("other", ("tab",), "states, transitions", "Switch between states and transitions.", 3, "choose")


class ExploreScreen(Screen[None]):
    """A list on the left, the answer on the right; moving in the list runs the scripts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,left,b", "leave", "leave"),
        Binding("q", "app.quit", "quit"),
        Binding("question_mark,h", "help", "help"),
        Binding("tab", "other", "other", priority=True),
        Binding("pagedown,d", "scroll(1)", "scroll the readout"),
        Binding("pageup,u", "scroll(-1)", "scroll the readout"),
    ]

    class Ran(Message):
        """The scripts of one choice ran on the throw-away engine."""

        def __init__(self, name: str, engine: str, frame: Frame, earlier: tuple[Frame, ...]) -> None:
            super().__init__()
            self.name = name
            self.engine = engine
            self.frame = frame
            self.earlier = earlier

    def __init__(self, machine: Machine, engine: Engine, state: str | None, *, transitions: bool) -> None:
        super().__init__()
        self._machine = machine
        self._explorer = Explorer(engine, machine)
        self._transitions = transitions
        self._first = state
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="explore")
        self._latest = ""

    def compose(self) -> ComposeResult:
        yield TopLine()
        with Horizontal(id="explore"):
            yield OptionList()
            with Vertical(id="explore-result"):
                yield Board()
                yield ReadoutPanel()
                yield LuaPanel()
        yield KeyBar([_LEAVE, _OTHER, *(action for action in ACTIONS if action.name in _HERE)])

    def on_mount(self) -> None:
        self._fill()

    def on_unmount(self) -> None:
        self._thread.submit(self._explorer.close)
        self._thread.shutdown(wait=True)

    def _names(self) -> list[str]:
        return list(self._machine.shows if self._transitions else self._machine.starts)

    def _fill(self) -> None:
        title = "select a transition" if self._transitions else "select a state"
        self.query_one(TopLine).show(title, "on a throw-away engine: your walk is not touched", None)
        options = self.query_one(OptionList)
        options.border_title = Content(title)
        options.clear_options()
        names = self._names()
        options.add_options([Option(Content(name)) for name in names])
        options.highlighted = names.index(self._first) if self._first in names else 0
        self._first = None
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        names = self._names()
        if event.option_index < len(names):
            self._latest = names[event.option_index]
            self.run_worker(self._run(self._latest, transition=self._transitions))

    async def _run(self, name: str, *, transition: bool) -> None:
        def run() -> Explored | None:
            if name != self._latest:
                return None  # the learner has moved on: only the newest choice runs
            if transition:
                frame, earlier = self._explorer.transition(name)
            else:
                frames = self._explorer.state(name).frames
                frame, earlier = frames[-1], frames[:-1]
            return frame, earlier

        from visualizer.engine import EngineError

        try:
            found = await asyncio.get_running_loop().run_in_executor(self._thread, run)
        except EngineError as failure:
            self.notify(str(failure), severity="error", markup=False)
            return
        if found is not None:
            self.post_message(self.Ran(name, self._explorer.engine_name, *found))

    def on_explore_screen_ran(self, event: Ran) -> None:
        self.query_one(TopLine).show(
            "select a transition" if self._transitions else "select a state",
            f"on {event.engine}: your walk is not touched",
            None,
        )
        self.query_one(ReadoutPanel).border_title = Content(f"readout · on {event.engine}")
        frame = event.frame
        frames = (*event.earlier, frame)
        locks = locks_of(self._machine, frame.after, frames)
        self.query_one(Board).show(self._machine, picture(self._machine, frame.after, frame), locks)
        lines = readout(self._machine, frame, event.earlier)
        if not self._transitions:
            place = self._machine.place(event.name)
            row = f"the row says {place.state}" if place.state else "the row has no state field"
            told = Span(f" holds the id: {place.order}; {row}.")
            lines = (Line("", (Span(event.name, "entered"), told, Span(_by(frame), "aside"))), *lines)
        self.query_one(ReadoutPanel).show(lines)
        script = frame.performed.script
        self.query_one(LuaPanel).show(load(script) if script else None, f"{script}.lua" if script else "no script")

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        {"leave": self.action_leave, "other": self.action_other, "help": self.action_help}.get(
            event.action, self.app.exit
        )()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_other(self) -> None:
        self._transitions = not self._transitions
        self._fill()

    def action_scroll(self, way: int) -> None:
        panel = self.query_one(ReadoutPanel)
        (panel.scroll_page_down if way > 0 else panel.scroll_page_up)(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < _STACKED_BELOW or event.size.height < _STACKED_BELOW_LINES, "stacked")

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())


Explored = tuple[Frame, tuple[Frame, ...]]


def _by(frame: Frame) -> str:
    return f" It came here by {frame.step.do}." if frame.step else ""
