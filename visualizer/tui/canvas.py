"""A grid of styled cells to draw boxes and edges on, turned into strips line by line."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

LIGHT = "╭─╮│╰╯"
HEAVY = "┏━┓┃┗┛"


class Canvas:
    """A grid of ``width`` × ``height`` cells; whatever is drawn outside is cut off."""

    def __init__(self, width: int, height: int, style: Style) -> None:
        self.width = width
        self.height = height
        self._cells: list[list[tuple[str, Style]]] = [[(" ", style)] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, style: Style, limit: int | None = None) -> int:
        """Writes text from a cell on, cut at ``limit`` cells with ``…``; answers the x after it."""
        if not 0 <= y < self.height:
            return x
        if limit is not None and cell_len(text) > limit:
            text = fitted(text, limit)
        row = self._cells[y]
        for character in text:
            wide = cell_len(character)
            if x + wide > self.width:
                break
            if x >= 0:
                row[x] = (character, style)
                if wide == 2:
                    row[x + 1] = ("", style)
            x += wide
        return x

    def free(self, x: int, y: int, width: int) -> bool:
        """Whether nothing is written on these cells of a line; what is outside counts as free."""
        return 0 <= y < self.height and all(cell == " " for cell, _ in self._cells[y][max(x, 0) : max(x + width, 0)])

    def box(self, x: int, y: int, width: int, height: int, style: Style, *, heavy: bool = False) -> None:
        """An empty box; heavy lines say what happened even without colour."""
        if width < 2 or height < 2:
            return
        left_top, across, right_top, down, left_bottom, right_bottom = tuple(HEAVY if heavy else LIGHT)
        self.put(x, y, left_top + across * (width - 2) + right_top, style)
        for row in range(y + 1, y + height - 1):
            self.put(x, row, down, style)
            self.put(x + width - 1, row, down, style)
        self.put(x, y + height - 1, left_bottom + across * (width - 2) + right_bottom, style)

    def strip(self, y: int) -> Strip:
        """One line as a strip of the fewest segments."""
        segments: list[Segment] = []
        run: list[str] = []
        current: Style | None = None
        for character, style in self._cells[y]:
            if style is not current:
                if run and current is not None:
                    segments.append(Segment("".join(run), current))
                run, current = [], style
            run.append(character)
        if run and current is not None:
            segments.append(Segment("".join(run), current))
        return Strip(segments, self.width)


def fitted(text: str, width: int) -> str:
    """Text in at most that many cells, ending in ``…`` where it was cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    cut = ""
    for character in text:
        if cell_len(cut + character) > width - 1:
            break
        cut += character
    return cut + "…"
