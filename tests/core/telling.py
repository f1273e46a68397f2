"""A readout made comparable: what differs from run to run stands as a word in capitals."""

from __future__ import annotations

import re

from tests.core.walking import texts
from visualizer.model import Frame
from visualizer.walk import Walker

ALL = "laws   11 of 11 hold, judged on 1 id in view"
NO_ID = "laws   11 of 11 hold, no id to judge"
NO_PAUSE = "wire   HGET emq:{cm}:meta paused → nil  MS"
ONE_STEP = "  One script, one step: no client saw it between."
PATTERNS = (
    (r"\d+\.\d\d ms$", "MS"),
    (r"\b[0-9a-f]{7}…", "SHA…"),
    (r"\b\d{13}\b", "SCORE"),
    (r"\d\d:\d\d:\d\d\.\d{3}", "TIME"),
    (r"\b(in|for) (1 h 0 min|59 min 59 s|2 h 0 min|1 h 59 min)", r"\1 A WHILE"),
    (r"\b\d+(\.\d)? m?s (ago|passed|were left|before)( this reading)?", r"A MOMENT \2"),
    (r"\bfor \d+(\.\d)? m?s", "for A MOMENT"),
)


def told(walker: Walker, frame: Frame | None = None) -> list[str]:
    """The readout with what differs from run to run replaced."""
    found = texts(walker, frame)
    for pattern, word in PATTERNS:
        found = [re.sub(pattern, word, text) for text in found]
    return found


def wire(keys: int, args: int, reply: str) -> str:
    return f"wire   EVALSHA SHA… {keys} keys {args} args → {reply}  MS"
