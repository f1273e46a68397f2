"""The regions of the x-ray screen: draws one stop, and knows which panel has the focus."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from visualizer.actions import INSIDE
from visualizer.caller import ErrorReply
from visualizer.clock import duration
from visualizer.spans import Line, Span
from visualizer.trace import plain_error, went_another_way
from visualizer.tui.widgets.bars import KeyBar, TitleLine
from visualizer.tui.widgets.lines_panel import LinesPanel
from visualizer.tui.widgets.lua_panel import LuaPanel, Marks
from visualizer.visible import visible
from visualizer.wire_log import issued_lines
from visualizer.xray_lines import command_lines, has_written, local_lines, seen_lines, standing, where

if TYPE_CHECKING:
    from visualizer.tui.screens.xray import Inside

_PANELS = ("xray-lua", "locals", "commands", "seen-inside", "seen-outside")
# Columns and lines below which one panel has the place of all, and the two views are a line each.
_ONE_BELOW, _ONE_BELOW_LINES = 70, 20
# Lines below which the commands and the views give way to the script.
_SHORT_BELOW_LINES = 30
# What there is to do where no script is to be seen.
_WITHOUT_A_SCRIPT = frozenset({"later", "earlier", "leave", "help", "quit"})
_STANDING_ROWS = 6
# A clock that runs on by less says nothing to anyone.
_TOLD_FROM_MS = 1_000


class XrayView(Vertical):
    """Everything between the edges of the x-ray screen. It holds no state but what it draws."""

    def __init__(self, applies: Callable[[str], bool]) -> None:
        super().__init__()
        self._applies = applies
        self._inside: Inside | None = None
        self._panel = _PANELS[0]

    def compose(self) -> ComposeResult:
        yield TitleLine()
        yield LinesPanel(id="standing")
        with Horizontal(id="upper"):
            yield LuaPanel(id="xray-lua")
            yield LinesPanel("locals", id="locals")
        yield LinesPanel("commands so far", id="commands")
        with Horizontal(id="views"):
            yield LinesPanel("as the script sees it", id="seen-inside")
            yield LinesPanel("as every other client sees it", id="seen-outside")
        yield LinesPanel(id="both")
        yield KeyBar(INSIDE)

    def on_mount(self) -> None:
        self.query_one(LuaPanel).unfold()
        self.query_one("#standing", LinesPanel).can_focus = False
        self.query_one("#both", LinesPanel).can_focus = False
        self.query_one(TitleLine).show((("inside", "$quiet"),), ())
        self._show_panel(_PANELS[0])

    # Drawing ----------------------------------------------------------------------------------------------------------

    def show(self, inside: Inside) -> None:
        """Draws it; each region repaints only what differs."""
        self._inside = inside
        script = inside.called.script if inside.called else None
        did = "has run" if inside.frame is not None else "about to run"
        name = script.name if script else inside.frame.performed.script if inside.frame else None
        title = visible(f"{name}.lua" if name else "inside")
        preview = () if inside.trouble else (("PREVIEW ", "bold $now"),)
        self.query_one(TitleLine).show(
            (
                *preview,
                (f"inside {title}" if name else "inside", "bold $strong"),
                (f"   step {inside.number} of {inside.of} · {visible(inside.path)} · {did}", ""),
            ),
            () if inside.trouble else (("on a copy: the lesson is unchanged", "$quiet"),),
        )
        standing = self.query_one("#standing", LinesPanel)
        standing.show(self._standing(inside), "")
        # The end has a verdict to tell as well: it is whole, whatever it takes from the script.
        rows = min(max(standing.row_count, 2), _STANDING_ROWS)
        if not inside.trouble and standing.styles.height is not None and standing.styles.height.value != rows:
            standing.styles.height = rows
        stop, called = inside.stop, inside.called
        if stop is not None and called is not None and script is not None:
            self.screen.set_class(False, "nothing")
            self.screen.set_class(False, "issued-only")
            trace = inside.trace if stop.ended else None
            failed = trace.error_line if trace is not None else 0
            error = (
                plain_error(trace.reply.text)
                if failed and trace is not None and isinstance(trace.reply, ErrorReply)
                else ""
            )
            ran = frozenset(each.ran_line for each in inside.stops[: inside.shown + 1]) - {0}
            eye = inside.chosen or stop.line or stop.ran_line
            marks = Marks(
                ran, stop.line, inside.chosen, inside.breakpoints, failed, visible(error), whole=stop.ended, eye=eye
            )
            sent = f"sent by EVAL, since EVALSHA cannot be debugged · SHA-1 {script.sha1[:12]}…"
            self.query_one(LuaPanel).show(script, title, (), marks, sent)
            self._lines("locals", local_lines(stop, called), "locals, KEYS, ARGV")
            so_far = inside.stops[: inside.shown + 1]
            moved = (
                f"instants moved back by {duration(stop.shifted_ms)}, to the lesson's moment"
                if stop.shifted_ms >= _TOLD_FROM_MS
                else ""
            )
            self._lines("commands", command_lines(so_far, inside.job), "commands so far, the newest first", moved)
            self._show_views(inside)
        else:
            # What there is without a debugger: the commands, as they were watched when the step ran.
            issued = issued_lines(inside.frame, inside.base)
            self._lines("commands", issued, "what the script issued when it ran" if issued else "")
            self.screen.set_class(bool(inside.trouble) and not issued, "nothing")
            self.screen.set_class(bool(inside.trouble) and bool(issued), "issued-only")
        nothing = (
            frozenset(action.name for action in INSIDE) - _WITHOUT_A_SCRIPT if inside.stop is None else frozenset()
        )
        self.query_one(KeyBar).show(self._applies, nothing)

    def _standing(self, inside: Inside) -> tuple[Line, ...]:
        if inside.trouble:
            return (Line("", (Span(inside.trouble, "refused"),)),)
        stop, called = inside.stop, inside.called
        if stop is None or called is None:
            return (Line("", (Span("A private Valkey starts, and is given a copy of the queue…", "quiet"),)),)
        line = standing(inside.stops[: inside.shown + 1], called, inside.trace)
        return (line, *_verdict(inside)) if stop.ended else (line,)

    def _show_views(self, inside: Inside) -> None:
        stop, called, job = inside.stop, inside.called, inside.job
        if stop is None or called is None:
            return
        machine = inside.machine
        differs = stop.inside is not None and stop.inside != stop.outside
        self.query_one("#seen-inside").set_class(differs, "differs")
        if stop.inside is None:
            told: tuple[Line, ...] = (Line("", (Span(_after(inside), "quiet"),)),)
            self._lines("both", (Line("", (Span(where(stop.outside, job, machine), "strong"),)),), "")
        else:
            told = seen_lines(stop.inside, stop.outside, job, machine)
            self._lines(
                "both",
                (
                    Line("", (Span("inside ", "quiet"), Span(where(stop.inside, job, machine), "value"))),
                    Line("", (Span("others ", "quiet"), Span(where(stop.outside, job, machine), "strong"))),
                ),
                "",
            )
        self._lines("seen-inside", told, "as the script sees it")
        outside = seen_lines(stop.outside, None, job, machine)
        self._lines(
            "seen-outside", outside, "as every client sees it now" if stop.ended else "as every other client sees it"
        )

    def _lines(self, name: str, lines: tuple[Line, ...], title: str, subtitle: str = "") -> None:
        self.query_one(f"#{name}", LinesPanel).show(lines, title, subtitle)

    # Panels -----------------------------------------------------------------------------------------------------------

    @property
    def lua_has_focus(self) -> bool:
        return self._panel == _PANELS[0]

    def next_panel(self) -> None:
        """Gives the next panel the focus, and where one has the place of all, that place."""
        self._show_panel(_PANELS[(_PANELS.index(self._panel) + 1) % len(_PANELS)])

    def scroll(self, by: int) -> None:
        """Scrolls the focused panel by lines."""
        self.query_one(f"#{self._panel}", LinesPanel).scroll_relative(y=by, animate=False)

    def zoom(self) -> None:
        """Gives the focused panel the whole screen, or takes it back."""
        if self.screen.maximized is not None:
            self.screen.minimize()
        else:
            self.screen.maximize(self.query_one(f"#{self._panel}", Widget), container=False)

    def _show_panel(self, name: str) -> None:
        self._panel = name
        for panel in _PANELS:
            self.query_one(f"#{panel}", Widget).set_class(panel == name, "current")
        # Where one panel has the place of all, so has the box that it stands in.
        for box, panels in (("upper", _PANELS[:2]), ("views", _PANELS[3:])):
            self.query_one(f"#{box}", Widget).set_class(name in panels, "current")
        self.query_one(f"#{name}", Widget).focus()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.screen.set_class(width < _ONE_BELOW or height < _ONE_BELOW_LINES, "one-panel")
        self.screen.set_class(height < _SHORT_BELOW_LINES, "short")
        if self._inside is not None:
            self.show(self._inside)


def _after(inside: Inside) -> str:
    if has_written(inside.stops):
        return "It has ended. The copy has run it once more, whole: what that left is what everyone sees now."
    return "It has ended, and wrote nothing."


def _verdict(inside: Inside) -> tuple[Line, ...]:
    """Whether the preview did what the step did."""
    trace, frame = inside.trace, inside.frame
    if trace is None:
        return ()
    if frame is None:
        return (Line("", (Span("If the step then does the same, these lines are marked in the lesson.", "quiet"),)),)
    why = went_another_way(trace, frame)
    if why:
        return (
            Line(
                "", (Span("The preview went another way, so no line is marked in the lesson: ", "refused"), Span(why))
            ),
        )
    return (Line("", (Span("It did what the step did: its lines are marked in the lesson.", "good"),)),)
