"""Lesson prose (Markdown) as content: paragraphs, lists, headings, bold, italics and code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from markdown_it.token import Token

_OPENS = {"strong_open": "bold $strong", "em_open": "italic"}


@lru_cache(maxsize=256)
def prose(text: str) -> Content:
    """The prose as content, its blocks a blank line apart. What Markdown it does not know stays as text."""
    from markdown_it import MarkdownIt  # imported late: the first frame does not wait for it

    blocks: list[Content] = []
    prefix: list[str] = []
    style = ""
    listed = False  # the last block is an item of a list: its neighbours follow without a blank line
    for token in MarkdownIt("commonmark", {"html": False}).parse(text):
        if token.type == "heading_open":
            style = "bold $strong"
        elif token.type == "heading_close":
            style = ""
        elif token.type == "list_item_open":
            prefix.append(f"{token.info}. " if token.info else "· ")
        elif token.type == "inline":
            lead = prefix.pop() if prefix else ""
            line = _inline(token.children or [], style)
            if lead and listed:
                blocks[-1] = Content("\n").join([blocks[-1], Content.assemble((lead, "$now"), line)])
            else:
                blocks.append(Content.assemble((lead, "$now"), line) if lead else line)
            listed = bool(lead)
        elif token.type in ("fence", "code_block"):
            blocks.append(Content.styled(token.content.rstrip("\n"), "$lua-call"))
    return Content("\n\n").join(blocks)


def _inline(tokens: Sequence[Token], style: str) -> Content:
    parts: list[tuple[str, str]] = []
    open_styles = [style] if style else []
    for token in tokens:
        if token.type in _OPENS:
            open_styles.append(_OPENS[token.type])
        elif token.type in ("strong_close", "em_close"):
            open_styles.pop()
        elif token.type == "code_inline":
            parts.append((token.content, "$entered"))
        elif token.type == "softbreak":
            parts.append((" ", ""))
        elif token.type == "hardbreak":
            parts.append(("\n", ""))
        elif token.content:
            parts.append((token.content, " ".join(open_styles)))
    return Content.assemble(*parts)
