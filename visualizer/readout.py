"""A frame in sentences: lines of (text, role). Everything said is computed from what was read and answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from visualizer.clock import duration, lesson_time, relative, time_of_day
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
    SUBJECT,
    VALUE,
    Line,
    Span,
    quoted,
    show_reply,
)
from visualizer.visible import short_id, visible


def readout(machine: Machine, frame: Frame, earlier: Sequence[Frame] = ()) -> tuple[Line, ...]:
    """The frame as lines, the most important first. ``earlier`` are the walk's frames before it."""
    return tuple(_lines(machine, frame, earlier))


def _lines(machine: Machine, frame: Frame, earlier: Sequence[Frame]) -> Iterator[Line]:
    for note in frame.performed.notes:
        yield _sentence(note, STRONG)
    yield _headline(machine, frame)
    # A fault's note is its first line, unless an id moved and that is told first.
    if frame.outcome.note and (frame.kind != "fault" or frame.moves):
        yield _sentence(_capital(frame.outcome.note))
    for text in machine.explain(frame, earlier):
        yield _sentence(text)
    # Where the step's own job did nothing, the first line tells what another one did, and so do the lines after it.
    told = frame.move() or next(iter(frame.moves), None)
    for move in frame.moves:
        if move is not told:
            yield Line("also", tuple(_movement(move, short=True)))
    if frame.unseen:
        ids = "one more id" if frame.unseen == 1 else f"{frame.unseen:,} more ids"
        yield _sentence(f"At least {ids} moved out of view.")
    if told is not None:
        yield from _score(machine, frame, told)
        yield from _row(machine, frame, told)
        yield from _lock(told)
    yield from _side_changes(frame)
    yield from _odd_members(machine, frame.after)
    for call in frame.calls:
        yield _wire(call)
    yield from _laws(frame)
    for expected in frame.expected:
        if not expected.met:
            yield Line(
                "lesson",
                (Span(f"announced {expected.what} {_plain(expected.wanted)}, read {_plain(expected.got)}", BROKEN),),
            )


def _sentence(text: str, role: str = PLAIN) -> Line:
    # A note may quote a lesson or a server.
    return Line("", (Span(visible(text), role),))


def _capital(text: str) -> str:
    ended = text if text.endswith((".", "!", "?")) else text + "."
    return ended[0].upper() + ended[1:]


# The first line -------------------------------------------------------------------------------------------------------


def _headline(machine: Machine, frame: Frame) -> Line:
    own, outcome = frame.move(), frame.outcome
    if frame.kind == "between":
        seen = tuple(_movement(frame.moves[0], short=False)) if frame.moves else (Span("something changed."),)
        why = "as the clock went on" if outcome.name == "ran_out" else "not by this walk"
        return Line("", (Span(f"Between two steps, {why}: ", REFUSED), *seen))
    if outcome.refused is not None:
        return Line("", tuple(_refusal(frame, own)))
    if own is not None and (own.leaves or own.enters):
        return Line("", (*_movement(own, short=False), *_atomicity(frame, own)))
    if own is not None and own.rescored:
        places = " and ".join(own.rescored)
        return Line("", (Span(visible(own.id), SUBJECT), Span(f" stays in {places}; its score is new. Nothing moved.")))
    if frame.kind == "wait":
        passed = duration(frame.after.clock_ms - frame.before.clock_ms)
        return _sentence(f"{passed} passed on the {_whose_clock(frame)} clock. Nothing moved.")
    if frame.moves and own is None:
        return Line("", tuple(_movement(frame.moves[0], short=False)))
    if frame.kind == "fault":
        told = visible(_capital(outcome.note or _spoken(outcome.name)))
        return Line("", (Span(told), Span("" if own else " Nothing moved.", STRONG)))
    what = "No id in view moved." if frame.unseen else "Nothing moved."
    if own is not None and own.row:
        gone = own.row_before and not own.row_after
        what = "The row is deleted; no id moved." if gone else "The row changed; no id moved."
    return Line("", (Span(what, STRONG), *_answer(machine, frame)))


def _answer(machine: Machine, frame: Frame) -> Iterator[Span]:
    """What the step's last call answered, where no id moved to tell it."""
    if frame.step is None or not frame.calls:
        return
    if frame.outcome.name == "reply_lost":
        yield Span("  No reply came.")
        return
    verb = machine.verbs.get(frame.step.do)
    if frame.kind == "commands" and verb is None:
        yield Span(f"  {frame.calls[-1].command} answered {show_reply(frame.calls[-1].reply)}.")
        return
    if not any(call.command == "EVALSHA" for call in frame.calls):
        return
    # A verb with several outcomes needs the word for this one.
    several = verb is not None and len(set(verb.outcomes) - {"error", "not_sent"}) > 1
    word = f": {frame.outcome.name.replace('_', ' ')}" if several else ""
    yield Span(f"  {frame.step.do} answered {show_reply(frame.calls[-1].reply)}{word}.")


def _whose_clock(frame: Frame) -> str:
    return "lesson's" if frame.after.epoch_ms else "server's"


