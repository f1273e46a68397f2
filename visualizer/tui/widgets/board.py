"""The places in the order of the machine, with what just left, what entered, and the edge that ran between them."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from visualizer.lane_view import LaneView
from visualizer.lock_view import ActorView, LockView
from visualizer.model import Machine
from visualizer.picture import SIGN, Edge, MemberView, Picture, PlaceView
from visualizer.tui.canvas import Canvas, fitted
from visualizer.tui.widgets.columns import COLUMNS_FROM, Columns
from visualizer.tui.widgets.lanes import Lanes
from visualizer.tui.widgets.marks import edge_text, elsewhere, in_room, marked_first, member_text, rows_of
from visualizer.visible import visible

# At most this wide: a box need not grow with the terminal.
_BOX_WIDTH = 27


class Board(Widget):
    """Draws a `Picture`. Wide enough, it is boxes with edges; narrow or low, one line a place."""

    class PlaceClicked(Message):
        """A place was clicked."""

        def __init__(self, place: str) -> None:
            super().__init__()
            self.place = place

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "board--plain",
        "board--quiet",
        "board--faint",
        "board--now",
        "board--entered",
        "board--left",
        "board--struck",
        "board--strong",
        "board--broken",
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._machine: Machine | None = None
        self._picture: Picture | None = None
        self._locks: tuple[LockView, ...] = ()
        self._actors: tuple[ActorView, ...] = ()
        self._lanes: tuple[LaneView, ...] = ()
        self._strips: list[Strip] | None = None
        self.hit: list[tuple[int, int, int, int, str]] = []

    def show(
        self,
        machine: Machine,
        picture: Picture | None,
        locks: tuple[LockView, ...] = (),
        actors: tuple[ActorView, ...] = (),
        lanes: tuple[LaneView, ...] = (),
    ) -> None:
        """Draws another picture; nothing is repainted where it is the one already drawn."""
        if (picture, locks, actors, lanes) == (self._picture, self._locks, self._actors, self._lanes):
            return
        self._machine, self._picture, self._locks, self._actors = machine, picture, locks, actors
        self._lanes = lanes
        self.set_class(bool(machine.columns), "columns")
        self._strips = None
        self.refresh()

    def notify_style_update(self) -> None:
        self._strips = None
        super().notify_style_update()

    def on_resize(self) -> None:
        self._strips = None

    def on_click(self, event: events.Click) -> None:
        for x, y, width, height, name in self.hit:
            if x <= event.x < x + width and y <= event.y < y + height:
                self.post_message(self.PlaceClicked(name))

    def render_line(self, y: int) -> Strip:
        if self._strips is None:
            canvas = self._draw()
            self._strips = [canvas.strip(line) for line in range(canvas.height)]
        if y < len(self._strips):
            return self._strips[y]
        return Strip.blank(self.size.width, self.look("plain"))

    def look(self, name: str) -> Style:
        return self.get_component_rich_style(f"board--{name}")

    # Drawing ----------------------------------------------------------------------------------------------------------

    def _draw(self) -> Canvas:
        width, height = self.size
        canvas = Canvas(width, height, self.look("plain"))
        self.hit = []
        if self._picture is None or self._machine is None:
            return canvas
        count = len(self._picture.places)
        if self._machine.columns and width >= COLUMNS_FROM and height >= 6:
            Columns(self, canvas, self._machine, self._picture, self._locks, self._actors).draw()
        elif self._lanes and self._machine.lanes is not None:
            Lanes(self, canvas, self._machine.lanes, self._picture, self._lanes).draw()
        elif width < 15 * count or height < 6:
            self._draw_lines(canvas, self._picture)
        else:
            self._draw_boxes(canvas, self._picture)
        return canvas

    def _draw_boxes(self, canvas: Canvas, picture: Picture) -> None:
        count = len(picture.places)
        gap = 6 if canvas.width >= 98 else 2
        box = min((canvas.width - 2 - gap * (count - 1)) // count, _BOX_WIDTH)
        # What is left over widens the gaps, so that the row ends where the panels below end.
        gap = max((canvas.width - 2 - box * count) // max(count - 1, 1), 1) if count > 1 else gap
        lefts = {place.name: 1 + at * (box + gap) for at, place in enumerate(picture.places)}
        height = canvas.height - 1
        for place in picture.places:
            x = lefts[place.name]
            self.draw_place(canvas, place, x, 0, box, height)
            self.hit.append((x, 0, box, height, place.name))
        self._draw_quiet_edges(canvas, picture, lefts, box, gap, height)
        for edge in reversed(picture.edges):
            self._draw_edge(canvas, picture, edge, lefts, box, gap, height)
        self._draw_elsewhere(canvas, picture, height)

    def draw_place(
        self, canvas: Canvas, place: PlaceView, x: int, y: int, width: int, height: int, kept: int = 0
    ) -> None:
        """A place as a box with its members; ``kept`` rows at its foot are left free."""
        frame = self.look({"entered": "entered", "left": "left", "holds": "plain"}.get(place.mark, "faint"))
        title = self.look({"entered": "entered", "left": "left"}.get(place.mark, "plain"))
        canvas.box(x, y, width, height, frame, heavy=place.mark == "entered")
        canvas.put(x + 2, y, f" {visible(place.name, width - 6)} ", title)
        tally = f" {place.count - place.foreign:,}" + (f" + {place.foreign} foreign " if place.foreign else " ")
        canvas.put(x + width - 2 - cell_len(tally), y + height - 1, tally, self.look("quiet"))
        inner = width - 4
        order = place.order if cell_len(place.order) <= inner else place.short
        canvas.put(x + 2, y + 1, order, self.look("quiet"), inner)
        room = height - 3 - kept
        if place.wrong_type:
            canvas.put(x + 2, y + 2, f"holds a {place.wrong_type}", self.look("broken"), inner)
        elif not place.members:
            canvas.put(x + 4, y + 2, "empty", self.look("faint"), inner - 2)
        row = y + 2
        shown, hidden = in_room(place, room)
        for member in shown:
            row = self.draw_member(canvas, member, x + 2, row, inner, tight=room < 2)
        if hidden and room < 2:
            canvas.put(x + 17, y + 2, f"+{hidden:,}", self.look("quiet"), width - 18)
        elif hidden:
            canvas.put(x + 4, y + height - 2 - kept, f"… {hidden:,} more", self.look("quiet"), inner - 2)

    def draw_member(
        self, canvas: Canvas, member: MemberView, x: int, y: int, width: int, *, tight: bool = False
    ) -> int:
        """Writes one id and, beneath a marked one unless it is ``tight``, its note; answers the next free row."""
        text = member_text(member, width - 2)
        styles = {"entered": "entered", "left": "left", "rescored": "now", "own": "strong", "no_row": "broken"}
        style = self.look(styles.get(member.mark, "quiet" if member.mark == "foreign" else "plain"))
        canvas.put(x, y, SIGN[member.mark], style)
        canvas.put(x + 2, y, text, self.look("struck") if member.mark == "left" else style)
        if rows_of(member) == 2 and not tight:
            canvas.put(x + 2, y + 1, member.note, style, width - 2)
            return y + 2
        return y + 1

    def _draw_quiet_edges(
        self, canvas: Canvas, picture: Picture, lefts: dict[str, int], box: int, gap: int, height: int
    ) -> None:
        if gap < 4 or self._machine is None:
            return
        for source, target, _ in self._machine.edges:
            if self._adjacent(picture, source, target):
                x = lefts[source] + box
                canvas.put(x + 2, height // 2, "─" * (gap - 5) + "▶", self.look("faint"))

    def _draw_edge(
        self, canvas: Canvas, picture: Picture, edge: Edge, lefts: dict[str, int], box: int, gap: int, height: int
    ) -> None:
        now = self.look("now")
        source = lefts.get(edge.source) if edge.source else None
        target = lefts.get(edge.target) if edge.target else None
        if source is not None and target is not None and self._adjacent(picture, edge.source, edge.target):
            x, y = source + box, height // 2
            if gap >= 4:
                canvas.put(x, y, " " * gap, now)
                name = fitted(edge.name, gap)
                canvas.put(x + (gap - cell_len(name)) // 2, y - 1, name, now)
                canvas.put(x + 1, y, "═" * (gap - 3) + "▶", now)
                return
        middle = box // 2
        if source is not None and target is not None:
            self._draw_rail(canvas, source + middle, target + middle, height, edge.name)
        elif target is not None:
            canvas.put(target + 2, height, f"▲ {edge.name}", now)
        elif source is not None:
            canvas.put(source + 2, height, f"▼ {edge.name}: enters nothing", now)

    def _draw_rail(self, canvas: Canvas, source: int, target: int, y: int, name: str) -> None:
        """An edge under the boxes, for ways that are not to the next place on the right."""
        now = self.look("now")
        left, right = min(source, target), max(source, target)
        canvas.put(left, y, "═" * (right - left + 1), now)
        canvas.put(source, y, "╚" if source < target else "╝", now)
        canvas.put(target, y, "▲", now)
        label = f" {name} "
        canvas.put((left + right - cell_len(label)) // 2 + 1, y, label, now, right - left - 1)

    def _adjacent(self, picture: Picture, source: str | None, target: str | None) -> bool:
        names = [place.name for place in picture.places]
        return source in names and target in names and names.index(target) == names.index(source) + 1

    def _draw_elsewhere(self, canvas: Canvas, picture: Picture, y: int) -> None:
        text, lawful = elsewhere(picture)
        if text:
            text = fitted(text, canvas.width - 2)
            room = canvas.width - cell_len(text)
            # In the middle, or at the end that an edge's name in this line leaves free.
            x = next((x for x in (room // 2, room - 1, 1) if canvas.free(x - 1, y, cell_len(text) + 2)), room // 2)
            canvas.put(max(x, 1), y, text, self.look("now" if lawful else "broken"))

    def _draw_lines(self, canvas: Canvas, picture: Picture) -> None:
        """One line a place: for narrow or low terminals."""
        rows = list(picture.places)
        if canvas.height < len(rows):
            rows.sort(key=lambda place: ("entered", "left", "holds", "quiet").index(place.mark))
        names = max((cell_len(place.name) for place in rows), default=0)
        for y, place in enumerate(rows[: canvas.height]):
            style = self.look({"entered": "entered", "left": "left"}.get(place.mark, "plain"))
            sign = {"entered": "+", "left": "−"}.get(place.mark, " ")
            canvas.put(0, y, sign, style)
            canvas.put(2, y, place.name, style)
            x = canvas.put(3 + names, y, f"{place.count:>3} ", self.look("quiet"))
            for member in place.members[:1] if place.mark == "quiet" else marked_first(place)[:1]:
                room = canvas.width - x - 1
                text = member_text(member, min(14, room))
                told = self.look("struck") if member.mark == "left" else style
                x = canvas.put(x + 1, y, text, told)
                canvas.put(x + 1, y, member.note, style, max(canvas.width - x - 1, 0))
            self.hit.append((0, y, canvas.width, 1, place.name))
        if canvas.height > len(rows):
            text, lawful = elsewhere(picture)
            text = text or "  ".join(edge_text(edge) for edge in picture.edges[:1])
            style = self.look("now" if lawful else "broken")
            canvas.put(2, len(rows), text, style, canvas.width - 2)
