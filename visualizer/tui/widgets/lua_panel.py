"""The Lua that just ran: highlighted, numbered as it was sent, shared steps folded until they are asked for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from visualizer.script import Script
from visualizer.tui.canvas import fitted

_WORDS = re.compile(r"\s*\S+\s*|\s+")
_TOKEN_CLASS = {
    "Keyword": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Name.Function": "call",
    "Name.Builtin": "call",
    "Comment": "comment",
}


@lru_cache(maxsize=64)
def tokens_of(source: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Each line of a script as (text, class) pairs; the class is empty for plain text."""
    from pygments.lexers import LuaLexer  # imported late: the first frame does not wait for it

    lines: list[list[tuple[str, str]]] = [[]]
    for token, text in LuaLexer(stripnl=False, ensurenl=False).get_tokens(source):
        name = str(token).removeprefix("Token.")
        kind = next((kind for prefix, kind in _TOKEN_CLASS.items() if name.startswith(prefix)), "")
        for at, piece in enumerate(text.split("\n")):
            if at:
                lines.append([])
            if piece:
                lines[-1].append((piece, kind))
    if lines and not lines[-1]:
        lines.pop()
    return tuple(tuple(line) for line in lines)


class LuaPanel(ScrollView, can_focus=True):
    """Shows one script; ``lit`` lines are those that a debugger saw run."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lua--plain",
        "lua--keyword",
        "lua--string",
        "lua--number",
        "lua--call",
        "lua--comment",
        "lua--gutter",
        "lua--lit",
        "lua--shared",
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._script: Script | None = None
        self._note: tuple[str, ...] = ()
        self._lit: frozenset[int] = frozenset()
        self._unfolded = False
        self._rows: list[Strip] = []
        self._row_of: dict[int, int] = {}
        self._width = 0
        self.border_title = Content("lua")

    def show(
        self, script: Script | None, title: str, note: tuple[str, ...] = (), lit: frozenset[int] = frozenset()
    ) -> None:
        """Another script, or ``note`` lines where no script ran."""
        if (script, note, lit) == (self._script, self._note, self._lit):
            return
        self.border_title = Content(f"{title}  ↑ its contract" if script else title)
        moved = script is not self._script
        self._script, self._note, self._lit = script, note, lit
        self._rebuild()
        if moved:
            # After the layout: only then does the panel know how far it can scroll.
            self.call_after_refresh(self.scroll_to, 0, self._first_row(), animate=False)

    def toggle_fold(self) -> None:
        """Folds or unfolds the steps that several scripts share."""
        self._unfolded = not self._unfolded
        self._rebuild()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._rebuild()

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self._rebuild()

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if row >= len(self._rows):
            return Strip.blank(width, self._look("plain"))
        return self._rows[row].crop_extend(0, width, self._look("plain"))

    def _look(self, name: str) -> Style:
        return self.get_component_rich_style(f"lua--{name}")

    def _rebuild(self) -> None:
        self._width = self.scrollable_content_region.width
        self._row_of = {}
        self._rows = self._build()
        self.virtual_size = Size(self._width, len(self._rows))
        self.refresh()

    def _first_row(self) -> int:
        """The row after the lines that only name KEYS and ARGV: what the script does starts there."""
        if self._script is None:
            return 0
        lines = self._script.lines
        bound = [number for number, line in enumerate(lines, start=1) if "KEYS[" in line or "ARGV[" in line]
        first = max(bound, default=self._script.body_line - 1) + 1
        while first < len(lines) and not lines[first - 1].strip():
            first += 1
        return self._row_of.get(first, 0)

    def _build(self) -> list[Strip]:
        if self._script is None:
            room = max(self._width - 2, 12)
            return [self._noted(row) for line in self._note for row in wrapped(((line, ""),), room)]
        folds = {} if self._unfolded else {first: (last, names) for first, last, names in folded(self._script)}
        rows: list[Strip] = []
        number = 1
        lines = tokens_of(self._script.source)
        while number <= len(lines):
            self._row_of[number] = len(rows)
            if number in folds:
                last, names = folds[number]
                told = fitted(f"   ▸ shared: {', '.join(names)}", max(self._width, 12))
                rows.append(Strip([Segment(told, self._look("shared"))]))
                number = last + 1
                continue
            rows.extend(self._line(number, lines[number - 1]))
            number += 1
        return rows

    def _noted(self, row: list[tuple[str, str]]) -> Strip:
        look = self._look("comment")
        return Strip([Segment(" ", look), *(Segment(text, look) for text, _ in row)])

    def _line(self, number: int, pieces: tuple[tuple[str, str], ...]) -> list[Strip]:
        """One line of the script; what does not fit goes on beneath it, further in."""
        lit = number in self._lit
        gutter = Segment(f"{'❱' if lit else ' '}{number:>3} ", self._look("lit" if lit else "gutter"))
        beneath = Segment("       ", self._look("gutter"))
        room = max(self._width - 7, 12)
        return [
            Strip([gutter if first else beneath, *(Segment(text, self._look(kind or "plain")) for text, kind in row)])
            for first, row in zip((True, *[False] * len(pieces) * 8), wrapped(pieces, room), strict=False)
        ]


def wrapped(pieces: tuple[tuple[str, str], ...], room: int) -> list[list[tuple[str, str]]]:
    """Styled pieces of one line as rows of at most that many characters, broken at spaces where there are any."""
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0
    may_break = False
    for text, kind in pieces:
        for word in _WORDS.findall(text):
            if (may_break or word[0].isspace()) and used and used + len(word.rstrip()) > room:
                rows.append([])
                used = 0
                word = word.lstrip()
            rows[-1].append((word, kind))
            used += len(word)
            may_break = word[-1:].isspace()
    return rows


def folded(script: Script) -> list[tuple[int, int, list[str]]]:
    """The shared steps as (first line, last line, names); those with only blank lines between fold into one."""
    folds: list[tuple[int, int, list[str]]] = []
    lines = script.lines
    for first, last, name in script.shared:
        spoken = name.replace("_", " ")
        if folds and not any(line.strip() for line in lines[folds[-1][1] : first - 1]):
            start, _, names = folds[-1]
            folds[-1] = (start, last, [*names, spoken])
        else:
            folds.append((first, last, [spoken]))
    return folds
