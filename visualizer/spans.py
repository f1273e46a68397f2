"""Lines of (text, role), and values as the text that stands in them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from visualizer.caller import ErrorReply
from visualizer.visible import visible

# Roles, not colours: what a span is, for a screen to choose how it looks.
PLAIN, LABEL, SUBJECT, LEFT, ENTERED, VALUE = "plain", "label", "subject", "left", "entered", "value"
QUIET, GOOD, BROKEN, REFUSED, STRONG = "quiet", "good", "broken", "refused", "strong"
# An aside may be left out where the line would not fit otherwise.
ASIDE = "aside"


class Span(Struct, frozen=True):
    """A piece of a line and what it is."""

    text: str
    role: str = PLAIN


class Line(Struct, frozen=True):
    """One line: a label (empty for sentences) and its spans."""

    label: str
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        body = "".join(span.text for span in self.spans)
        return f"{self.label:<6} {body}" if self.label else body


def quoted(value: bytes, limit: int) -> str:
    """A value in quotes, made visible and cut, with its length where the text alone does not tell it."""
    shown = visible(value, limit)
    length = "" if shown.encode() == value else f" {len(value):,} B"
    return f'"{shown}"{length}'


def show_reply(reply: Any, limit: int = 28) -> str:
    """A reply as text: strings in quotes, integers bare, arrays in brackets, nil as nil."""
    if reply is None:
        return "nil"
    if isinstance(reply, ErrorReply):
        return visible(reply.text)
    if isinstance(reply, bytes):
        return quoted(reply, limit)
    if isinstance(reply, list | tuple):
        # A list in a list is told by its length: a row that a script answers is shown as a row elsewhere.
        shown = [f"[{len(item)} items]" if isinstance(item, list) else show_reply(item, 14) for item in reply[:6]]
        return "[" + ", ".join(shown) + (", …" if len(reply) > 6 else "") + "]"
    return visible(str(reply), limit)
