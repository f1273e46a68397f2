"""A titled panel of lines with roles, drawn as its own strips: a new text costs no layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from visualizer.spans import Line
from visualizer.tui.widgets.lua_panel import wrapped
from visualizer.tui.widgets.strip_panel import StripPanel

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


class LinesPanel(StripPanel):
    """Shows ``lines``, wrapped to its width; it scrolls where they do not fit."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{role}" for role in ROLES}

    def __init__(self, title: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: tuple[Line, ...] = ()
        self.entitle(title)

    def show(self, lines: Sequence[Line], title: str, subtitle: str = "") -> None:
        """Other lines, from the top; nothing is repainted where they are those already shown."""
        self.entitle(title, subtitle)
        if tuple(lines) != self.lines:
            self.lines = tuple(lines)
            self._remake(from_top=True)

    def _make(self, width: int, height: int) -> tuple[Sequence[Strip], Sequence[Strip]]:  # noqa: ARG002
        return [self._strip(row) for line in self.lines for row in _rows(line, max(width, 8))], ()

    def _strip(self, row: list[tuple[str, str]]) -> Strip:
        return Strip([Segment(text, self.look(f"lines--{role or 'plain'}")) for text, role in row])


def _rows(line: Line, room: int) -> list[list[tuple[str, str]]]:
    """A line as rows of that many cells, without its asides where it would not fit; what goes on is further in."""
    spans = line.spans
    if line.label:
        spans = (type(spans[0])(f"{line.label:<6} ", "label"), *spans)
    if sum(cell_len(span.text) for span in spans) > room:
        spans = tuple(span for span in spans if span.role != "aside")
    pieces = tuple((span.text, span.role) for span in spans)
    if sum(cell_len(text) for text, _ in pieces) <= room:
        return [list(pieces)]
    first, *rest = wrapped(pieces, max(room - _FURTHER_IN, 4))
    return [first, *([(" " * _FURTHER_IN, ""), *row] for row in rest)]