def _spoken(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _movement(move: Move, *, short: bool) -> Iterator[Span]:
    yield Span(short_id(move.id) if short else visible(move.id), SUBJECT)
    if move.leaves:
        yield Span(" leaves ")
        yield from _places(move.leaves, LEFT)
    if move.enters:
        yield Span(", enters " if move.leaves else " enters ")
        yield from _places(move.enters, ENTERED)
        yield Span(".")
    elif move.leaves:
        gone = move.row_before and not move.row_after
        yield Span(" and enters nothing: its row is gone." if gone else " and enters nothing.")
    elif move.rescored:
        yield Span(f" stays in {' and '.join(move.rescored)}; its score is new.")
    elif move.row_before != move.row_after:
        yield Span(" gets a row; it is in no place." if move.row_after else " loses its row; it is in no place.")
    elif move.row:
        yield Span(" moves nowhere; its row changed.")
    else:
        yield Span(" moves nowhere; its lock changed.")


def _places(names: Sequence[str], role: str) -> Iterator[Span]:
    for at, name in enumerate(names):
        if at:
            yield Span(" and ")
        yield Span(visible(name), role)


def _atomicity(frame: Frame, own: Move) -> Iterator[Span]:
    if frame.kind == "script" and (own.leaves or own.enters):
        yield Span("  One script, one step: no client saw it between.", ASIDE)
    elif frame.kind == "commands" and bool(own.leaves) != bool(own.enters) and not own.row:
        yield Span("  One command, and every client can see this.", ASIDE)


def _refusal(frame: Frame, own: Move | None) -> Iterator[Span]:
    outcome = frame.outcome
    if not outcome.sent:
        yield Span("Not sent: ", REFUSED)
        yield Span(visible((outcome.refused or "").removesuffix(".")) + ".")
        return
    name, text = outcome.name.replace("_", " "), visible(outcome.refused or "")
    yield Span("Refused: ", REFUSED)
    # A code alone says little, and an error's text says enough: the words come first either way.
    first, second = (name, text) if text.lstrip("-").isdigit() else (text, name)
    yield Span(first, STRONG)
    yield Span(f" ({second}). ")
    if own is None and not frame.moves:
        yield Span("Nothing moved.", STRONG)
    else:
        yield from _movement(own or frame.moves[0], short=False)


# The lines after it ---------------------------------------------------------------------------------------------------


def _score(machine: Machine, frame: Frame, own: Move) -> Iterator[Line]:
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
            spans.append(Span(f", on the {_whose_clock(frame)} clock", ASIDE))
        yield Line("score", tuple(spans))


def _row(machine: Machine, frame: Frame, own: Move) -> Iterator[Line]:
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


def _lock(own: Move) -> Iterator[Line]:
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


def _side_changes(frame: Frame) -> Iterator[Line]:
    """Side keys that hold other things than before: counters, the ring, a pause."""
    was, now = frame.before.sides, frame.after.sides
    spans: list[Span] = []
    for name in dict.fromkeys((*was, *now)):
        if was.get(name) == now.get(name):
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


def _odd_members(machine: Machine, seen: Observation) -> Iterator[Line]:
    foreign, holes = [], []
    for name, reading in seen.places.items():
        if reading.wrong_type:
            yield _sentence(f"{name} holds a {reading.wrong_type}, not a {machine.place(name).kind}: not one of ours.")
        for member in reading.members:
            if not is_branded(member.id):
                foreign.append(f"{visible(member.id, 24)} in {name}")
            if seen.rows.get(member.id) is None:
                holes.append(f"{visible(member.id, 24)} in {name}")
    if foreign:
        yield Line("foreign", (Span(f"{len(foreign)}: {', '.join(foreign[:3])}: not a branded id, so not a job"),))
    if holes:
        yield Line("no row", (Span(f"{len(holes)}: {', '.join(holes[:3])}"),))


def _wire(call: WireCall) -> Line:
    spans = [Span(call.command + " ", LABEL)]
    if call.sha1 is not None:
        spans.append(Span(call.sha1[:7] + "… "))
    if call.command == "EVALSHA":
        spans.append(Span(f"{len(call.keys)} keys {len(call.args)} args ", QUIET))
    elif call.command == "SCRIPT LOAD":
        spans.append(Span(f"{len(call.args[0])} bytes ", QUIET))
    else:
        words = " ".join(visible(word, 24) for word in (*call.keys, *call.args))
        spans.append(Span(words + " " if words else "", QUIET))
    spans.append(Span("→ "))
    spans.append(Span(visible(call.error), REFUSED) if call.error else Span(show_reply(call.reply), GOOD))
    spans.append(Span(f"  {call.ms:.2f} ms", ASIDE))
    return Line("wire", tuple(spans))


def _laws(frame: Frame) -> Iterator[Line]:
    broken = frame.broken
    after = frame.after
    held = {member.id for reading in after.places.values() for member in reading.members}
    on = sum(1 for job, row in after.rows.items() if row is not None or job in held)
    ids = {0: "no id", 1: "1 id"}.get(on, f"{on} ids")
    holding = len(frame.laws) - len(broken)
    tally = Span(f"{holding} of {len(frame.laws)} hold", BROKEN if broken else GOOD)
    announced = set(frame.step.expect.breaks) if frame.step and frame.step.expect else set()
    told = ", broken as the lesson announced" if broken and {law.name for law in broken} <= announced else ""
    yield Line("laws", (tally, Span(f"{told}, judged on {ids} in view", QUIET)))
    for law in broken:
        more = f"; and {len(law.breaches) - 2} more" if len(law.breaches) > 2 else ""
        told = f"{'; '.join(law.breaches[:2])}{more}."
        yield Line("broken", (Span(told, BROKEN), Span(f"  Law: {law.sentence}", ASIDE)))


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(visible(str(item)) for item in value) if value else "nothing"
    return "nothing" if value is None else visible(str(value))
