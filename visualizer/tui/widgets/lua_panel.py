"""The Lua that just ran: highlighted, numbered as it was sent, shared steps folded until they are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import ClassVar

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from visualizer.script import Script
from visualizer.tui.canvas import fitted
from visualizer.tui.widgets.strip_panel import StripPanel

_PARTS = re.compile(r"\s+|\S+")
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


class Marks(Struct, frozen=True):
    """What a debugger adds to a script's lines.

    ``lit`` are the lines that it saw run, ``at`` is the line that runs next (0: none), ``chosen`` the one that the
    learner points at. ``error`` is what was said when the ``broken`` line broke the script off. ``whole``: the script
    has ended, so what did not run steps back. ``eye`` is the line to keep in view (0: none).
    """

    lit: frozenset[int] = frozenset()
    at: int = 0
    chosen: int = 0
    breakpoints: frozenset[int] = frozenset()
    broken: int = 0
    error: str = ""
    whole: bool = False
    eye: int = 0


UNMARKED = Marks()


class LuaPanel(StripPanel):
    """Shows one script, with the ``marks`` of a debugger where one has run it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lua--plain",
        "lua--keyword",
        "lua--string",
        "lua--number",
        "lua--call",
        "lua--comment",
        "lua--gutter",
        "lua--lit",
        "lua--at",
        "lua--unlit",
        "lua--broken",
        "lua--shared",
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._script: Script | None = None
        self._note: tuple[str, ...] = ()
        self.marks = UNMARKED
        self._unfolded = False
        self._cache: dict[tuple[int, str, str], list[Strip]] = {}
        self._row_of: dict[int, int] = {}
        self._width = 0
        self._opening = False
        self.entitle("lua")

    def show(
        self,
        script: Script | None,
        title: str,
        note: tuple[str, ...] = (),
        marks: Marks = UNMARKED,
        subtitle: str | None = None,
    ) -> None:
        """Another script, or ``note`` lines where no script ran."""
        self.entitle(title, subtitle)
        if (script, note, marks) == (self._script, self._note, self.marks):
            return
        if script is not self._script:
            self._cache.clear()
            self._opening = True
        self._script, self._note, self.marks = script, note, marks
        self._remake()

    def unfold(self) -> None:
        """Shows the shared steps from the start: a debugger goes into them."""
        self._unfolded = True

    def toggle_fold(self) -> None:
        """Folds or unfolds the steps that several scripts share."""
        self._unfolded = not self._unfolded
        self._remake()

    def notify_style_update(self) -> None:
        self._cache.clear()
        super().notify_style_update()

    def _make(self, width: int, height: int) -> tuple[Sequence[Strip], Sequence[Strip]]:  # noqa: ARG002
        if width != self._width:
            self._cache.clear()
        self._width = width
        self._row_of = {}
        return self._build(), ()

    def _remake(self, *, from_top: bool = False) -> None:
        super()._remake(from_top=from_top)
        if not self.room.height:
            return
        if self.marks.eye:
            self._keep_in_view(self.marks.eye)
        elif self._opening:
            self.scroll_to(0, self._first_row(), animate=False)
        self._opening = False

    def _keep_in_view(self, number: int) -> None:
        """Scrolls as little as keeps a line in view, with the lines around it."""
        row, top, height = self._row_of.get(number, 0), self.scroll_offset.y, self.room.height
        around = min(2, max(height // 2 - 1, 0))
        if row - around < top:
            self.scroll_to(0, max(row - around, 0), animate=False)
        elif row + around >= top + height:
            self.scroll_to(0, row + around - height + 1, animate=False)

    def _look(self, name: str) -> Style:
        return self.look(f"lua--{name}")

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
        lit = self.marks.lit
        # A shared step that ran stays open: its lines are among those that mattered.
        folds = {
            first: (last, names)
            for first, last, names in (() if self._unfolded else folded(self._script))
            if not lit.intersection(range(first, last))
        }
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
        marks = self.marks
        lit = number in marks.lit
        signs = (("❱", number == marks.at), ("›", number == marks.chosen), ("┃", lit))
        sign = next((sign for sign, is_so in signs if is_so), " ")
        point = "●" if number in marks.breakpoints else " "
        look = "broken" if number == marks.broken else "at" if number == marks.at else "lit" if lit else "gutter"
        unlit = marks.whole and not lit and number >= self._body
        rows = self._cached(number, f"{sign}{point}{unlit}", pieces, sign, point, look, unlit=unlit)
        if number == marks.broken and marks.error:
            told = fitted(f"       ✗ {marks.error}", max(self._width, 12))
            return [*rows, Strip([Segment(told, self._look("broken"))])]
        return rows

    def _cached(
        self,
        number: int,
        key: str,
        pieces: tuple[tuple[str, str], ...],
        sign: str,
        point: str,
        look: str,
        *,
        unlit: bool,
    ) -> list[Strip]:
        found = self._cache.get((number, key, look))
        if found is None:
            gutter = [Segment(f"{sign}{number:>3}", self._look(look)), Segment(point, self._look("at"))]
            beneath = [Segment("       ", self._look("gutter"))]
            room = max(self._width - 7, 12)
            whole = {"at": "at", "broken": "broken"}.get(look, "unlit" if unlit else "")
            found = self._cache[number, key, look] = [
                Strip(
                    [
                        *(gutter if first else beneath),
                        *(Segment(text, self._look(whole or kind or "plain")) for text, kind in row),
                    ]
                )
                for first, row in zip(chain((True,), repeat(False)), wrapped(pieces, room), strict=False)
            ]
        return found

    @property
    def _body(self) -> int:
        return self._script.body_line if self._script is not None else 1


def wrapped(pieces: Sequence[tuple[str, str]], room: int) -> list[list[tuple[str, str]]]:
    """Styled pieces of one line as rows of at most that many cells, broken at spaces where there are any.

    What stands without a space between belongs together, whatever pieces it is made of; only what is longer than a row
    is broken elsewhere.
    """
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0
    for word in _words(pieces):
        width = sum(cell_len(text) for text, _ in word)
        blank = not word[0][0].strip()
        if blank and not used and len(rows) > 1:
            continue  # what goes on beneath begins with a word
        if used and used + width > room and not blank:
            rows.append([])
            used = 0
        for text, kind in word:
            while used + cell_len(text) > room and not blank:
                fits = _fitting(text, room - used) or (0 if used else 1)
                if fits:
                    rows[-1].append((text[:fits], kind))
                    text = text[fits:]
                rows.append([])
                used = 0
            if text:
                rows[-1].append((text, kind))
                used += cell_len(text)
    return rows


def _words(pieces: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Pieces cut at their spaces: words, each of one or more pieces, and the spaces between."""
    word: list[tuple[str, str]] = []
    for text, kind in pieces:
        for part in _PARTS.findall(text):
            if part.isspace():
                if word:
                    yield word
                    word = []
                yield [(part, kind)]
            else:
                word.append((part, kind))
    if word:
        yield word


def _fitting(text: str, room: int) -> int:
    """How many characters of a text fit."""
    count = 0
    while count < len(text) and cell_len(text[: count + 1]) <= room:
        count += 1
    return count


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
