"""The readout: the frame in sentences, in the one accent that means now."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from visualizer.spans import Line, Span

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


class ReadoutPanel(VerticalScroll, can_focus=True):
    """Shows readout lines; where they do not fit, it scrolls."""

    ALLOW_MAXIMIZE = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Line, ...] = ()
        self._text = Static(markup=False)
        self._width = self._rows = 0
        self.border_title = Content("readout")

    def compose(self) -> ComposeResult:
        yield self._text

    def show(self, lines: tuple[Line, ...]) -> None:
        """Other lines; the panel grows to them as far as the screen allows."""
        if lines == self._lines:
            return
        self._lines = lines
        self._fill()
        self.scroll_home(animate=False)

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self._fill()

    def _fill(self) -> None:
        self._width = self.scrollable_content_region.width
        width = self._width or 80
        contents = [content_of(line, width) for line in self._lines]
        rows = sum(-(-max(content.cell_length, 1) // width) for content in contents)
        # Short readouts are filled up, so that from step to step nothing below has to move.
        contents += [Content("")] * (_ROWS - rows)
        rows = max(rows, _ROWS)
        self._text.update(Content("\n").join(contents), layout=rows != self._rows)
        self._rows = rows
