"""What a path showed, a line a step: which way an id went, what was refused, what the bytes were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from visualizer.cache_steps import BY_EVAL, BY_EVALSHA
from visualizer.model import Frame, Outcome
from visualizer.visible import visible


def showed(frames: Sequence[Frame]) -> Iterator[tuple[str, str]]:
    """Each step at which something happened that an end should name: its heading, and that in a few words."""
    for frame in frames:
        if frame.step is None:
            continue
        told = ", ".join(_told(frame))
        if told:
            yield visible(frame.step.heading), told


def _told(frame: Frame) -> Iterator[str]:
    move = frame.move()
    if move is not None and (move.leaves or move.enters):
        yield visible(f"{' '.join(move.leaves) or 'nothing'} → {' '.join(move.enters) or 'nothing'}")
    if frame.outcome.refused is not None:
        yield _refused(frame.outcome)
    elif frame.step is not None and frame.step.do in (BY_EVAL, BY_EVALSHA):
        yield f"{sum(call.sent_bytes for call in frame.calls):,} bytes"
    elif any((call.error or "").startswith("NOSCRIPT") for call in frame.calls):
        yield "after NOSCRIPT"


def _refused(outcome: Outcome) -> str:
    if not outcome.sent:
        return "not sent"
    if outcome.name == "sha_differs":
        return "the caller stopped"
    # The code that an error begins with says enough here; a number alone does not.
    code = (outcome.refused or "").partition(" ")[0]
    return f"refused: {visible(code if code.isupper() else outcome.name.replace('_', ' '), 24)}"
