"""The wire log: every call of a frame as it went over the wire, and what each script issued; lines of (text, role)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from visualizer.model import Frame, Issued, WireCall
from visualizer.readout_lines import text_changed
from visualizer.script import Slot, load
from visualizer.spans import GOOD, LABEL, QUIET, REFUSED, STRONG, SUBJECT, VALUE, Line, Span
from visualizer.visible import visible, visible_size

# How much of one argument, of one word that a script sent, and of one item of a reply is shown, in cells.
ARG_CELLS, WORD_CELLS, ITEM_CELLS = 60, 40, 40
REPLY_ITEMS = 24
# The label of a line that belongs to the one above it: its text stands beneath that one's.
_BENEATH = " "

NOTHING_YET = "Nothing has run yet, so nothing went over the wire."
NO_CALL = "This step sent nothing."
BROKE_OFF = "What the script issued is not known: watching it broke off."
WITHOUT_REPLIES = "The server tells the commands of a script, not what they were answered."


def wire_log(frame: Frame | None, base: bytes, unwatched: str | None = None) -> tuple[Line, ...]:
    """The log of a frame. ``base`` begins the queue's keys and is said once; ``unwatched`` is the engine's sentence
    where it does not watch what scripts issue."""
    return tuple(_lines(frame, base, unwatched))


def _lines(frame: Frame | None, base: bytes, unwatched: str | None) -> Iterator[Line]:
    if frame is None or not frame.calls:
        yield _sentence(NOTHING_YET if frame is None else NO_CALL)
        return
    if any(_begins_with(base, call) for call in frame.calls):
        yield Line("", (Span(visible(base)), Span(" begins the keys and is left out of them.", QUIET)))
    told: set[str] = set()
    for number, call in enumerate(frame.calls, start=1):
        yield from _call(number, call, base, told)
    yield Line("total", (Span(total(frame.calls), STRONG),))
    scripts = [call for call in frame.calls if call.command == "EVALSHA"]
    if any(call.issued is None for call in scripts):
        yield _sentence(unwatched or BROKE_OFF)
    elif any(not each.answered for call in scripts for each in call.issued or ()):
        yield _sentence(WITHOUT_REPLIES)


def issued_lines(frame: Frame | None, base: bytes) -> tuple[Line, ...]:
    """What the frame's scripts issued, in order, with the replies where they are known; none where none was watched."""
    calls = frame.calls if frame is not None else ()
    return tuple(line for call in calls if call.issued is not None for line in _issued(call.issued, base))


def _sentence(text: str) -> Line:
    return Line("", (Span(text, QUIET),))


def total(calls: Sequence[WireCall]) -> str:
    """How many calls there were, the bytes they sent and the time they took: ``2 calls, 193 B sent, 142 µs``."""
    count = "1 call" if len(calls) == 1 else f"{len(calls)} calls"
    sent_bytes = sum(call.sent_bytes for call in calls)
    micros = sum(_micros(call) for call in calls)
    return f"{count}, {sent_bytes:,} B sent, {micros:,} µs"


def _micros(call: WireCall) -> int:
    return round(call.ms * 1000)


# One call -------------------------------------------------------------------------------------------------------------


def _call(number: int, call: WireCall, base: bytes, told: set[str]) -> Iterator[Line]:
    name = f" {call.script}" if call.script is not None else ""
    facts = f"  {call.sent_bytes:,} B sent, {_micros(call):,} µs"
    yield Line(f"call {number}", (Span(call.command, STRONG), Span(name, SUBJECT), Span(facts, QUIET)))
    carries_text = call.command in ("SCRIPT LOAD", "EVAL")
    if carries_text:
        changed = ", changed" if text_changed(call) else ""
        yield Line("text", (Span(f"the script{changed}, {len(call.args[0]):,} B"),))
    elif call.sha1 is not None:
        again = call.sha1 in told
        told.add(call.sha1)
        yield Line("sha1", (Span(f"{call.sha1[:7]}…, as above" if again else call.sha1),))
    if call.command != "SCRIPT LOAD":
        header = load(call.script).header if call.script is not None else None
        keys = [visible(_without(base, key)) for key in call.keys]
        args = [visible_size(arg, ARG_CELLS) for arg in call.args[carries_text:]]
        yield from _listed("keys", header.keys if header else (), keys)
        yield from _listed("args", header.args if header else (), args)
    yield Line("reply", (Span(visible(call.error), REFUSED) if call.error else Span(reply_text(call.reply), GOOD),))
    if call.issued is not None:
        yield from _issued(call.issued, base)


def _listed(label: str, slots: Sequence[Slot], values: Sequence[str]) -> Iterator[Line]:
    """The values one a line, each with the name that the script's header gives its position."""
    names = list(_names(slots, len(values)))
    width, digits = max(map(len, names), default=0), len(str(len(names)))
    for number, (name, value) in enumerate(zip(names, values, strict=True), start=1):
        named = f"{name:<{width}} " if width else ""
        spans = (Span(f"{number:>{digits}} ", QUIET), Span(named, LABEL), Span(value, VALUE))
        yield Line(label if number == 1 else _BENEATH, spans)


def _names(slots: Sequence[Slot], count: int) -> Iterator[str]:
    """A name for each of ``count`` values: a repeating slot, the last one, takes all that are left."""
    for at in range(count):
        slot = slots[min(at, len(slots) - 1)] if slots else None
        yield "" if slot is None else f"{slot.name} (unused)" if slot.unused else slot.name


def _issued(issued: Sequence[Issued], base: bytes) -> Iterator[Line]:
    if not issued:
        yield Line("inside", (Span("nothing was issued", QUIET),))
    for number, each in enumerate(issued, start=1):
        command, *words = each.words
        told = "".join(f" {visible_size(_without(base, word), WORD_CELLS)}" for word in words)
        spans = [Span(f"{number:>{len(str(len(issued)))}} ", QUIET), Span(visible(command), VALUE), Span(told)]
        if each.answered:
            spans.append(Span(" → ", QUIET))
            spans.append(Span(visible(each.error), REFUSED) if each.error else Span(reply_text(each.reply), GOOD))
        yield Line("inside" if number == 1 else _BENEATH, tuple(spans))


# Values ---------------------------------------------------------------------------------------------------------------


def _begins_with(base: bytes, call: WireCall) -> bool:
    words = (*call.keys, *(word for each in call.issued or () for word in each.words))
    return any(word.startswith(base) for word in words)


def _without(base: bytes, word: bytes) -> bytes:
    """A key without what begins every key of the queue; a word that is the beginning alone stays."""
    return word[len(base) :] if word.startswith(base) and word != base else word


def reply_text(reply: Any) -> str:
    """A reply with its parts: strings in quotes, integers bare, arrays in brackets, nil as nil."""
    if reply is None:
        return "nil"
    if isinstance(reply, bytes):
        shown = visible(reply, ITEM_CELLS)
        return f'"{shown}"' if shown.encode() == reply else f'"{shown}" ({len(reply):,} B)'
    if isinstance(reply, Mapping):
        return reply_text([part for pair in reply.items() for part in pair])
    if isinstance(reply, list | tuple):
        parts = [reply_text(item) for item in reply[:REPLY_ITEMS]]
        more = [f"… {len(reply):,} in all"] if len(reply) > REPLY_ITEMS else []
        return "[" + ", ".join((*parts, *more)) + "]"
    return visible(str(reply), ITEM_CELLS)
