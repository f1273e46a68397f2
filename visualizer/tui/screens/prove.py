"""The screen of the proof: three columns that fill while many processes work, and beneath them what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from visualizer.actions import ACTIONS, Action
from visualizer.engine import EngineError, open_engine
from visualizer.engine.embedded import server_binary
from visualizer.prove import findings, telling, wording
from visualizer.prove.counts import Column, Tally
from visualizer.prove.link import GONE
from visualizer.prove.numbers import any_seed
from visualizer.prove.proving import NEEDS_VALKEY, QUEUE, Proof
from visualizer.spans import BROKEN, QUIET, STRONG, Line, Span
from visualizer.tui.screens.choice import PageScreen
from visualizer.tui.widgets.bars import KeyBar, TopLine
from visualizer.tui.widgets.readout_panel import content_of

SECONDS = 10.0
# Below that many columns the three stand above each other.
_STACKED_BELOW = 72
_HERE = {"help", "quit"}
_START = Action("start", ("enter",), "start", "Run the proof.", 2, "walk")
_LEAVE = Action("leave", ("escape",), "back", "Leave; a proof that runs is ended.", 3, "choose")
_STOP = Action("stop", ("escape",), "stop and leave", "End the proof that runs, and leave.", 3, "choose")

_HELP = (
    ("enter", "Runs the proof, also once more."),
    ("esc ← b", "Leaves. A proof that runs is ended, and nothing of it stays."),
    ("↑ ↓", "Scroll. Beneath the columns stand a broken reading, every order of two actors, and each odd call."),
    ("q", "Ends the program."),
    (
        "readings",
        "One reading takes every place and row in one round trip, and is judged by each law that a single reading "
        "can break. The scripted queue gets the most of them, since any one could refute it. The naive queue needs "
        "few: it has one observer, which rests a little after each reading.",
    ),
    (
        "separate breaches",
        "An id that breaks a law, from the first reading that shows it to the next that does not. A "
        "breach that nobody mends is met in every reading, so the broken readings alone do not say how many breaches "
        "there were. Never healed are those that are left when all workers have stopped.",
    ),
    (
        "alike, and not",
        "Both queues have as many workers, which rest as long between their turns. Scripted workers "
        "make calls of every kind; naive ones enqueue, claim, complete and reap. A worker that dies has claimed a job "
        "and does nothing more with it. Both make calls that have to be refused.",
    ),
    (
        "odd but accepted",
        "Scripts do accept these calls. Some break laws and some do not; a careful caller relies on none "
        "of them, since what they do depends on what others did meanwhile.",
    ),
    (
        "every order",
        "As separate commands, a completion and a reap are a few each; as scripts, one each. Every order in which they "
        "can come runs by itself, and what is read at the end is judged.",
    ),
    ("seed", telling.HONEST),
)

_ABOUT = (
    "Do the laws hold while many work at once? Worker processes drive jobs through random transitions, and observer "
    "processes read every place in one round trip, as fast as they can, and judge what they read.",
    "The scripted queue does each transition in one script. The naive queue does the four basic ones (enqueue, claim, "
    "complete, reap) in separate commands, with as many workers; in both a worker now and then dies after a claim. On "
    "the third queue, calls are made that scripts accept, though no careful caller relies on them.",
    "Before they start, every order of two actors' commands is run, one by one. All of it happens on a private Valkey "
    "of its own: your lesson is not touched.",
)


class _ProofHelp(PageScreen):
    """What the proof does and what its words mean; the key that opens it closes it too."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,h", "leave", "leave")]


