"""The readout: the frame in sentences, in the one accent that means now."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip

from visualizer.spans import Line, Span
from visualizer.tui.widgets.strip_panel import StripPanel

# What a readout's role looks like; the words carry the meaning without it.
ROLE_STYLE = {
    "plain": "",
    "label": "$quiet",
    "subject": "bold $strong",
    "left": "bold $left",
    "entered": "bold $entered",
    "value": "bold $strong",
    "quiet": "$quiet",
    "aside": "$quiet",
    "good": "$entered",
    "broken": "bold $error",
    "refused": "bold $error",
    "strong": "bold $strong",
}
# The columns of a label and the space after it.
LABEL_WIDTH = 7
# What most readouts take.
_ROWS = 6


def content_of(line: Line, width: int) -> Content:
    """One readout line as content, without its asides where it would not fit; data in it is never markup."""
    spans = line.spans
    if sum(cell_len(span.text) for span in spans) + (LABEL_WIDTH if line.label else 0) > width:
        spans = tuple(span for span in spans if span.role != "aside")
    parts: list[tuple[str, str]] = []
    if line.label:
        parts.append((f"{line.label:<{LABEL_WIDTH - 1}} ", ROLE_STYLE["broken" if line.label == "broken" else "label"]))
    parts.extend(_styled(span) for span in spans)
    return Content.assemble(*parts)


def _styled(span: Span) -> tuple[str, str]:
    return span.text, ROLE_STYLE[span.role]


class ReadoutPanel(StripPanel):
    """Shows readout lines; where they do not fit, it scrolls.

    It grows with them as far as the screen allows, and keeps that height until `settle`: what stands below it does not
    move from step to step.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Line, ...] = ()
        self._tallest = _ROWS
        self.entitle("readout")

    def show(self, lines: tuple[Line, ...]) -> None:
        """Other lines, from their top."""
        if lines == self._lines:
            return
        self._lines = lines
        self._remake(from_top=True)
        if len(self._rows) > self._tallest:
            self._tallest = len(self._rows)
            self.refresh(layout=True)

    def settle(self) -> None:
        """Back to the height that most readouts need."""
        tallest = max(len(self._rows), _ROWS)
        if tallest != self._tallest:
            self._tallest = tallest
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return self._tallest

    def _make(self, width: int, height: int) -> tuple[Sequence[Strip], Sequence[Strip]]:  # noqa: ARG002
        return self._strips(Content("\n").join(content_of(line, width) for line in self._lines), width), ()
