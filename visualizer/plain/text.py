"""Places, prose and long lines as plain text: no colour, no Markdown mark, no word broken at a terminal's edge."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from visualizer.lane_view import lanes_of
from visualizer.model import Frame, Machine, Observation
from visualizer.picture import SIGN, PlaceView, picture
from visualizer.visible import short_id, visible

if TYPE_CHECKING:
    from markdown_it.token import Token

PLACE_SIGN = {"entered": SIGN["entered"], "left": SIGN["left"], "holds": " ", "quiet": " "}
PLACE_WORD = {"entered": "entered", "left": "left", "holds": "", "quiet": ""}
MEMBERS_SHOWN = 6


def picture_lines(machine: Machine, seen: Observation, frame: Frame | None) -> Iterator[str]:
    """The places as text, one a line: a mark and its word, the name, the count, the first members."""
    drawn = picture(machine, seen, frame)
    lanes = {lane.place.name: lane for lane in lanes_of(machine, seen, frame, drawn)}
    names = {name: f"{lane.name} {short_id(lane.group)}" for name, lane in lanes.items()}
    shown = (*drawn.places, *(drawn.lanes if not lanes else (lane.place for lane in lanes.values())))
    names = {place.name: names.get(place.name, visible(place.name)) for place in shown}
    width = max(map(len, names.values()))
    for place in shown:
        head = f"{PLACE_SIGN[place.mark]} {names[place.name]:<{width}} {place.count:>5}"
        tail = "  ".join(_members(place))
        yield f"{head}  {tail}".rstrip()
    for job in drawn.nowhere:
        yield f"! {'nowhere':<{width}} {1:>5}  {short_id(job)} has a row and is in no place"


def _members(place: PlaceView) -> Iterator[str]:
    if place.wrong_type:
        yield f"a {place.wrong_type}, not one of ours"
    for member in place.members[:MEMBERS_SHOWN]:
        word = PLACE_WORD["entered"] if member.mark == "entered" else ""
        who = " ".join(filter(None, (SIGN[member.mark].strip(), short_id(member.id), word)))
        yield " · ".join(filter(None, (who, member.note)))
    more = place.hidden + max(0, len(place.members) - MEMBERS_SHOWN)
    if more:
        yield f"and {more:,} more"


# Lines of a width -----------------------------------------------------------------------------------------------------


def folded(line: str, columns: int | None, indent: int = 0) -> Iterator[str]:
    """A line in as many as it takes at that width, broken between words, all but the first indented.

    None is no width at all: the line stays whole. A word that no line can hold is broken.
    """
    if columns is None or len(line) <= columns:
        yield line
        return
    yield from textwrap.wrap(
        line,
        columns,
        subsequent_indent=" " * min(indent, columns // 2),
        expand_tabs=False,
        replace_whitespace=False,
        break_on_hyphens=False,
    )


# Prose ----------------------------------------------------------------------------------------------------------------


def unmarked(markdown: str) -> list[str]:
    """Prose without its Markdown marks: a paragraph, or an item of a list, is one line; "" stands between blocks."""
    from markdown_it import MarkdownIt  # imported late: only a lesson that is told needs it

    lines: list[str] = []
    bullets: list[str] = []
    listed = False
    for token in MarkdownIt("commonmark", {"html": False}).parse(markdown):
        if token.type == "list_item_open":
            bullets.append(f"{token.info}. " if token.info else "- ")
        elif token.type in ("inline", "fence", "code_block"):
            bullet = bullets.pop() if bullets else ""
            if lines and not (listed and bullet):
                lines.append("")
            listed = bool(bullet)
            told = _inline(token.children or ()) if token.type == "inline" else token.content.rstrip("\n")
            lines.extend(f"{bullet}{told}".split("\n"))
    return lines


def _inline(tokens: Sequence[Token]) -> str:
    breaks = {"softbreak": " ", "hardbreak": "\n"}
    return "".join(breaks.get(token.type, token.content) for token in tokens)