class ProveScreen(Screen[None]):
    """Enter runs the proof; leaving ends it. ``latest`` is what has been counted, None before the first start."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "start", priority=True),
        Binding("escape,left,b", "leave", "leave"),
        Binding("q", "app.quit", "quit"),
        Binding("question_mark,h", "help", "help"),
    ]

    class Counted(Message):
        """The counts as they stand."""

        def __init__(self, tally: Tally) -> None:
            super().__init__()
            self.tally = tally

    def __init__(self, seconds: float = SECONDS) -> None:
        super().__init__()
        self.latest: Tally | None = None
        self.running = False
        self._seconds = seconds
        self._proof: Proof | None = None
        self._left = False
        self._trouble = ""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="proof")

    def compose(self) -> ComposeResult:
        yield TopLine()
        with VerticalScroll(id="prove"):
            yield Static(id="prove-head", markup=False)
            with Horizontal(id="prove-columns"):
                for name in telling.TITLES:
                    yield Static(id=f"prove-{name}", classes="prove-column", markup=False)
            yield Static(id="prove-found", markup=False)
        yield KeyBar([_START, _LEAVE, _STOP, *(action for action in ACTIONS if action.name in _HERE)])

    def on_mount(self) -> None:
        self.query_one(TopLine).show("the proof", "the leased machine under load", None)
        for name, (title, _) in telling.TITLES.items():
            self.query_one(f"#prove-{name}", Static).border_title = Content(title)
        self.query_one(KeyBar).show(self._applies, self._never())
        self.query_one("#prove").focus()
        if server_binary() is None:
            self._trouble = NEEDS_VALKEY
        self._redraw()

    def on_unmount(self) -> None:
        self._left = True
        if self._proof is not None:
            self._proof.stop()
        self._thread.shutdown(wait=True)

    # Running ----------------------------------------------------------------------------------------------------------

    def action_start(self) -> None:
        """Runs the proof, also once more; nothing while one runs."""
        if self.running or server_binary() is None:
            return
        self.running, self.latest, self._trouble = True, None, ""
        self.query_one("#prove").scroll_home(animate=False)
        self._redraw()
        self.run_worker(self._run())

    async def _run(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._prove)
        except (EngineError, *GONE) as failure:
            self._trouble = str(failure)
        self.running = False
        self._redraw()

    def _prove(self) -> None:
        """On the thread: opens the engine, runs the proof on it, closes the engine."""
        engine = open_engine("valkey", queue=QUEUE)
        try:
            self._proof = Proof(engine, self._seconds, any_seed())
            if self._left:
                self._proof.stop()
            self._proof.run(self._tell)
        finally:
            self._proof = None
            engine.close()

    def _tell(self, tally: Tally) -> None:
        if not self._left:
            self.post_message(self.Counted(tally))

    def on_prove_screen_counted(self, event: Counted) -> None:
        self.latest = event.tally
        self._redraw()

    # Showing ----------------------------------------------------------------------------------------------------------

    def _redraw(self) -> None:
        if self._left or not self.is_mounted:
            return
        self.query_one(KeyBar).show(self._applies, self._never())
        tally = self.latest
        columns = self.query_one("#prove-columns")
        columns.display = tally is not None
        self._put("#prove-head", self._head(tally))
        self._put("#prove-found", _found(tally) if tally else [])
        if tally is not None:
            for name in telling.TITLES:
                self._put(f"#prove-{name}", _column(tally, name))

    def _head(self, tally: Tally | None) -> Sequence[Line]:
        trouble = [_line(self._trouble, BROKEN)] if self._trouble else []
        if tally is None and self.running:
            return [_line("The private Valkey starts.", QUIET)]
        if tally is None:
            about = [line for text in _ABOUT for line in (_line(text), _line(""))]
            start = [] if server_binary() is None else [_line(f"Enter runs it for {self._seconds:g} seconds.", STRONG)]
            return [*trouble, *about, *start]
        width = max(self.size.width - 8, 0)
        bar = [_line(telling.bar(tally, min(width, 60)), QUIET)] if tally.ended == "running" else []
        waiting = [_line("The processes start.", QUIET)] if self.running and not tally.elapsed else []
        return [telling.head(tally), *bar, *waiting, *trouble, *telling.verdict(tally)]

    def _put(self, selector: str, lines: Sequence[Line]) -> None:
        panel = self.query_one(selector, Static)
        width = panel.content_size.width or self.size.width
        folded = [part for line in lines for part in wording.folded(line, width)]
        panel.update(Content("\n").join([content_of(line, 10_000) for line in folded]))

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < _STACKED_BELOW, "stacked")
        self.call_after_refresh(self._redraw)

    # Keys -------------------------------------------------------------------------------------------------------------

    def _applies(self, name: str) -> bool:
        return name != "start" or not (self.running or server_binary() is None)

    def _never(self) -> frozenset[str]:
        """What takes no room in the footer: while a proof runs there is nothing to start, else nothing to stop."""
        return frozenset({"start", "leave"} if self.running else {"stop"})

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        {
            "start": self.action_start,
            "leave": self.action_leave,
            "stop": self.action_leave,
            "help": self.action_help,
        }.get(event.action, self.app.exit)()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_help(self) -> None:
        self.app.push_screen(_ProofHelp("the proof", _HELP))


def _line(text: str, role: str = "plain") -> Line:
    return Line("", (Span(text, role),))


def _column(tally: Tally, name: Column) -> list[Line]:
    about = _line(telling.TITLES[name][1], QUIET)
    return [about, *telling.column(tally, name), *telling.laws(tally, name)]


def _found(tally: Tally) -> list[Line]:
    """A broken reading; what else was counted of the queues; every order of two actors; the odd calls and why."""
    lines: list[Line] = []
    for name in ("scripted", "naive"):
        details = telling.details(tally, name)
        lines += [_line(f"the {name} queue, in detail", STRONG), *details, _line("")] if details else []
    for title, told in findings.found(tally):
        lines += [_line(title, STRONG), *told, _line("")]
    return [*lines, _line(telling.JUDGED, QUIET), _line(telling.HONEST, QUIET)]
