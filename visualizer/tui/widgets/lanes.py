"""The lanes of a lesson's groups, a line each, and the ring that says whose turn is next; beside them what is out."""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace
from rich.cells import cell_len
from rich.style import Style

from visualizer.lane_view import TURN_SIGN, LaneView, turns
from visualizer.model import LaneRule
from visualizer.picture import Picture, PlaceView
from visualizer.tui.canvas import Canvas, fitted
from visualizer.tui.widgets.marks import edge_text, elsewhere, marked_first, member_text
from visualizer.visible import short_id, visible

# As wide and as high as this there is room for boxes; below it, a line a place.
_BOXES_FROM, _BOXES_FROM_LINES = 98, 8
_ACTIVE_WIDTH = 25
_GAP = 12
# Where the names of the other places begin, beneath the boxes.
_OTHERS_AT = 44
_TURN_STYLE = {"joined": "entered", "left": "left", "turned": "now", "stays": "plain"}
_PLACE_STYLE = {"entered": "entered", "left": "left"}
_PLACE_SIGN = {"entered": "+", "left": "−"}


class Drawer(Protocol):
    """What the lanes need of the board they are drawn on."""

    hit: list[tuple[int, int, int, int, str]]

    def look(self, name: str) -> Style: ...

    def draw_place(
        self, canvas: Canvas, place: PlaceView, x: int, y: int, width: int, height: int, kept: int = 0
    ) -> None: ...


