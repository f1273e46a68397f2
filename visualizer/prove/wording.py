"""Small words that all lines of a proof share."""

from __future__ import annotations

from visualizer.spans import BROKEN, GOOD, Line, Span


def line(*spans: Span | str) -> Line:
    """A line of spans; a bare text is a plain one."""
    return Line("", tuple(Span(span) if isinstance(span, str) else span for span in spans))


def bad(number: int) -> str:
    """The role of a number of bad things: good where it is 0."""
    return BROKEN if number else GOOD


def counted(number: int, word: str) -> str:
    """A number with its word, in the plural unless it is one."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def in_words(law: str) -> str:
    """A law's name with blanks, so that it breaks between words where a column is narrow."""
    return law.replace("_", " ")
