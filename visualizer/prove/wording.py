"""Small words that all lines of a proof share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from visualizer.spans import BROKEN, GOOD, Line, Span

# How much further to the right a line goes on that was too long.
HANGING = 2
# A word with the blanks before it, or the blanks at a span's end.
_PIECES = re.compile(r" *[^ ]+| +")


def line(*spans: Span | str) -> Line:
    """A line of spans; a bare text is a plain one."""
    return Line("", tuple(Span(span) if isinstance(span, str) else span for span in spans))


def bad(number: int) -> str:
    """The role of a number of bad things: good where it is 0."""
    return BROKEN if number else GOOD


def counted(number: int, word: str) -> str:
    """A number with its word, in the plural unless it is one."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def folded(told: Line, columns: int) -> Iterator[Line]:
    """A line in as many as it takes at that width, broken between words; they go on where it began, and a bit further.

    A word that is wider than that stays whole.
    """
    indent = len(told.text) - len(told.text.lstrip(" "))
    hang = " " * min(indent + HANGING, max(columns // 2, 0))
    spans: list[Span] = []
    used = 0
    for word in _words(told):
        width = sum(cell_len(part.text) for part in word)
        if spans and used + width > columns:
            yield Line("", tuple(spans))
            first = Span(word[0].text.lstrip(" "), word[0].role)
            width -= len(word[0].text) - len(first.text)
            spans, used, word = [Span(hang)], len(hang), [first, *word[1:]]
        spans.extend(word)
        used += width
    yield Line("", tuple(spans))


def _words(told: Line) -> list[list[Span]]:
    """The line's words, each with the blanks before it; a word may go over several spans."""
    words: list[list[Span]] = []
    for span in told.spans:
        for piece in _PIECES.findall(span.text):
            if words and (not piece.startswith(" ") or not "".join(part.text for part in words[-1]).strip()):
                words[-1].append(Span(piece, span.role))
            else:
                words.append([Span(piece, span.role)])
    return words


def in_words(law: str) -> str:
    """A law's name with blanks, so that it breaks between words where a column is narrow."""
    return law.replace("_", " ")
