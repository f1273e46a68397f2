"""A stop of the debugger as lines of (text, role): where it stands, the locals, the commands, what two clients see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from visualizer.called import Called
from visualizer.caller import ErrorReply
from visualizer.inside import PlaceSeen, Seen
from visualizer.model import Machine
from visualizer.spans import BROKEN, ENTERED, LABEL, LEFT, QUIET, STRONG, VALUE, Line, Span, quoted, show_reply
from visualizer.trace import Trace, plain_error
from visualizer.visible import short_id, visible, visible_size
from visualizer.wire_log import reply_text
from visualizer.xray import Stop, Xray

# Six digits are all that the debugger prints of a number.
_ROUNDED = re.compile(r"-?\d(?:\.\d+)?e\+\d+")
# An instant in ms, and what TIME answers: seconds and microseconds.
_INSTANT = re.compile(rb"(?<![\w.:-])\d{13}(?![\w.])")
_TIME = re.compile(rb"^\{(\d{10}); (\d{1,6}); \}$")
_COMMAND_CELLS, _VALUE_CELLS, _FIELD_CELLS, _NAME_CELLS = 240, 80, 16, 12
# More places than these do not stand one below the other where they are empty.
_FEW = 5


def has_written(stops: Sequence[Stop]) -> bool:
    """Whether a line has written by then."""
    return any(stop.wrote for stop in stops)


def standing(stops: Sequence[Stop], called: Called, trace: Trace | None) -> Line:
    """Where the script stands after these stops, and what that means for everyone."""
    stop, wrote = stops[-1], has_written(stops)
    if not stop.ended:
        lines = len(called.script.lines)
        where = Span(f"line {stop.line} of {lines}", STRONG)
        if stop.number == 1:
            return Line("", (where, Span(" · nothing has run yet; the marked line is the first to run")))
        return Line("", (where, Span(" · on a real server the others wait; on this copy they may look")))
    reply = trace.reply if trace is not None else None
    if isinstance(reply, ErrorReply) and trace is not None and trace.error_line:
        told = f" at line {trace.error_line}: {visible(plain_error(reply.text), 200).rstrip('.')}"
        told += ". What it had written stays written." if wrote else ". It had written nothing."
        return Line("", (Span("the script broke off", BROKEN), Span(told)))
    if isinstance(reply, ErrorReply):
        told = f" with the error {visible(reply.text, 120)}" + ("" if wrote else ", and wrote nothing")
        return Line("", (Span("the script has ended", STRONG), Span(told, BROKEN)))
    told = f" · it answered {show_reply(reply)} and "
    told += "now every client sees what it wrote" if wrote else "wrote nothing"
    return Line("", (Span("the script has ended", STRONG), Span(told)))


def local_lines(stop: Stop, called: Called) -> tuple[Line, ...]:
    """The running function's locals, changed ones marked, then KEYS and ARGV by the header's names."""
    lines = []
    named = called.named()
    width = max((len(name) for name in (*(local.name for local in stop.locals), *dict(named))), default=0)
    width = min(width, _NAME_CELLS)
    for local in stop.locals:
        name, text = f"{visible(local.name, _FIELD_CELLS):<{width}} ", _readable(local.text, stop.shifted_ms)
        if local.name in stop.changed:
            lines.append(Line("", (Span(f"+ {name}", ENTERED), Span(text, ENTERED))))
        else:
            lines.append(Line("", (Span(f"  {name}", QUIET), Span(text))))
    if not lines:
        told = "the script has ended" if stop.ended else "no local variable here yet"
        lines.append(Line("", (Span(f"  {told}", QUIET),)))
    count = len(called.keys)
    for at, (name, value) in enumerate(called.named()):
        if at in (0, count):
            lines.append(Line("", (Span("KEYS" if at < count else "ARGV", LABEL),)))
        shown = f"  {visible(name, _FIELD_CELLS):<{width}} {visible_size(value, 40)}"
        lines.append(Line("", (Span(shown, QUIET),)))
    return tuple(lines)


def _readable(text: bytes, later_ms: int) -> str:
    """A value as the debugger prints it: instants moved back, tables in their own writing, rounded numbers marked."""
    text = text.strip()
    time = _TIME.match(text)
    if time is not None:
        text = b"{%d; %d; }" % _moved(int(time[1]), int(time[2]), later_ms)
    shown = visible(_moved_back(text, later_ms), _VALUE_CELLS)
    if shown.startswith("{") and shown.endswith("; }"):
        shown = "{ " + shown[1:-3].replace("; }", "}").replace("; ", ", ") + " }"
    return _ROUNDED.sub(lambda match: f"≈{match[0]}", shown)


def _moved_back(text: bytes, ms: int) -> bytes:
    """A text with its instants that much earlier."""
    return _INSTANT.sub(lambda match: b"%d" % (int(match[0]) - ms), text) if ms else text


def _moved(seconds: int, micros: int, ms: int) -> tuple[int, int]:
    return divmod(seconds * 1_000_000 + micros - ms * 1_000, 1_000_000)


def _answered(name: str, reply: Any, ms: int) -> Any:
    """A command's reply with its instants that much earlier."""
    if name == "TIME" and isinstance(reply, list) and len(reply) == 2:
        return [b"%d" % part for part in _moved(int(reply[0]), int(reply[1]), ms)]
    if isinstance(reply, list):
        return [_answered("", item, ms) for item in reply]
    return _moved_back(reply, ms) if isinstance(reply, bytes) else reply


