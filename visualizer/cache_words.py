"""What a frame's calls tell about the server's script cache: a script that it did not know, and the bytes sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from visualizer.cache_steps import BY_EVAL, BY_EVALSHA
from visualizer.model import Frame
from visualizer.spans import VALUE, Line, Span

_SENDERS = {BY_EVAL: "EVAL", BY_EVALSHA: "EVALSHA"}


def cache_lines(frame: Frame, earlier: Sequence[Frame]) -> Iterator[Line]:
    """The lines of this frame (``earlier`` are the walk's frames before it), none where there is nothing to tell."""
    commands = [call.command for call in frame.calls]
    # A caller loads a script only after NOSCRIPT, and calls it again only where the SHA-1 is the same.
    if ("SCRIPT LOAD", "EVALSHA") in pairwise(commands):
        told = "The server did not know the script and ran nothing: one SCRIPT LOAD, the same EVALSHA again."
        yield Line("", (Span(told),))
    if frame.step is None or frame.step.do not in _SENDERS or not frame.calls:
        return
    sizes = [call.sent_bytes for call in frame.calls]
    each = f"{sizes[0]:,} bytes each" if len(set(sizes)) == 1 else "the load among them"
    calls = "1 call" if len(sizes) == 1 else f"{len(sizes)} calls, {each}"
    yield Line("sent", (Span(f"{sum(sizes):,} bytes", VALUE), Span(f" in {calls}")))
    other = next((past for past in reversed(earlier) if _comparable(past, frame)), None)
    if other is not None:
        yield Line("", (Span(_comparison(other, frame, earlier)),))


def _comparable(past: Frame, frame: Frame) -> bool:
    """Whether an earlier frame sent as many calls of the same script the other way."""
    if past.step is None or frame.step is None or past.step.do not in _SENDERS or past.step.do == frame.step.do:
        return False
    return _ran(past) == _ran(frame)


def _ran(frame: Frame) -> int:
    return sum(call.error is None and call.command in _SENDERS.values() for call in frame.calls)


def _comparison(past: Frame, frame: Frame, earlier: Sequence[Frame]) -> str:
    assert past.step is not None
    then, now = (sum(call.sent_bytes for call in each.calls) for each in (past, frame))
    number = sum(before.of_path for before in earlier if before.number <= past.number)
    told = f"By {_SENDERS[past.step.do]} the same {_ran(past)} took {then:,} bytes (step {number})"
    if then <= now:
        return f"{told}: {now - then:,} fewer."
    return f"{told}: {then - now:,} more, {then / now:.1f} times as many."
