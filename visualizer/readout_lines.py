"""The lines of a readout beneath its first: score, row, lock, side keys, the wire, the laws."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from visualizer.clock import duration, lesson_time, relative, time_of_day
from visualizer.erlang_term import printed
from visualizer.ids import is_branded
from visualizer.model import Change, Frame, Machine, Move, Observation, WireCall
from visualizer.spans import (
    ASIDE,
    BROKEN,
    ENTERED,
    GOOD,
    LABEL,
    LEFT,
    PLAIN,
    QUIET,
    REFUSED,
    STRONG,
    VALUE,
    Line,
    Span,
    quoted,
    show_reply,
)
from visualizer.visible import short_id, visible


def sentence(text: str, role: str = PLAIN) -> Line:
    # A note may quote a lesson or a server.
    return Line("", (Span(visible(text), role),))


def whose_clock(frame: Frame) -> str:
    return "lesson's" if frame.after.epoch_ms else "server's"


def score_lines(machine: Machine, frame: Frame, own: Move) -> Iterator[Line]:
    for place in (*own.enters, *own.rescored):
        raw = frame.after.score(place, own.id)
        if raw is None:
            continue
        meaning = machine.read_score(place, raw)
        spans = [Span(f"{raw:.0f}", VALUE), Span("  ")]
        if meaning.at_ms is None:
            spans.append(Span(meaning.means))
        else:
            now_ms = frame.after.clock_ms
            epoch_ms = frame.after.epoch_ms
            at = lesson_time(meaning.at_ms - epoch_ms) if epoch_ms else time_of_day(meaning.at_ms, now_ms)
            means = meaning.means if meaning.at_ms > now_ms else meaning.meant
            spans.append(Span(f"{means} at {at}, {relative(meaning.at_ms, now_ms)}"))
            spans.append(Span(f", on the {whose_clock(frame)} clock", ASIDE))
        yield Line("score", tuple(spans))


def row_lines(machine: Machine, frame: Frame, own: Move) -> Iterator[Line]:
    if own.row_before and not own.row_after:
        yield Line("row", (Span("deleted", LEFT), Span(": no field is left", QUIET)))
        return
    spans: list[Span] = []
    for change in own.row:
        if spans:
            spans.append(Span("   "))
        spans.extend(_change(change))
    note = machine.row_note(frame, own)
    if note:
        spans.append(Span(f"   {note}" if spans else note, ASIDE if spans else QUIET))
    if spans:
        yield Line("row", tuple(spans))
    for change in own.row:
        term = printed(change.after or b"")
        if term is not None:
            yield Line("term", (Span(f"{visible(change.field, 20)} is ", LABEL), Span(visible(term, 120), VALUE)))


def lock_lines(own: Move) -> Iterator[Line]:
    was, now = own.lock_before, own.lock_after
    if (was and (was.token, was.expires_at_ms)) == (now and (now.token, now.expires_at_ms)):
        return
    if was is not None and now is not None and was.token == now.token:
        told = f"  has {duration(now.ttl_ms)} again, it had {duration(was.ttl_ms)} left"
        yield Line("lock", (Span(visible(now.token, 24), ENTERED), Span(told)))
        return
    spans = []
    if was is not None:
        spans.append(Span(f"− {visible(was.token, 24)}", LEFT))
    if now is not None:
        gap = "  " if spans else ""
        spans.append(Span(f"{gap}+ {visible(now.token, 24)}", ENTERED))
        if now.ttl_ms >= 0:
            spans.append(Span(f"  for {duration(now.ttl_ms)}"))
    yield Line("lock", tuple(spans))


def _change(change: Change) -> Iterator[Span]:
    yield Span(visible(change.field, 20) + " ", LABEL)
    if change.after is None:
        yield Span(f"− {_plain_or_quoted(change.before or b'')}", LEFT)
    elif change.before is None:
        yield Span("+ ", ENTERED)
        yield Span(quoted(change.after, 24), VALUE)
    else:
        yield Span(f"{_plain_or_quoted(change.before)} → ")
        yield Span(_plain_or_quoted(change.after), VALUE)


def _plain_or_quoted(value: bytes) -> str:
    """A short word as it is; what is escaped or cut in quotes, with its length."""
    shown = visible(value, 24)
    return shown if value and shown.encode() == value else quoted(value, 24)


def side_lines(frame: Frame, told: Collection[str] = ()) -> Iterator[Line]:
    """Side keys that hold other things than before: counters, the ring, a pause. ``told`` are told elsewhere."""
    was, now = frame.before.sides, frame.after.sides
    spans: list[Span] = []
    for name in dict.fromkeys((*was, *now)):
        if was.get(name) == now.get(name) or name in told:
            continue
        if spans:
            spans.append(Span("   "))
        spans.append(Span(f"{visible(name)} ", LABEL))
        spans.append(Span(_side_difference(was.get(name), now.get(name))))
    if spans:
        yield Line("beside", tuple(spans))


def _side_difference(was: Any, now: Any) -> str:
    if isinstance(was, Mapping | None) and isinstance(now, Mapping | None):
        before, after = was or {}, now or {}
        parts = [
            f"{short_id(field)} {_held(before.get(field))} → {_held(after.get(field))}"
            for field in dict.fromkeys((*before, *after))
            if before.get(field) != after.get(field)
        ]
        return ", ".join(parts)
    return f"{_held(was)} → {_held(now)}"


def _held(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bytes):
        return visible(value, 24)
    if isinstance(value, tuple):
        shown = " ".join(short_id(item) if isinstance(item, bytes) else str(item) for item in value[:4])
        return f"[{shown} …] ({len(value)})" if len(value) > 4 else f"[{shown}]"
    return str(value)


def odd_member_lines(machine: Machine, seen: Observation) -> Iterator[Line]:
    foreign, holes = [], []
    for name, reading in seen.places.items():
        if reading.wrong_type:
            yield sentence(f"{name} holds a {reading.wrong_type}, not a {machine.place(name).kind}: not one of ours.")
        for member in reading.members:
            if not is_branded(member.id):
                foreign.append(f"{visible(member.id, 24)} in {name}")
            if seen.rows.get(member.id) is None:
                holes.append(f"{visible(member.id, 24)} in {name}")
    if foreign:
        yield Line("foreign", (Span(f"{len(foreign)}: {', '.join(foreign[:3])}: not a branded id, so not a job"),))
    if holes:
        yield Line("no row", (Span(f"{len(holes)}: {', '.join(holes[:3])}"),))


def wire_lines(calls: Sequence[WireCall]) -> Iterator[Line]:
    """A line a call; calls that are alike, one after the other, share one and are counted."""
    for _, alike in groupby(calls, key=lambda call: replace(call, ms=0.0, issued=None)):
        yield _wire_line(tuple(alike))


def _wire_line(calls: tuple[WireCall, ...]) -> Line:
    call = calls[0]
    spans = [Span(f"{len(calls)} × ", STRONG)] if len(calls) > 1 else []
    spans.append(Span(call.command + " ", LABEL))
    if call.command == "SCRIPT LOAD":
        spans.append(Span(f"{_loaded(call)}, "))
    elif call.sha1 is not None and call.command != "EVAL":
        spans.append(Span(call.sha1[:7] + "… "))
    if call.command == "EVALSHA":
        spans.append(Span(f"{len(call.keys)} keys {len(call.args)} args ", QUIET))
    elif call.command == "EVAL":
        spans.append(Span(f"{len(call.args[0])} bytes {len(call.keys)} keys {len(call.args) - 1} args ", QUIET))
    elif call.command == "SCRIPT LOAD":
        spans.append(Span(f"{len(call.args[0])} bytes ", QUIET))
    else:
        words = " ".join(visible(word, 24) for word in (*call.keys, *call.args))
        spans.append(Span(words + " " if words else "", QUIET))
    spans.append(Span("→ "))
    spans.append(Span(visible(call.error), REFUSED) if call.error else Span(show_reply(call.reply), GOOD))
    spans.append(Span(f"  {sum(each.ms for each in calls):.2f} ms", ASIDE))
    return Line("wire", tuple(spans))


def _loaded(call: WireCall) -> str:
    """Which text a SCRIPT LOAD carried: a load sends no SHA-1, and its text may be another than the script's."""
    name = visible(call.script or "a text", 40)
    return f"{name}, changed" if text_changed(call) else name


