"""Frozen values that every other module speaks in.

Whatever a server sent is ``bytes`` (ids, fields, payloads); whatever we named ourselves is ``str`` (places, verbs,
laws, roles). Times are milliseconds since the Unix epoch, durations are milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

PlaceKind = Literal["zset", "list"]
FrameKind = Literal["script", "commands", "wait", "fault", "between"]


# What a machine is made of ------------------------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """A location that can hold a job id: one key whose membership *is* a state.

    ``name`` is the part of the key after ``emq:{q}:``. ``state`` is what the row's ``state`` field says about members,
    or None where the machine keeps no such field. ``order`` says in a few words what the score or position means.
    ``scored`` is ``zero`` (always 0), ``deadline`` or ``due`` (milliseconds, server clock), ``position`` (a list), or
    a word of the machine's own.
    """

    name: str
    kind: PlaceKind
    order: str
    scored: str
    state: str | None = None
    short: str = ""
    terminal: bool = False


class SideKey(Struct, frozen=True):
    """A key beside the places (``ring``, ``meta``): read with every observation, never holding a job's state.

    ``names_groups`` says that its members or fields are lane groups, so that their lanes are read as well.
    """

    name: str
    names_groups: bool = False


class LaneRule(Struct, frozen=True):
    """How a lane's key is built from its group: ``prefix`` + group + ``suffix``; ``field`` names it in the row."""

    prefix: str
    suffix: str
    field: bytes
    place: Place


class Parameter(Struct, frozen=True):
    """One thing a verb or named step takes in a lesson's ``with``.

    ``kind``: ``duration_ms`` (multiplied by the pace), ``time_ms``, ``count``, ``token`` (a worker's name, a whole
    number, or ``{text = "…"}``), ``worker``, ``group`` (a name of the lesson's ``[groups]``), ``payload``, ``text``,
    or ``pairs`` (a list of ``{job, token}``). A parameter without a default is required.
    """

    name: str
    kind: str
    meaning: str
    default: Any = None
    required: bool = False
    minimum: int | None = None


class Outcome(Struct, frozen=True):
    """What a verb's reply means. ``refused`` is the error's text or code; ``note`` explains what no wire call shows.

    ``sent`` is False when a guard of ours stopped the call before anything reached the server.
    """

    name: str
    refused: str | None = None
    note: str = ""
    sent: bool = True


class Grant(Struct, frozen=True):
    """A token that a worker got for a job: read from the reply of a claim."""

    worker: str
    id: bytes
    token: bytes


class Performed(Struct, frozen=True):
    """What a verb or a named step did: its outcome, the tokens it handed out, the ids it was about."""

    outcome: Outcome
    grants: tuple[Grant, ...] = ()
    kind: FrameKind = "script"
    script: str | None = None
    notes: tuple[str, ...] = ()


class Verb(Struct, frozen=True):
    """One transition a caller may ask for. ``run`` gets a bench and answers a `Performed`.

    ``moves`` is (from, to) in place names, as the edge is drawn; ``script`` is the file it runs, ``leased/claim``.
    """

    name: str
    script: str
    sentence: str
    moves: tuple[tuple[str | None, str | None], ...]
    parameters: tuple[Parameter, ...]
    outcomes: tuple[str, ...]
    needs_job: bool
    run: Callable[[Any], Performed]


class ScoreReading(Struct, frozen=True):
    """A score as what it means: a sentence part, and the instant it names (None where it names none)."""

    means: str
    at_ms: int | None = None


class Evidence(Struct, frozen=True):
    """What a law is judged on: two observations and what ran between them.

    ``homes_before`` and ``homes_after``: every id whose membership is known for certain, and the places that hold it.
    """

    before: Observation
    after: Observation
    homes_before: Mapping[bytes, tuple[str, ...]]
    homes_after: Mapping[bytes, tuple[str, ...]]
    did: str | None
    id: bytes | None
    performed: Performed


class Law(Struct, frozen=True):
    """An invariant whose name reads as a sentence. ``breaches`` lists what breaks it, in words; empty when it holds."""

    name: str
    sentence: str
    breaches: Callable[[Evidence], Sequence[str]]


