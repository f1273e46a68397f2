"""What one run in the debugger did, and whether it did what a step's frame tells."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from visualizer.caller import ErrorReply
from visualizer.model import Frame, Move, WireCall
from visualizer.visible import visible

# A whole number from here on is an instant in ms (1e12 is in the year 2001), and two runs have two clocks.
_AN_INSTANT = 10**12


class Trace(Struct, frozen=True):
    """What one whole run did: its lines, its reply, and the moves when the copy then ran it whole.

    ``error_line`` is the line at which it broke off, 0 where it did not; ``wrote`` are the lines that wrote.
    """

    script: str
    sha1: str
    lines: frozenset[int]
    reply: Any
    whole_reply: Any
    moves: tuple[Move, ...]
    error_line: int = 0
    wrote: frozenset[int] = frozenset()


def call_of(frame: Frame) -> WireCall | None:
    """The call by which a frame's script ran; None where none did."""
    name = frame.performed.script
    calls = [call for call in frame.calls if call.command in ("EVALSHA", "EVAL") and call.script == name is not None]
    # What was answered by NOSCRIPT did not run.
    return calls[-1] if calls and not (calls[-1].error or "").startswith("NOSCRIPT") else None


def args_of(call: WireCall) -> tuple[bytes, ...]:
    """The arguments that a call gave its script; EVAL sends the script's text before them."""
    return call.args[1:] if call.command == "EVAL" else call.args


def went_another_way(trace: Trace, frame: Frame) -> str:
    """Why a trace does not tell what the frame's script did, in a sentence part; empty where it does.

    The replies, where the step got one, and the moves have to be the same, but for instants.
    """
    call = call_of(frame)
    if call is None or call.sha1 != trace.sha1:
        return "the step ran another script"
    reply = ErrorReply(call.error) if call.error is not None else call.reply
    for name, got in (("line by line", trace.reply), ("run whole", trace.whole_reply)):
        if frame.outcome.name != "reply_lost" and _timeless(got) != _timeless(reply):
            return f"{name} it answered {_short(got)}, and in the lesson {_short(reply)}"
    there = {move.id: _shape(move) for move in frame.moves}
    here = {move.id: _shape(move) for move in trace.moves}
    for job in {**there, **here}:
        if there.get(job) != here.get(job):
            return f"{visible(job, 20)} {_told(here.get(job))} there, and {_told(there.get(job))} in the lesson"
    return ""


def plain_error(text: str) -> str:
    """An error's words: what the server adds to a script's differs between EVAL and EVALSHA, and redis-py takes off a
    plain ERR."""
    return text.partition(" script: ")[0].removeprefix("ERR ")


def _timeless(value: Any) -> Any:
    """A value with its instants taken out."""
    if isinstance(value, list | tuple):
        items = [_timeless(item) for item in value]
        if len(items) > 2 and len(items) % 2 == 0 and all(isinstance(item, bytes | str) for item in items):
            # A hash as its fields and values: their order is each server's own.
            return sorted(map(repr, zip(items[::2], items[1::2], strict=True)))
        return items
    if isinstance(value, bytes) and value.isdigit() and int(value) >= _AN_INSTANT:
        return "an instant"
    if isinstance(value, int) and value >= _AN_INSTANT:
        return "an instant"
    if isinstance(value, ErrorReply):
        return plain_error(value.text)
    return value


def _shape(move: Move) -> Any:
    row = {change.field: (_timeless(change.before), _timeless(change.after)) for change in move.row}
    locks = tuple(lock and lock.token for lock in (move.lock_before, move.lock_after))
    return (move.leaves, move.enters, move.row_before, move.row_after, row, locks)


def _told(shape: Any) -> str:
    if shape is None:
        return "stays as it is"
    leaves, enters = shape[0], shape[1]
    return f"leaves {' and '.join(leaves) or 'nothing'} and enters {' and '.join(enters) or 'nothing'}"


def _short(reply: Any) -> str:
    if isinstance(reply, ErrorReply):
        return visible(plain_error(reply.text), 60)
    if isinstance(reply, bytes):
        return f'"{visible(reply, 40)}"'
    if isinstance(reply, list | tuple):
        return "[" + ", ".join(map(_short, reply[:4])) + (", …]" if len(reply) > 4 else "]")
    return "nil" if reply is None else str(reply)