class Lanes:
    """One drawing of lanes on a canvas. The way from them to the rule's place is the one drawn between boxes."""

    def __init__(
        self, board: Drawer, canvas: Canvas, rule: LaneRule, picture: Picture, lanes: tuple[LaneView, ...]
    ) -> None:
        self._board = board
        self._canvas = canvas
        self._to = rule.to
        self._picture = picture
        self._lanes = lanes
        self._lane_names = {lane.place.name for lane in lanes}
        self._amiss = elsewhere(replace(picture, lanes=()))[0]
        self._longest = max(cell_len(lane.name) for lane in lanes)

    def draw(self) -> None:
        if self._canvas.width >= _BOXES_FROM and self._canvas.height >= _BOXES_FROM_LINES:
            self._draw_boxes()
        else:
            self._draw_lines()

    # Boxes ------------------------------------------------------------------------------------------------------------

    def _draw_boxes(self) -> None:
        canvas, board = self._canvas, self._board
        height = canvas.height - 1
        width = canvas.width - 2 - _ACTIVE_WIDTH - _GAP
        marks = {lane.place.mark for lane in self._lanes}
        mark = "entered" if "entered" in marks else "left" if "left" in marks else ""
        frame = board.look(_PLACE_STYLE.get(mark, "faint"))
        canvas.box(1, 0, width, height, frame, heavy=mark == "entered")
        canvas.put(3, 0, " lanes ", board.look(_PLACE_STYLE.get(mark, "plain")))
        # The ring has the last line inside.
        room = height - 3
        for y, lane in enumerate(self._in_room(room), start=1):
            x = self._draw_turn(lane, 3, y, wide=True)
            self._draw_rest(lane, x + 1, y, width - 1)
        if len(self._lanes) > room:
            canvas.put(3, height - 1, f" {len(self._lanes) - room} more lanes ", board.look("quiet"))
        self._draw_ring(3, height - 2, width - 4)
        active = self._place(self._to)
        if active is not None:
            x = 1 + width + _GAP
            board.draw_place(canvas, active, x, 0, _ACTIVE_WIDTH, height)
            board.hit.append((x, 0, _ACTIVE_WIDTH, height, self._to))
        self._draw_edges(width, height)
        self._draw_others(height)

    def _draw_edges(self, width: int, height: int) -> None:
        """The way from a lane to active between the boxes, any other way in words beneath them."""
        canvas, now = self._canvas, self._board.look("now")
        if self._amiss:
            canvas.put(3, height, self._amiss, self._board.look("broken"), _OTHERS_AT - 4)
        y, x = height // 2, 2 + width
        canvas.put(x + 1, y, "─" * (_GAP - 4) + "▶", self._board.look("faint"))
        for edge in reversed(self._picture.edges):
            if edge.source in self._lane_names and edge.target == self._to:
                name = fitted(edge.name, _GAP - 1)
                canvas.put(x + (_GAP - 1 - cell_len(name)) // 2, y - 1, name, now)
                canvas.put(x, y, f" {'═' * (_GAP - 4)}▶", now)
            elif edge.target in self._lane_names and edge.source is None:
                canvas.put(3, height, f"▲ {edge.name}", now)
            elif edge.source == self._to and edge.target is None:
                canvas.put(x + _GAP, height, f"▼ {edge.name}", now)
            else:
                canvas.put(3, height, self._named(edge_text(edge)), now, _OTHERS_AT - 4)

    def _draw_others(self, y: int) -> None:
        """The places that no lane leads to, in a few words; those that hold something in a louder voice."""
        self._draw_names([place for place in self._picture.places if place.name != self._to], _OTHERS_AT, y)

    def _draw_names(self, places: list[PlaceView], x: int, y: int) -> None:
        for place in places:
            style = self._board.look(_PLACE_STYLE.get(place.mark, "plain" if place.count else "faint"))
            sign = _PLACE_SIGN.get(place.mark, " ")
            end = self._canvas.put(x, y, f"{sign} {visible(place.name)} {place.count:,}", style)
            self._board.hit.append((x, y, end - x, 1, place.name))
            x = end + 3

    # Lines ------------------------------------------------------------------------------------------------------------

    def _draw_lines(self) -> None:
        """A line a lane, one for active, one for the ring; then what is in other places, or else the edge."""
        canvas, board = self._canvas, self._board
        wide = canvas.width >= 60
        others = [place for place in self._picture.places if place.name != self._to and (place.members or place.count)]
        # Active and the ring have a line each, and what is where no lane leads has one too.
        taken = 3 if self._amiss or others else 2
        lanes = self._in_room(max(canvas.height - taken, 1))
        for y, lane in enumerate(lanes):
            x = self._draw_turn(lane, 0, y, wide=wide)
            self._draw_rest(lane, x + 1, y, canvas.width - 1)
        y = len(lanes)
        active = self._place(self._to)
        if active is not None:
            style = board.look(_PLACE_STYLE.get(active.mark, "plain"))
            canvas.put(0, y, _PLACE_SIGN.get(active.mark, " "), style)
            x = canvas.put(2, y, active.name, style)
            x = canvas.put(x + 1, y, f"{active.count:,}", board.look("quiet"))
            for member in marked_first(active)[: 3 if wide else 1]:
                text = f"{member_text(member, 12)} {member.note}".strip()
                look = board.look("struck") if member.mark == "left" else style
                x = canvas.put(x + 1, y, text, look, max(canvas.width - x - 2, 0)) + 1
            board.hit.append((0, y, canvas.width, 1, self._to))
            y += 1
        self._draw_ring(2, y, canvas.width - 3)
        if self._amiss:
            canvas.put(2, y + 1, self._amiss, board.look("broken"), canvas.width - 3)
        elif others:
            self._draw_names(others, 0, y + 1)
        elif self._picture.edges:
            canvas.put(2, y + 1, self._named(edge_text(self._picture.edges[0])), board.look("now"), canvas.width - 3)

    # A lane -----------------------------------------------------------------------------------------------------------

    def _draw_turn(self, lane: LaneView, x: int, y: int, *, wide: bool) -> int:
        """Whose lane it is, and which turn its group has; where that does not fit, what the step did to it."""
        style = self._board.look(_TURN_STYLE[lane.mark])
        place = self._board.look(_PLACE_STYLE.get(lane.place.mark, "plain"))
        self._canvas.put(x, y, _PLACE_SIGN.get(lane.place.mark, " "), place)
        self._canvas.put(x + 2, y, lane.name, place)
        x += 3 + self._longest
        sign = TURN_SIGN[lane.mark] or " "
        if not wide:
            return self._canvas.put(x, y, sign, style)
        x = self._canvas.put(x, y, f"{short_id(lane.group):<13}", self._board.look("quiet"))
        turn = f"turn {lane.turn}" if lane.turn else "no turn"
        return self._canvas.put(x, y, f"{sign} {turn:<7}", style)

    def _draw_rest(self, lane: LaneView, x: int, y: int, end: int) -> None:
        """What waits in the lane and, right-aligned, what is out."""
        of = f" of {lane.limit:,}" if lane.limit is not None else ""
        was = f"{lane.out - lane.more_out:,}→" if lane.more_out else ""
        told = f"{was}{lane.out:,}{of} out"
        quiet = "quiet" if lane.limit is None and not lane.out else "plain"
        out = end - cell_len(told)
        self._canvas.put(out, y, told, self._board.look("now" if lane.more_out else quiet))
        self._draw_waiting(lane, x, y, out - 2)

    def _draw_waiting(self, lane: LaneView, x: int, y: int, end: int) -> None:
        """How many wait, and as many of them as there is room for, those that the step moved first to stay."""
        x = self._canvas.put(x, y, f"{lane.waiting:>2,} wait ", self._board.look("quiet"))
        shown = 0
        for member in marked_first(lane.place):
            sign = _PLACE_SIGN.get(member.mark, "")
            told = f"{sign} {member_text(member, 12)}".strip()
            if x + cell_len(told) > end:
                break
            style = {"entered": "entered", "left": "struck"}.get(member.mark, "plain")
            x = self._canvas.put(x, y, told, self._board.look(style)) + 2
            shown += member.mark != "left"
        if 0 < shown < lane.waiting and x + 2 <= end:
            self._canvas.put(x, y, f"+{lane.waiting - shown:,}", self._board.look("quiet"), end - x)

    def _draw_ring(self, x: int, y: int, width: int) -> None:
        """The ring from its head on; what left it in this step stands last."""
        end = x + width
        x = self._canvas.put(x, y, "ring", self._board.look("quiet")) + 2
        ring = turns(self._lanes)
        if not any(lane.turn for lane in ring):
            x = self._canvas.put(x, y, "empty", self._board.look("faint")) + 2
        for lane in ring:
            lead = "▶ " if lane.turn == 1 else ""
            sign = TURN_SIGN[lane.mark]
            told = f"{lead}{sign}{' ' if sign else ''}{lane.name}"
            if x + cell_len(told) > end:
                self._canvas.put(x, y, "…", self._board.look("quiet"))
                return
            x = self._canvas.put(x, y, told, self._board.look(_TURN_STYLE[lane.mark])) + 2

    def _in_room(self, room: int) -> list[LaneView]:
        """As many lanes as there are lines, those that the step changed first to stay, in their order."""
        if len(self._lanes) <= room:
            return list(self._lanes)
        changed = sorted(self._lanes, key=lambda lane: (lane.place.mark == "quiet", lane.mark == "stays"))
        return [lane for lane in self._lanes if lane in changed[:room]]

    def _place(self, name: str) -> PlaceView | None:
        return next((place for place in self._picture.places if place.name == name), None)

    def _named(self, text: str) -> str:
        """An edge's words with the lanes called by their groups."""
        for lane in self._lanes:
            text = text.replace(visible(lane.place.name), f"{lane.name}'s lane")
        return text
