"""What each action of its table does on the x-ray screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from visualizer.actions import INSIDE
from visualizer.tui.screens.choice import HelpScreen
from visualizer.tui.screens.xray_view import XrayView
from visualizer.xray import Stop, Xray

if TYPE_CHECKING:
    from visualizer.tui.screens.xray import XrayScreen

# What is said where an action has nothing to do.
WHY_NOT = {
    "later": "No later step can be looked into.",
    "earlier": "No step before this one ran a script.",
}

_MARKS = (
    ("PREVIEW", "$now", "all this runs on a copy of the queue; the lesson's server is not touched"),
    ("heavy", "$now", "a heavy border: the script sees what the others do not see yet"),
    ("❱", "$now", "the line that runs next"),
    ("┃", "$entered", "a line that ran"),
    ("›", "$strong", "the line you have chosen; ● a breakpoint"),
    ("+", "$entered", "a local variable that is new or has changed"),
    ("≈", "$quiet", "a number that the debugger rounds to six digits; line ends in a local stand as blanks"),
)


def applies(screen: XrayScreen, name: str) -> bool:
    """Whether the action does something at this moment."""
    inside = screen.inside
    if name in ("leave", "help", "quit", "panel", "zoom"):
        return True
    if inside is None:
        return False
    if name == "later":
        return screen.has_later
    if name == "earlier":
        return screen.has_earlier
    stop = inside.stop
    if stop is None:
        return False
    runs = not inside.trouble and not inside.stops[-1].ended
    if name == "line":
        return runs or not inside.at_edge
    if name in ("line_back", "first_line"):
        return inside.shown > 0
    if name in ("write", "end", "continue"):
        return runs or not inside.at_edge
    return True


# Among the stops, and on ----------------------------------------------------------------------------------------------


def _show_stop(screen: XrayScreen, at: int) -> None:
    """Another stop of those there are; nothing runs."""
    inside = screen.inside
    if inside is not None:
        screen.inside = replace(inside, shown=max(0, min(at, len(inside.stops) - 1)), chosen=0)


def _go(screen: XrayScreen, run: Callable[[Xray], Stop], wanted: Callable[[Stop], bool], *, tell: bool = False) -> None:
    """Forward to the next stop that is wanted: among those there are, else by running on."""
    inside = screen.inside
    if inside is None:
        return
    for at in range(inside.shown + 1, len(inside.stops)):
        if wanted(inside.stops[at]):
            _show_stop(screen, at)
            return
    if inside.stops[-1].ended:
        _show_stop(screen, len(inside.stops) - 1)
    else:
        screen.run_on(run, wanted if tell else None)


# Lines ----------------------------------------------------------------------------------------------------------------


def _choose(screen: XrayScreen, by: int) -> None:
    """Another line under the learner's pointer, or the focused panel scrolls."""
    inside, view = screen.inside, screen.query_one(XrayView)
    if inside is None or inside.called is None or inside.stop is None:
        return
    if not view.lua_has_focus:
        view.scroll(by)
        return
    lines = len(inside.called.script.lines)
    start = inside.chosen or inside.stop.line or lines
    screen.inside = replace(inside, chosen=max(1, min(start + by, lines)))


def _breakpoint(screen: XrayScreen) -> None:
    """Sets or clears one at the chosen line."""
    inside = screen.inside
    if inside is not None and inside.stop is not None and inside.called is not None:
        line = inside.chosen or inside.stop.line
        source = inside.called.script.lines[line - 1].strip() if line else ""
        if not source or source.startswith("--"):
            screen.notify("Nothing runs on that line, so nothing can stop there.", markup=False)
            return
        screen.inside = replace(inside, breakpoints=inside.breakpoints ^ ({line} if line else set()))


def _continue(screen: XrayScreen) -> None:
    """Runs to the next breakpoint, or where there is none, to the chosen line."""
    inside = screen.inside
    if inside is None:
        return
    wanted = inside.breakpoints or ({inside.chosen} if inside.chosen else set())
    if not wanted:
        screen.notify("↑ and ↓ choose a line, b sets a breakpoint there.", markup=False)
        return
    _go(screen, lambda xray: xray.to_line(wanted), lambda stop: stop.line in wanted, tell=True)


def _help(screen: XrayScreen) -> None:
    screen.app.push_screen(HelpScreen(INSIDE, _MARKS))


DO: dict[str, Callable[[XrayScreen], None]] = {
    "line": lambda screen: _go(screen, Xray.step, lambda _: True),
    "line_back": lambda screen: _show_stop(screen, screen.inside.shown - 1 if screen.inside else 0),
    "write": lambda screen: _go(screen, Xray.to_write, lambda stop: stop.wrote),
    "end": lambda screen: _go(screen, Xray.to_end, lambda stop: stop.ended),
    "first_line": lambda screen: _show_stop(screen, 0),
    "up": lambda screen: _choose(screen, -1),
    "down": lambda screen: _choose(screen, 1),
    "breakpoint": _breakpoint,
    "continue": _continue,
    "later": lambda screen: screen.turn(1),
    "earlier": lambda screen: screen.turn(-1),
    "panel": lambda screen: screen.query_one(XrayView).next_panel(),
    "zoom": lambda screen: screen.query_one(XrayView).zoom(),
    "leave": lambda screen: screen.leave(),
    "help": _help,
    "quit": lambda screen: screen.app.exit(0),
}