def command_lines(stops: Sequence[Stop], job: bytes | None) -> tuple[Line, ...]:
    """Every command so far, the newest first: its line, its words, its reply, and what it did to the job inside."""
    lines: list[Line] = []
    for before, stop in pairwise(stops):
        effect = _effect(before.inside, stop.inside, job)
        for ran in stop.ran:
            failed = isinstance(ran.reply, ErrorReply)
            lines.append(
                Line(
                    "",
                    (
                        Span(f"{stop.ran_line:>3}  ", QUIET),
                        Span(
                            visible(_moved_back(ran.text, stop.shifted_ms), _COMMAND_CELLS),
                            STRONG if stop is stops[-1] else "",
                        ),
                        Span("  →  ", QUIET),
                        Span(
                            reply_text(_answered(ran.name, ran.reply, stop.shifted_ms)),
                            BROKEN if failed else ENTERED if stop is stops[-1] else "",
                        ),
                        *(effect if ran is stop.ran[-1] else ()),
                    ),
                )
            )
    return tuple(reversed(lines))


def _effect(before: Seen | None, after: Seen | None, job: bytes | None) -> tuple[Span, ...]:
    """What a line did to the job's place, as it was read inside."""
    if before is None or after is None or job is None:
        return ()
    was, now = before.holding(job), after.holding(job)
    left = [name for name in was if name not in now]
    entered = [name for name in now if name not in was]
    told = [Span(f"   {short_id(job, 14)}", STRONG)] if left or entered else []
    told += [Span(f" leaves {' and '.join(map(visible, left))}", LEFT)] if left else []
    comma = "," if left and entered else ""
    told += [Span(f"{comma} enters {' and '.join(map(visible, entered))}", ENTERED)] if entered else []
    return tuple(told)


def where(seen: Seen, job: bytes | None, machine: Machine) -> str:
    """Where one client sees the job."""
    if job is None:
        return "no job is watched"
    sets = "set" if all(place.kind == "zset" for place in machine.places) else "place"
    held = seen.holding(job)
    return f"{visible(job, 20)} is in {' and '.join(map(visible, held)) if held else f'no {sets}'}"


