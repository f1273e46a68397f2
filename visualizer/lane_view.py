"""The lanes of a lesson's groups and whose turn it is: for a screen to draw, and as lines of a readout.

The ring is the list of the groups that can be served now; its head has the next turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from visualizer.model import Frame, LaneRule, Machine, Observation
from visualizer.picture import Picture, PlaceView
from visualizer.spans import ENTERED, LABEL, LEFT, PLAIN, QUIET, VALUE, Line, Span
from visualizer.visible import short_id, visible

# What a step did to a group's turn: it joined the ring, left it, or went from the head to the tail.
TurnMark = Literal["joined", "left", "turned", "stays"]
TURN_SIGN: dict[TurnMark, str] = {"joined": "+", "left": "−", "turned": "~", "stays": ""}
_ROLE: dict[TurnMark, str] = {"joined": ENTERED, "left": LEFT, "turned": VALUE, "stays": PLAIN}


class LaneView(Struct, frozen=True):
    """One lane. ``turn`` is its group's number on the ring (1: the head), None where it has none; ``mark`` is what the
    step did to that. ``out`` are the group's jobs out on a lease, ``more_out`` how many more than before the step,
    ``limit`` how many there may be (None: any number)."""

    group: bytes
    name: str
    place: PlaceView
    turn: int | None
    mark: TurnMark
    out: int
    more_out: int
    limit: int | None
    paused: bool

    @property
    def waiting(self) -> int:
        return self.place.count

    @property
    def why_off(self) -> str:
        """Why the group has no turn, as a sentence part; empty where none of the reasons holds."""
        reasons = []
        if self.paused:
            reasons.append("it is paused")
        if self.limit is not None and self.out >= self.limit:
            reasons.append(f"its limit of {self.limit} is reached")
        if not self.waiting:
            reasons.append("nothing more waits in its lane" if self.mark == "left" else "nothing waits in its lane")
        return " and ".join(reasons)


def lanes_of(machine: Machine, seen: Observation, frame: Frame | None, drawn: Picture) -> tuple[LaneView, ...]:
    """The lanes of the lesson's groups in its order, then those of others in view; none where a lesson has no groups.

    ``drawn`` is the picture of the same moment.
    """
    rule = machine.lanes
    if rule is None or not machine.group_names:
        return ()
    was = frame.before.sides if frame else seen.sides
    before, after = _ring(was, rule), _ring(seen.sides, rule)
    places = {place.name: place for place in drawn.lanes}
    others = (name[len(rule.prefix) : -len(rule.suffix)].encode() for name in places)
    views = []
    for group in dict.fromkeys((*machine.group_names, *others)):
        name = f"{rule.prefix}{visible(group)}{rule.suffix}"
        empty = PlaceView(name, rule.place.kind, rule.place.order, rule.place.short, 0, 0, "quiet", (), 0)
        out = _number(seen.sides, rule.out, group) or 0
        views.append(
            LaneView(
                group,
                name_of(machine, group),
                places.get(name, empty),
                after.index(group) + 1 if group in after else None,
                _mark(group, before, after),
                out,
                out - (_number(was, rule.out, group) or 0),
                _number(seen.sides, rule.limits, group),
                group in _members(seen.sides, rule.paused),
            )
        )
    return tuple(views)


def turns(lanes: Sequence[LaneView]) -> list[LaneView]:
    """Those on the ring from its head on, then those that have just left it."""
    on = sorted((lane for lane in lanes if lane.turn), key=lambda lane: lane.turn or 0)
    return [*on, *(lane for lane in lanes if lane.mark == "left")]


def told_sides(machine: Machine, frame: Frame) -> Collection[str]:
    """The side keys whose changes the lane lines tell in words of their own."""
    rule = machine.lanes
    if rule is None or not machine.group_names or frame.kind != "script":
        return ()
    return (rule.ring, rule.limits, rule.out, rule.wake)


def name_of(machine: Machine, group: bytes) -> str:
    """What a lesson calls a group, else its id, cut."""
    return visible(machine.group_names.get(group, ""), 12) or short_id(group)


def lane_lines(machine: Machine, frame: Frame, drawn: Picture) -> Iterator[Line]:
    """What a step did to the ring, in words; then the ring, and what changed of leases, limits and ``wake``."""
    lanes, rule = lanes_of(machine, frame.after, frame, drawn), machine.lanes
    if not lanes or rule is None or frame.kind != "script":
        return
    ring = turns(lanes)
    for lane in lanes:
        told = _told(lane, ring)
        if told:
            yield Line("", (Span(f"{lane.name} ({short_id(lane.group)}) {told}."),))
    spans = [] if any(lane.turn for lane in ring) else [Span("empty: no group has a turn", QUIET)]
    for lane in ring:
        sign = TURN_SIGN[lane.mark]
        spans.append(Span("   " if spans else ""))
        spans.append(Span(f"{sign} {lane.name}" if sign else f"{lane.turn} {lane.name}", _ROLE[lane.mark]))
    for lane in lanes:
        of = f" of {lane.limit}" if lane.limit is not None else ""
        spans.extend(_numbers("out", lane, frame, rule.out, "0", of))
        spans.extend(_numbers("limit", lane, frame, rule.limits, "none"))
    was, now = (len(_members(seen.sides, rule.wake)) for seen in (frame.before, frame.after))
    if was != now:
        spans.extend((Span("   wake ", LABEL), Span(f"{was} → {now}")))
    yield Line("ring", tuple(spans))


def _told(lane: LaneView, ring: Sequence[LaneView]) -> str:
    match lane.mark:
        case "joined":
            where = "alone on it" if len(ring) == 1 else "at its tail"
            waiting = "1 job waits" if lane.waiting == 1 else f"{lane.waiting:,} jobs wait"
            return f"joins the ring, {where}: {waiting} in its lane"
        case "left":
            return f"leaves the ring: {lane.why_off}" if lane.why_off else "leaves the ring"
        case "turned":
            return f"goes from the ring's head to its tail: the next turn is {ring[0].name}'s"
    return ""


def _numbers(label: str, lane: LaneView, frame: Frame, side: str, none: str, of: str = "") -> Iterator[Span]:
    """What a group's count or limit was and is, where it is another now."""
    was, now = (_number(seen.sides, side, lane.group) for seen in (frame.before, frame.after))
    if was != now:
        yield Span(f"   {label} ", LABEL)
        yield Span(f"{lane.name} {none if was is None else was} → ")
        yield Span(none if now is None else str(now), VALUE)
        yield Span(of)


def _mark(group: bytes, before: Sequence[bytes], after: Sequence[bytes]) -> TurnMark:
    if group not in before:
        return "joined" if group in after else "stays"
    if group not in after:
        return "left"
    went = len(after) > 1 and before[0] == after[-1] == group
    return "turned" if went else "stays"


def _ring(sides: Mapping[str, Any], rule: LaneRule) -> tuple[bytes, ...]:
    return _members(sides, rule.ring)


def _members(sides: Mapping[str, Any], side: str) -> tuple[bytes, ...]:
    """What a list or a set holds; nothing where it is neither, or too large to read."""
    held = sides.get(side)
    return held if isinstance(held, tuple) else ()


def _number(sides: Mapping[str, Any], side: str, group: bytes) -> int | None:
    held = sides.get(side)
    text = held.get(group) if isinstance(held, Mapping) else None
    # A number of ours is short; a foreign client may have written any length of digits.
    return int(text) if isinstance(text, bytes) and text.lstrip(b"-").isdigit() and len(text) < 20 else None
