"""A titled panel of lines with roles, drawn as its own strips: a new text costs no layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from visualizer.spans import Line
from visualizer.tui.widgets.lua_panel import wrapped

ROLES = (
    "plain",
    "label",
    "subject",
    "left",
    "entered",
    "value",
    "quiet",
    "aside",
    "good",
    "broken",
    "refused",
    "strong",
)

# How far what goes on beneath a line stands in.
_FURTHER_IN = 4


class LinesPanel(ScrollView, can_focus=True):
    """Shows ``lines``, wrapped to its width; it scrolls where they do not fit."""

    ALLOW_MAXIMIZE = True
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{role}" for role in ROLES}

    def __init__(self, title: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: tuple[Line, ...] = ()
        self._rows: list[Strip] = []
        self._width = 0
        self._looks: dict[str, Style] = {}
        self._titles = (title, "")
        self.border_title = Content(title)

    def show(self, lines: Sequence[Line], title: str, subtitle: str = "") -> None:
        """Other lines, from the top; nothing is repainted where they are those already shown."""
        if (title, subtitle) != self._titles:
            self._titles = (title, subtitle)
            self.border_title, self.border_subtitle = Content(title), Content(subtitle)
        if tuple(lines) != self.lines:
            self.lines = tuple(lines)
            self._rebuild()
            self.scroll_to(0, 0, animate=False)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._looks.clear()
        self._rebuild()

    def on_resize(self) -> None:
        self._rebuild()

    def render_line(self, y: int) -> Strip:
        row, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if row >= len(self._rows):
            return Strip.blank(width, self._look("plain"))
        return self._rows[row].crop_extend(0, width, self._look("plain"))

    def _look(self, role: str) -> Style:
        found = self._looks.get(role)
        if found is None:
            found = self._looks[role] = self.get_component_rich_style(f"lines--{role or 'plain'}")
        return found

    def _rebuild(self) -> None:
        self._width = self.scrollable_content_region.width
        room = max(self._width, 8)
        self._rows = [self._strip(row) for line in self.lines for row in _rows(line, room)]
        # Of another size the whole screen would be laid out again: where all fits, the size stays the panel's own.
        self.virtual_size = Size(self._width, max(len(self._rows), self.scrollable_content_region.height))
        self.refresh()

    def _strip(self, row: list[tuple[str, str]]) -> Strip:
        return Strip([Segment(text, self._look(role)) for text, role in row])


def _rows(line: Line, room: int) -> list[list[tuple[str, str]]]:
    """A line as rows of that many cells, without its asides where it would not fit; what goes on is further in."""
    spans = line.spans
    if line.label:
        spans = (type(spans[0])(f"{line.label:<6} ", "label"), *spans)
    if sum(cell_len(span.text) for span in spans) > room:
        spans = tuple(span for span in spans if span.role != "aside")
    pieces = tuple((piece, span.role) for span in spans for piece in _pieces(span.text, room - _FURTHER_IN))
    if sum(cell_len(text) for text, _ in pieces) <= room:
        return [list(pieces)]
    first, *rest = wrapped(pieces, room - _FURTHER_IN)
    return [first, *([(" " * _FURTHER_IN, ""), *row] for row in rest)]


def _pieces(text: str, room: int) -> list[str]:
    """A text in pieces of which none holds a word longer than the room."""
    return [text] if len(text) <= room else [text[at : at + room] for at in range(0, len(text), room)]