def text_changed(call: WireCall) -> bool:
    """Whether a call carried another text than the script's that it is a call of."""
    if call.sha1 is None:
        return False
    return hashlib.sha1(call.args[0], usedforsecurity=False).hexdigest() != call.sha1


def law_lines(frame: Frame) -> Iterator[Line]:
    broken = frame.broken
    after = frame.after
    held = {member.id for reading in after.places.values() for member in reading.members}
    on = sum(1 for job, row in after.rows.items() if row is not None or job in held)
    judged = "no id to judge" if not on else f"judged on {'1 id' if on == 1 else f'{on} ids'} in view"
    holding = len(frame.laws) - len(broken)
    tally = Span(f"{holding} of {len(frame.laws)} hold", BROKEN if broken else GOOD)
    announced = set(frame.step.expect.breaks) if frame.step and frame.step.expect else set()
    told = ", broken as the lesson announced" if broken and {law.name for law in broken} <= announced else ""
    yield Line("laws", (tally, Span(f"{told}, {judged}", QUIET)))
    for law in broken:
        more = f"; and {len(law.breaches) - 2} more" if len(law.breaches) > 2 else ""
        told = f"{'; '.join(law.breaches[:2])}{more}."
        yield Line("broken", (Span(told, BROKEN), Span(f"  Law: {law.sentence}", ASIDE)))


def plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(visible(str(item)) for item in value) if value else "nothing"
    return "nothing" if value is None else visible(str(value))
