"""The wire log: every call of the shown step, and what its script issued."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.strip import Strip

from visualizer.spans import Line
from visualizer.tui.widgets.lua_panel import wrapped
from visualizer.tui.widgets.readout_panel import LABEL_WIDTH, ROLE_STYLE
from visualizer.tui.widgets.strip_panel import StripPanel


class WirePanel(StripPanel):
    """Shows log lines; what is too long for one goes on beneath it, further in."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Line, ...] = ()

    def show(self, lines: tuple[Line, ...], total: str) -> None:
        """Other lines, from the top; their ``total`` is always in view."""
        self.entitle(f"wire · {total}" if total else "wire")
        if lines != self._lines:
            self._lines = lines
            self._remake(from_top=True)

    def _make(self, width: int, height: int) -> tuple[Sequence[Strip], Sequence[Strip]]:  # noqa: ARG002
        rows = [row for line in self._lines for row in _rows(line, width)]
        return self._strips(Content("\n").join(rows), width), ()


def _rows(line: Line, width: int) -> list[Content]:
    """One line as rows of at most that many cells, all but the first as far in as its text begins."""
    indent = LABEL_WIDTH if line.label else 0
    pieces = tuple((span.text, ROLE_STYLE[span.role]) for span in line.spans)
    label = (f"{line.label:<{indent}}" if indent else "", ROLE_STYLE["label"])
    beneath = (" " * indent, "")
    return [
        Content.assemble(beneath if at else label, *row)
        for at, row in enumerate(wrapped(pieces, max(width - indent, 12)))
    ]
