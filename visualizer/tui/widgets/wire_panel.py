"""The wire log: every call of the shown step, and what its script issued."""

from __future__ import annotations

from textual.content import Content

from visualizer.spans import Line
from visualizer.tui.widgets.lua_panel import wrapped
from visualizer.tui.widgets.readout_panel import LABEL_WIDTH, ROLE_STYLE
from visualizer.tui.widgets.text_panels import TextPanel


class WirePanel(TextPanel):
    """Shows log lines; what is too long for one goes on beneath it, further in."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Line, ...] = ()
        self._total = ""
        self._width = 0

    def show(self, lines: tuple[Line, ...], total: str) -> None:
        """Other lines, from the top; their ``total`` is always in view."""
        if (lines, total) != (self._lines, self._total):
            self._lines, self._total = lines, total
            self._fill()

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self._fill()

    def _fill(self) -> None:
        self._width = self.scrollable_content_region.width
        rows = [row for line in self._lines for row in _rows(line, self._width or 80)]
        self._put(f"wire · {self._total}" if self._total else "wire", Content("\n").join(rows))


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
