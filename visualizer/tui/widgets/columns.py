"""A machine whose places do not stand in one row: waiting left, running in the middle with its lock, done right."""

from __future__ import annotations

from typing import Protocol

from rich.cells import cell_len
from rich.style import Style

from visualizer.lock_view import ActorView, LockView
from visualizer.model import Machine
from visualizer.picture import Edge, Picture, PlaceView
from visualizer.tui.canvas import Canvas, fitted
from visualizer.tui.widgets.marks import edge_text, elsewhere, marked_first, member_text, rows_of
from visualizer.visible import short_id, visible

# The share of the width that a box of each column gets, and the gap that an edge is drawn in.
_GAP = 9
_TALL = 12
# Below this many cells there is no room between the names on the left and on the right.
COLUMNS_FROM = 76


class Drawer(Protocol):
    """What the columns need of the board they are drawn on."""

    hit: list[tuple[int, int, int, int, str]]

    def look(self, name: str) -> Style: ...

    def draw_place(
        self, canvas: Canvas, place: PlaceView, x: int, y: int, width: int, height: int, kept: int = 0
    ) -> None: ...


# A label, what it says, and how it looks.
LockLine = tuple[str, str, str]


def _lock_of(view: LockView, width: int, *, named: bool) -> list[LockLine]:
    """One job's lock in lines of that width; ``named`` where there are others beside it."""
    whose = f" · {short_id(view.id, 10)}" if named else ""
    if view.token is None:
        return [("lock", f"none{whose}", "broken")]
    token: LockLine = ("lock", f"{visible(view.token, max(width - 7 - cell_len(whose), 4))}{whose}", "entered")
    if view.left_ms < 0:
        return [token, ("", "it has no end", "entered")]
    share = min(view.left_ms / max(view.of_ms, 1), 1)
    told = f" {view.left_ms / 1000:.1f} s"
    full = max(width - 7 - max(cell_len(told), 7), 4)
    cells = round(share * full)
    return [token, ("", f"{'█' * cells}{'░' * (full - cells)}{told}", "entered" if share > 0.25 else "left")]


