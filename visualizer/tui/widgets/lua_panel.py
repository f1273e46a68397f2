"""The Lua that just ran: highlighted, numbered as it was sent, shared steps folded until they are asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from visualizer.script import Script

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
        self.border_title = Content("lua")

    def show(
        self, script: Script | None, title: str, note: tuple[str, ...] = (), lit: frozenset[int] = frozenset()
    ) -> None:
        """Another script, or ``note`` lines where no script ran."""
        self.border_title = Content(f"{title}  ↑ its contract" if script else title)
        if (script, note, lit) == (self._script, self._note, self._lit):
            return
        moved = script is not self._script
        self._script, self._note, self._lit = script, note, lit
        self._rebuild()
        if moved:
            self.scroll_to(0, self._first_row(), animate=False)

    def toggle_fold(self) -> None:
        """Folds or unfolds the steps that several scripts share."""
        self._unfolded = not self._unfolded
        self._rebuild()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._rebuild()

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if row >= len(self._rows):
            return Strip.blank(width, self._look("plain"))
        x = self.scroll_offset.x
        return self._rows[row].crop_extend(x, x + width, self._look("plain"))

    def _look(self, name: str) -> Style:
        return self.get_component_rich_style(f"lua--{name}")

    def _rebuild(self) -> None:
        self._rows = list(self._build())
        width = max((row.cell_length for row in self._rows), default=0)
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def _first_row(self) -> int:
        """The row after the lines that only name KEYS and ARGV: what the script does starts there."""
        if self._script is None:
            return 0
        lines = self._script.lines
        bound = [number for number, line in enumerate(lines, start=1) if "KEYS[" in line or "ARGV[" in line]
        first = max(bound, default=self._script.body_line - 1)
        # Rows and lines agree up to the first fold, and no script binds after one.
        while first < len(lines) and not lines[first].strip():
            first += 1
        return min(first, max(len(self._rows) - 1, 0))

    def _build(self) -> list[Strip]:
        if self._script is None:
            return [Strip([Segment(f" {line}", self._look("comment"))]) for line in self._note]
        folds = {} if self._unfolded else {first: (last, names) for first, last, names in folded(self._script)}
        rows: list[Strip] = []
        number = 1
        lines = tokens_of(self._script.source)
        while number <= len(lines):
            if number in folds:
                last, names = folds[number]
                rows.append(Strip([Segment(f"   ▸ {', '.join(names)} (shared steps)", self._look("shared"))]))
                number = last + 1
                continue
            rows.append(self._row(number, lines[number - 1]))
            number += 1
        return rows

    def _row(self, number: int, pieces: tuple[tuple[str, str], ...]) -> Strip:
        lit = number in self._lit
        gutter = Segment(f"{'❱' if lit else ' '}{number:>3} ", self._look("lit" if lit else "gutter"))
        return Strip([gutter, *(Segment(text, self._look(kind or "plain")) for text, kind in pieces)])


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