class Machine(Struct, frozen=True):
    """One taught machine: its places in the order of the screen, its row, verbs and laws.

    ``row_prefix`` comes between ``emq:{q}:`` and the id in a row's key; ``lock_suffix`` after the row's key in the
    lock's (None: no lock). ``glance`` are the row fields read for ids that are in view but not captured.
    ``explain`` gives the machine's own sentences about a frame (the frames before it are the second argument).
    ``starts``: for each place the steps that put a fresh job there; ``shows``: for each transition the steps before it
    and the step itself. Both are run, never quoted.
    """

    name: str
    places: tuple[Place, ...]
    sides: tuple[SideKey, ...]
    row_prefix: str
    lock_suffix: str | None
    glance: tuple[bytes, ...]
    lanes: LaneRule | None
    verbs: Mapping[str, Verb]
    laws: tuple[Law, ...]
    read_score: Callable[[str, float], ScoreReading]
    is_job_id: Callable[[bytes], bool]
    starts: Mapping[str, tuple[Step, ...]]
    shows: Mapping[str, tuple[tuple[Step, ...], Step]]
    edges: tuple[tuple[str, str, str], ...]
    explain: Callable[[Frame, Sequence[Frame]], Sequence[str]]

    def place(self, name: str) -> Place:
        """The place of that name; a lane's name gives the lane rule's place. KeyError for an unknown name."""
        for place in self.places:
            if place.name == name:
                return place
        if self.lanes and name.startswith(self.lanes.prefix) and name.endswith(self.lanes.suffix):
            return self.lanes.place
        raise KeyError(name)


# What was read ------------------------------------------------------------------------------------------------------


class Member(Struct, frozen=True):
    """One member in view: its rank from the head (0 first) and, in a sorted set, its score."""

    id: bytes
    rank: int
    score: float | None = None


class PlaceReading(Struct, frozen=True):
    """One place as it was read: the count, and the members in view in their order (gaps show in the ranks).

    ``wrong_type`` is the type found where the key is of another type than the place's; then nothing else was read.
    """

    name: str
    count: int
    members: tuple[Member, ...] = ()
    wrong_type: str | None = None

    @property
    def whole(self) -> bool:
        """Whether every member is in view."""
        return len(self.members) == self.count


class Row(Struct, frozen=True):
    """A job's hash. ``whole`` is False where only the machine's glance fields were read."""

    fields: Mapping[bytes, bytes]
    whole: bool = True


class Lock(Struct, frozen=True):
    """A lock string: its token and the milliseconds it has left (-1: no TTL)."""

    token: bytes
    ttl_ms: int


class Dump(Struct, frozen=True):
    """One key as DUMP gave it; ``expires_at_ms`` 0 means no TTL. ``data`` None: the key did not exist."""

    data: bytes | None
    expires_at_ms: int = 0


class Observation(Struct, frozen=True):
    """One consistent reading, taken in one round trip.

    ``memberships``: for every captured id the places that hold it, in the machine's order. ``rows``: every id in view
    and every captured id, None where there is no row. ``sides``: what the machine's side keys hold, capped.
    ``dumps`` is None where none were asked for or they would have been too large (``undumped`` then says why).
    """

    clock_ms: int
    places: Mapping[str, PlaceReading]
    memberships: Mapping[bytes, tuple[str, ...]]
    rows: Mapping[bytes, Row | None]
    locks: Mapping[bytes, Lock]
    sides: Mapping[str, Any]
    dumps: Mapping[bytes, Dump] | None = None
    undumped: str = ""
    owner: bytes | None = None

    def homes(self) -> Mapping[bytes, tuple[str, ...]]:
        """Every id whose membership is known for certain: the captured ones, and all others where every place is
        wholly in view. An id that is in no place has an empty tuple."""
        if not all(reading.whole for reading in self.places.values()):
            return self.memberships
        homes: dict[bytes, list[str]] = {job: [] for job in self.rows}
        for name, reading in self.places.items():
            for member in reading.members:
                homes.setdefault(member.id, []).append(name)
        return {job: tuple(places) for job, places in homes.items()}

    def same_apart_from_time(self, other: Observation) -> bool:
        """Whether both hold the same places, rows, locks and side keys; clocks, TTLs and dumps do not count."""
        return (
            self.places == other.places
            and self.rows == other.rows
            and self.memberships == other.memberships
            and self.sides == other.sides
            and {job: lock.token for job, lock in self.locks.items()}
            == {job: lock.token for job, lock in other.locks.items()}
        )

    def score(self, place: str, job: bytes) -> float | None:
        """The score of a job in a place, None where it is not in view there (or the place is a list)."""
        reading = self.places.get(place)
        if reading is not None:
            for member in reading.members:
                if member.id == job:
                    return member.score
        return None