def seen_lines(seen: Seen, other: Seen | None, job: bytes | None, machine: Machine) -> tuple[Line, ...]:
    """What one client sees; what the other sees otherwise stands out.

    The places that hold something for either are told one by one, those that the script is given too where they are
    few.
    """
    elsewhere = other is not None and job is not None and other.holding(job) != seen.holding(job)
    lines = [Line("", (Span(where(seen, job, machine), VALUE if elsewhere else STRONG),))]
    others = {place.name: place for place in other.places} if other is not None else {}
    quiet: list[str] = []
    few = len(seen.places) <= _FEW
    for place in seen.places:
        differs = other is not None and others.get(place.name) != place
        if not (place.count or differs or (few and place.given) or place.wrong_type):
            quiet.append(place.name)
            continue
        lines.append(Line("", (Span(f"{visible(place.name, 18):<11} ", QUIET), *_members(place, job, differs))))
    lines.append(_fact("row", _row(seen), other is not None and other.row != seen.row))
    if machine.lock_suffix is not None and (seen.lock is not None or (other is not None and other.lock is not None)):
        held = visible(seen.lock, 24) if seen.lock is not None else "none"
        lines.append(_fact("lock", held, other is not None and other.lock != seen.lock))
    for name in dict.fromkeys((*seen.sides, *(other.sides if other is not None else ()))):
        side = seen.sides.get(name)
        lines.append(_fact(name, _side(side), other is not None and other.sides.get(name) != side))
    if quiet:
        lines.append(Line("", (Span(f"{'empty':<11} {', '.join(map(visible, quiet))}", QUIET),)))
    return tuple(lines)


def _fact(name: str, text: str, differs: bool) -> Line:
    return Line("", (Span(f"{visible(name, 18):<11} ", QUIET), Span(text, VALUE if differs else "")))


def _members(place: PlaceSeen, job: bytes | None, differs: bool) -> tuple[Span, ...]:
    if place.wrong_type:
        return (Span("a key of another type", BROKEN),)
    if not place.count:
        return (Span("empty", VALUE if differs else QUIET),)
    spans = []
    for member, score in place.head:
        scored = "" if score in (None, 0) else f" {score}"
        spans.append(Span(f"{short_id(member, 14)}{scored}  ", VALUE if differs or member == job else ""))
    if place.count > len(place.head):
        spans.append(Span(f"… {place.count - len(place.head):,} more", QUIET))
    return tuple(spans)


def _row(seen: Seen) -> str:
    if seen.row is None:
        return "none"
    known = [field for field in (b"state", b"attempts") if field in seen.row]
    # In one order on both sides and at every stop: a server may give them in another one each time.
    fields = [*known, *sorted(field for field in seen.row if field not in known)]
    return " · ".join(f"{visible(field, 14)} {visible(seen.row[field], _FIELD_CELLS)}" for field in fields)


def _side(held: object) -> str:
    if held is None:
        return "empty"
    if isinstance(held, dict):
        return " · ".join(f"{visible(field, 14)} {visible(value, _FIELD_CELLS)}" for field, value in held.items())
    if isinstance(held, tuple):
        return " ".join(visible(item, 14) for item in held)
    return quoted(held, 24) if isinstance(held, bytes) else visible(str(held), 24)


def told(xray: Xray, title: str) -> Iterator[str]:
    """A whole run as lines of text: each line that ran with its commands and the locals it changed, and what is seen
    from inside and outside after it."""
    called, machine = xray.called, xray.machine
    yield f"{title} · inside {called.script.name}.lua · a preview on a copy: the lesson is unchanged"
    yield f"EVALSHA cannot be debugged: the same text runs by EVAL; its SHA-1 is {called.script.sha1}"
    if xray.shifted_ms:
        yield f"The copy runs later than the lesson: instants are moved back by {xray.shifted_ms} ms, to its moment."
    named, count = called.named(), len(called.keys)
    for kind, given in (("KEYS", named[:count]), ("ARGV", named[count:])):
        for number, (name, value) in enumerate(given, start=1):
            yield f"{kind} {number}  {name} = {visible_size(value, 80)}"
    lines = called.script.lines
    for before, stop in pairwise(xray.stops):
        yield ""
        yield f"{stop.ran_line:>4}  {lines[stop.ran_line - 1]}"
        for ran in reversed(command_lines((before, stop), xray.job)):
            yield f"      ran      {ran.text.split(None, 1)[1]}"
        for local in local_lines(stop, called):
            if local.text.startswith("+ "):
                yield f"      local    {local.text}"
        if stop.inside is not None:
            yield f"      inside   {_joined(seen_lines(stop.inside, stop.outside, xray.job, machine))}"
        yield f"      outside  {_joined(seen_lines(stop.outside, stop.inside, xray.job, machine))}"
    yield ""
    if not xray.stops[-1].ended:
        return
    yield standing(xray.stops, called, xray.trace).text


def _joined(lines: Sequence[Line]) -> str:
    return " | ".join(" ".join(line.text.split()) for line in lines)
