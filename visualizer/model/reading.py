"""What was read from a server, and what differs between two readings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


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
    """A string that may expire, a job's lock above all: its token and the milliseconds it has left (-1: no TTL).

    ``ttl_ms`` is by the clock that the screen shows, ``expires_at_ms`` the server's own instant (0: never).
    """

    token: bytes
    ttl_ms: int
    expires_at_ms: int = 0


class Dump(Struct, frozen=True):
    """One key as DUMP gave it; ``expires_at_ms`` 0 means no TTL. A key that did not exist has none."""

    data: bytes
    expires_at_ms: int = 0


class Observation(Struct, frozen=True):
    """One consistent reading, taken in one round trip.

    ``memberships``: for every captured id the places that hold it, in the machine's order. ``rows``: every id in view
    and every captured id, None where there is no row. ``sides``: what the machine's side keys hold, capped.
    ``side_locks``: the side keys that expire. ``epoch_ms`` is where a lesson's own clock began; 0 where ``clock_ms``
    is the server's.
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
    side_locks: Mapping[str, Lock] = {}
    epoch_ms: int = 0

    def homes(self) -> Mapping[bytes, tuple[str, ...]]:
        """Every id whose membership is known for certain: the captured ones, and all others where every place is
        wholly in view. An id that is in no place has an empty tuple."""
        if not self.all_whole:
            return self.memberships
        return {**dict.fromkeys(self.rows, ()), **self.sighted()}

    def sighted(self) -> Mapping[bytes, tuple[str, ...]]:
        """Every id in view, and the places in which it is in view, each once: a list may hold an id twice."""
        sighted: dict[bytes, tuple[str, ...]] = {}
        for name, reading in self.places.items():
            for member in reading.members:
                found = sighted.get(member.id, ())
                if name not in found:
                    sighted[member.id] = (*found, name)
        return sighted

    @property
    def all_whole(self) -> bool:
        """Whether every place is wholly in view."""
        return all(reading.whole for reading in self.places.values())

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


class Issued(Struct, frozen=True):
    """One command that a script issued while it ran. ``answered`` says whether its reply is known: then it is
    ``reply``, or ``error`` where the script was answered an error."""

    words: tuple[bytes, ...]
    reply: Any = None
    answered: bool = False
    error: str | None = None


class WireCall(Struct, frozen=True):
    """One command as it went over the wire. ``sha1`` and ``script`` are set for EVALSHA and SCRIPT LOAD.

    ``sent_bytes`` are those of the command as it was packed onto the socket; 0 where sending it failed. ``issued`` is
    what the script called meanwhile, in its order; None where that was not watched or could not be.
    """

    command: str
    keys: tuple[bytes, ...]
    args: tuple[bytes, ...]
    reply: Any
    error: str | None
    ms: float
    script: str | None = None
    sha1: str | None = None
    sent_bytes: int = 0
    issued: tuple[Issued, ...] | None = None


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