class WireCall(Struct, frozen=True):
    """One command as it went over the wire. ``sha1`` and ``script`` are set for EVALSHA and SCRIPT LOAD."""

    command: str
    keys: tuple[bytes, ...]
    args: tuple[bytes, ...]
    reply: Any
    error: str | None
    ms: float
    script: str | None = None
    sha1: str | None = None


class Change(Struct, frozen=True):
    """One row field before and after; None where it was absent."""

    field: bytes
    before: bytes | None
    after: bytes | None


class Move(Struct, frozen=True):
    """What one id did between two observations. A new score alone leaves ``leaves`` and ``enters`` empty."""

    id: bytes
    leaves: tuple[str, ...]
    enters: tuple[str, ...]
    rescored: tuple[str, ...] = ()
    row: tuple[Change, ...] = ()
    row_before: bool = False
    row_after: bool = False
    lock_before: Lock | None = None
    lock_after: Lock | None = None


class LawResult(Struct, frozen=True):
    """A law judged on one frame: what broke it, in words, and on how many ids it was judged."""

    name: str
    sentence: str
    breaches: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.breaches


class Expectation(Struct, frozen=True):
    """One thing a lesson expected of a step, and what was read."""

    what: str
    wanted: Any
    got: Any
    met: bool


# What a learner walks -----------------------------------------------------------------------------------------------


class Expect(Struct, frozen=True):
    """What a lesson announces about a step, before it runs. Absent ``leaves`` and ``enters`` mean none.

    ``row``: ``gone``, ``unchanged``, ``none`` (there is no row), or the fields it must hold afterwards.
    """

    leaves: tuple[str, ...] = ()
    enters: tuple[str, ...] = ()
    outcome: str | None = None
    row: str | Mapping[str, str] | None = None
    refused: str | None = None
    breaks: tuple[str, ...] = ()


class Step(Struct, frozen=True):
    """One step: a verb or a named step, the job it is about, and what it is given.

    ``given`` is resolved: groups are ids, durations are already multiplied by the pace; a ``token`` stays as written,
    since a worker's name can only be resolved when the step runs. ``label`` stands in the path line.
    """

    do: str
    id: bytes | None = None
    given: Mapping[str, Any] = {}
    payload: bytes = b""
    label: str = ""
    say: str = ""
    ask: str = ""
    needs: Literal["not_due", "lease_running"] | None = None
    expect: Expect | None = None


class Frame(Struct, frozen=True):
    """One step that ran: what was sent, what came back, what was read before and after, and what follows from it."""

    number: int
    step: Step | None
    performed: Performed
    calls: tuple[WireCall, ...]
    before: Observation
    after: Observation
    moves: tuple[Move, ...]
    laws: tuple[LawResult, ...]
    expected: tuple[Expectation, ...] = ()
    unseen: int = 0

    @property
    def kind(self) -> FrameKind:
        return self.performed.kind

    @property
    def outcome(self) -> Outcome:
        return self.performed.outcome

    @property
    def broken(self) -> tuple[LawResult, ...]:
        return tuple(law for law in self.laws if law.breaches)

    def move(self) -> Move | None:
        """The move of the step's own job; without one, the first move."""
        own = self.step.id if self.step else None
        for move in self.moves:
            if move.id == own:
                return move
        return self.moves[0] if self.moves and own is None else None


class Walk(Struct, frozen=True):
    """Frames and a cursor. ``cursor`` 0 shows the opening observation, n the n-th frame."""

    opening: Observation
    frames: tuple[Frame, ...] = ()
    cursor: int = 0

    @property
    def frame(self) -> Frame | None:
        """The frame under the cursor, None at the opening."""
        return self.frames[self.cursor - 1] if self.cursor else None

    @property
    def shown(self) -> Observation:
        """The observation under the cursor."""
        return self.frames[self.cursor - 1].after if self.cursor else self.opening

    @property
    def at_end(self) -> bool:
        return self.cursor == len(self.frames)
