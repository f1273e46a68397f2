"""The machine at one moment, as a front end draws it: places, marked members, the edge that just ran.

Nothing here knows a colour or a cell: `Picture` says what is where and what happened to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from visualizer.clock import duration, relative
from visualizer.ids import is_branded
from visualizer.model import Frame, Machine, Member, Move, Observation, PlaceReading

Mark = Literal["entered", "left", "rescored", "own", "resting", "foreign", "no_row"]
# An age is told that long; after that the word stays, so that nothing on screen has to tick for ever.
OVERDUE_TOLD_MS = 10_000
SIGN: dict[Mark, str] = {
    "entered": "+",
    "left": "−",
    "rescored": "~",
    "own": "•",
    "resting": " ",
    "foreign": "?",
    "no_row": "!",
}


class MemberView(Struct, frozen=True):
    """One id in a place, or the one that just left it. ``note`` is what its score means now, or what is odd."""

    id: bytes
    mark: Mark
    note: str = ""
    at_ms: int | None = None


class PlaceView(Struct, frozen=True):
    """One place. ``foreign`` counts the members in view that are no jobs, ``hidden`` all members not in view."""

    name: str
    kind: str
    order: str
    short: str
    count: int
    foreign: int
    mark: Literal["entered", "left", "holds", "quiet"]
    members: tuple[MemberView, ...]
    hidden: int
    wrong_type: str | None = None

    @property
    def jobs(self) -> int:
        """How many members count as jobs: all but the foreign ones in view."""
        return self.count - self.foreign


class Edge(Struct, frozen=True):
    """What just ran, from place to place; None is outside the machine's places. ``short`` is the lesson's word for it,
    for where the name does not fit."""

    source: str | None
    target: str | None
    name: str
    short: str = ""


class Picture(Struct, frozen=True):
    """All places in the machine's order, lanes after them; ``nowhere`` are captured ids with a row and no place.

    ``elsewhere`` are those of them that were found in keys which are no places, each with the names of these keys.
    """

    places: tuple[PlaceView, ...]
    edges: tuple[Edge, ...]
    lanes: tuple[PlaceView, ...]
    nowhere: tuple[bytes, ...]
    elsewhere: Mapping[bytes, tuple[str, ...]] = {}


def picture(
    machine: Machine,
    seen: Observation,
    frame: Frame | None,
    now_ms: float | None = None,
    found: Mapping[bytes, tuple[str, ...]] | None = None,
) -> Picture:
    """The picture of an observation, with what ``frame`` just did to it. ``now_ms`` is the server's clock now, for
    countdowns; without it, the clock of the observation. ``found`` names the keys beside the machine's own that hold a
    captured id, as a survey finds them: such an id is elsewhere, not nowhere."""
    now = seen.clock_ms if now_ms is None else now_ms
    moves = {move.id: move for move in frame.moves} if frame else {}
    own = frame.step.id if frame and frame.step else None
    fixed = {place.name for place in machine.places}
    views = {name: _place(machine, seen, reading, moves, own, now, frame) for name, reading in seen.places.items()}
    placeless = [job for job, places in seen.memberships.items() if not places and seen.rows.get(job) is not None]
    elsewhere = {job: keys for job, keys in (found or {}).items() if keys and job in placeless}
    return Picture(
        tuple(views[place.name] for place in machine.places if place.name in views),
        tuple(_edges(frame)) if frame else (),
        tuple(view for name, view in views.items() if name not in fixed),
        tuple(job for job in placeless if job not in elsewhere),
        elsewhere,
    )


def _place(
    machine: Machine,
    seen: Observation,
    reading: PlaceReading,
    moves: dict[bytes, Move],
    own: bytes | None,
    now_ms: float,
    frame: Frame | None,
) -> PlaceView:
    place = machine.place(reading.name)
    members: list[MemberView] = []
    for move in moves.values():
        if reading.name in move.leaves:
            members.append(MemberView(move.id, "left", "left"))
    left = len(members)
    for member in reading.members:
        members.append(_member(machine, seen, reading.name, member, moves.get(member.id), own, now_ms))
    marks = {member.mark for member in members}
    mark: Literal["entered", "left", "holds", "quiet"] = (
        "entered"
        if "entered" in marks
        else "left"
        if left
        else "holds"
        if frame is not None and marks & {"own", "rescored"}
        else "quiet"
    )
    return PlaceView(
        reading.name,
        place.kind,
        place.order,
        place.short or place.order,
        reading.count,
        sum(member.mark == "foreign" for member in members),
        mark,
        tuple(members),
        reading.count - len(reading.members),
        reading.wrong_type,
    )


def _member(
    machine: Machine,
    seen: Observation,
    place: str,
    member: Member,
    move: Move | None,
    own: bytes | None,
    now_ms: float,
) -> MemberView:
    at_ms = None
    note = ""
    if not is_branded(member.id):
        return MemberView(member.id, "foreign", "foreign" if seen.rows.get(member.id) else "foreign, no row")
    if member.score is not None:
        at_ms = machine.read_score(place, member.score).at_ms
        note = countdown(machine, place, at_ms, now_ms)
    if seen.rows.get(member.id) is None:
        note = "no row"
    if move is not None and place in move.enters:
        return MemberView(member.id, "entered", note, at_ms)
    if move is not None and place in move.rescored:
        return MemberView(member.id, "rescored", note, at_ms)
    if member.id == own:
        return MemberView(member.id, "own", note, at_ms)
    return MemberView(member.id, "no_row" if note == "no row" else "resting", note, at_ms)


def countdown(machine: Machine, place: str, at_ms: int | None, now_ms: float) -> str:
    """A score's instant against the clock: ``in 1.8 s``, ``3.0 s ago``, and in the long run ``due`` or ``lapsed``."""
    if at_ms is None:
        return ""
    if at_ms > now_ms:
        return relative(at_ms, now_ms)
    if now_ms - at_ms <= OVERDUE_TOLD_MS:
        return f"{duration(now_ms - at_ms)} ago"
    return {"deadline": "lapsed", "due": "due"}.get(machine.place(place).scored, "")


def _edges(frame: Frame) -> Iterator[Edge]:
    """One edge for each distinct way that ids took in this frame, the step's own job's first."""
    name = frame.step.do.replace("_", " ") if frame.step else "not this walk"
    if frame.kind == "commands" and frame.calls:
        name = frame.calls[-1].command
    own = frame.move()
    ways: dict[tuple[str | None, str | None], None] = {}
    for move in (*((own,) if own else ()), *frame.moves):
        if move.leaves or move.enters:
            source = move.leaves[0] if move.leaves else None
            target = move.enters[0] if move.enters else None
            ways[(source, target)] = None
    for source, target in ways:
        yield Edge(source, target, name, frame.step.label if frame.step else "")