class Columns:
    """One drawing of a machine with columns on a canvas."""

    def __init__(
        self,
        board: Drawer,
        canvas: Canvas,
        machine: Machine,
        picture: Picture,
        locks: tuple[LockView, ...],
        actors: tuple[ActorView, ...],
    ) -> None:
        self._board = board
        self._canvas = canvas
        self._machine = machine
        self._picture = picture
        self._locks = locks
        self._actors = actors
        self._places = {place.name: place for place in picture.places}
        self._running = machine.locking.place if machine.locking else ""
        self._column_of = {name: at for at, rows in enumerate(machine.columns) for row in rows for name in row}
        # Where each column begins and ends, and the line in whose middle each place stands.
        self._spans: list[tuple[int, int]] = []
        self._middle: dict[str, int] = {}

    def draw(self) -> None:
        tall = self._canvas.height >= _TALL and self._canvas.width >= 100
        self._measure(tall)
        for at, rows in enumerate(self._machine.columns):
            if tall or len(rows) == 1:
                self._draw_boxes(at, rows)
            else:
                self._draw_list(at, [name for row in rows for name in row])
        self._draw_edges()

    def _measure(self, tall: bool) -> None:
        width = self._canvas.width - 2
        if not tall:
            # The longest name with its count on the left, what is done on the right, the lock has the rest.
            left, right, narrow = 23, 15, 5
            self._spans = [(1, left), (left + _GAP, width - right - narrow), (width - right, width)]
            return
        shares = [max(len(row) for row in rows) if tall else 1 for rows in self._machine.columns]
        gaps = _GAP * (len(shares) - 1)
        unit = (width - gaps) / (sum(shares) + 0.5)
        x = 1.0
        for rows, share in zip(self._machine.columns, shares, strict=True):
            # The column in which something runs has a lock to show, so it is wider.
            size = unit * (share + (0.5 if len(rows) == 1 else 0))
            self._spans.append((round(x), round(x + size)))
            x += size + _GAP

    def _draw_boxes(self, at: int, rows: tuple[tuple[str, ...], ...]) -> None:
        left, right = self._spans[at]
        height = self._canvas.height - 1
        y = 0
        for number, row in enumerate(rows):
            bottom = round(height * (number + 1) / len(rows))
            x = left
            for index, name in enumerate(row):
                end = round(left + (right - left) * (index + 1) / len(row))
                place = self._places.get(name)
                if place is not None:
                    width = end - x - (1 if index + 1 < len(row) else 0)
                    lines = self._lock_lines(width - 4, bottom - y) if name == self._running else []
                    self._board.draw_place(self._canvas, place, x, y, width, bottom - y, len(lines))
                    for line, (label, text, style) in enumerate(lines, bottom - 1 - len(lines)):
                        self._canvas.put(x + 2, line, f"{label:<7}", self._board.look("quiet"))
                        self._canvas.put(x + 9, line, text, self._board.look(style), width - 11)
                    self._board.hit.append((x, y, width, bottom - y, name))
                self._middle[name] = (y + bottom) // 2
                x = end
            y = bottom

    def _draw_list(self, at: int, names: list[str]) -> None:
        """A line a place, where there is no room for boxes."""
        left, right = self._spans[at]
        longest = max(cell_len(name) for name in names)
        for y, name in enumerate(names):
            place = self._places[name]
            style = self._board.look({"entered": "entered", "left": "left"}.get(place.mark, "plain"))
            self._canvas.put(left, y, {"entered": "+", "left": "−"}.get(place.mark, " "), style)
            room = right - left - 2
            x = self._canvas.put(left + 2, y, fitted(name, min(longest, room)), style)
            x = max(x, left + 2 + min(longest, room - 3))
            x = self._canvas.put(x, y, f"{place.count:>3}", self._board.look("quiet"))
            member = next(iter(marked_first(place)), None)
            if member is not None and right - x > 7:
                told = self._board.look("struck") if member.mark == "left" else style
                self._canvas.put(x + 1, y, member_text(member, right - x - 1), told)
            self._board.hit.append((left, y, right - left, 1, name))
            self._middle[name] = y

    def _lock_lines(self, width: int, height: int) -> list[LockLine]:
        """What stands beneath the running ids: token, a bar of what is left, and who acts by itself.

        Where there is no room for all of it the other jobs' locks go first, then the actors.
        """
        needed = max(sum(rows_of(member) for member in self._places[self._running].members), 1)
        room = max(height - 3 - min(needed, 2), 0)
        jobs = [_lock_of(view, width, named=len(self._locks) > 1) for view in self._locks]
        own = jobs[0] if jobs else []
        actors = [(actor.name, actor.told, "plain" if actor.acts else "quiet") for actor in self._actors]
        actors = actors if self._canvas.height >= _TALL else []
        others = [line for lines in jobs[1:] for line in lines]
        spare = max(height - 3 - needed - len(own) - len(actors), 0)
        return [*own, *others[: spare - spare % 2], *actors][:room]

    def _draw_edges(self) -> None:
        told = ""
        for edge in reversed(self._picture.edges):
            if not self._draw_edge(edge):
                told = edge_text(edge)
        text, lawful = elsewhere(self._picture)
        line = text or told
        style = "broken" if text and not lawful else "now"
        self._canvas.put(2, self._canvas.height - 1, line, self._board.look(style), self._canvas.width - 3)

    def _draw_edge(self, edge: Edge) -> bool:
        """An arrow in the gap between two neighbouring columns, named where the name fits into it; False where the edge
        is another or has no name yet."""
        source = self._column_of.get(edge.source or "")
        target = self._column_of.get(edge.target or "")
        if source is None or target is None or abs(source - target) != 1 or edge.target is None or edge.source is None:
            return False
        now = self._board.look("now")
        x = self._spans[min(source, target)][1]
        gap = self._spans[max(source, target)][0] - x
        # The arrow stands at the line of the outer place, which says which of its column it is.
        outer = edge.source if len(self._machine.columns[source]) > 1 else edge.target
        y = max(self._middle[outer], 1)
        shaft = "═" * (gap - 4)
        self._canvas.put(x + 1, y, f" {shaft}▶" if target > source else f" ◀{shaft}", now)
        name = edge.name if cell_len(edge.name) <= gap else edge.short or edge.name
        if gap < _GAP and cell_len(name) > gap:
            return False
        name = fitted(name, gap)
        self._canvas.put(x + (gap - cell_len(name)) // 2, y - 1, name, now)
        return True
