"""The only reader: one round trip, one consistent `Observation`.

The reader's own script is loaded silently and appears in no wire log: a learner's calls are the only ones recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from visualizer.keyspace import Keyspace
from visualizer.model import Dump, Lock, Machine, Member, Observation, PlaceReading, Row
from visualizer.script import load

# DESIGN: head and tail of 20 each; dumps up to 2,000 members or 1 MB in all.
ENDS = 20
DUMP_MEMBERS = 2_000
DUMP_BYTES = 1_000_000
# How the reader's script is told the type of a side key.
_LETTER = {"hash": "h", "list": "l", "set": "s", "string": "t", "zset": "z"}


class Server(Protocol):
    """What an observer needs of an engine."""

    def send(self, *words: Any) -> Any: ...

    @property
    def owner_key(self) -> bytes | None: ...


class Observer:
    """Reads one machine's queue on one engine. ``captured`` ids are looked up in every place in every reading."""

    def __init__(self, server: Server, machine: Machine, space: Keyspace, captured: Iterable[bytes]) -> None:
        self._server = server
        self._machine = machine
        self._script = load("observe")
        self.captured = tuple(dict.fromkeys(captured))
        sides = sorted(machine.sides, key=lambda side: not side.names_groups)
        self._sides = [(side.name, side.kind) for side in sides]
        lanes = machine.lanes
        self._keys: list[Any] = [
            server.owner_key or space.key("visualizer:owner"),
            *(space.key(place.name) for place in machine.places),
            *(space.key(side.name) for side in sides),
        ]
        self._args: list[Any] = [
            space.base,
            machine.row_prefix,
            machine.lock_suffix or "",
            lanes.prefix if lanes else "",
            lanes.suffix if lanes else "",
            lanes.field if lanes else "",
            "".join(place.kind[0] for place in machine.places),
            "".join(_LETTER[side.kind] for side in sides),
            sum(side.names_groups for side in sides),
            ENDS,
            b" ".join(machine.glance),
        ]
        self._glance = machine.glance
        self._names = {space.key(place.name): (place.name, place.kind == "list") for place in machine.places}
        self._base_length = len(space.base)
        self._loaded = False
        self._words = self._call(())

    def read(self, dump_keys: Sequence[bytes] = ()) -> Observation:
        """One reading. With ``dump_keys`` those keys are dumped in the same round trip, unless they are large."""
        from redis import exceptions

        send = self._server.send
        if not self._loaded:
            send("SCRIPT", "LOAD", self._script.source)
            self._loaded = True
        words = self._call(dump_keys) if dump_keys else self._words
        try:
            reply = send(*words)
        except exceptions.NoScriptError:
            send("SCRIPT", "LOAD", self._script.source)
            reply = send(*words)
        return self._observation(reply, bool(dump_keys))

    def _call(self, dump_keys: Sequence[bytes]) -> list[Any]:
        limit = DUMP_MEMBERS if dump_keys else 0
        count = len(self._keys) + len(dump_keys)
        head = ["EVALSHA", self._script.sha1, count, *self._keys, *dump_keys]
        return [*head, *self._args, limit, DUMP_BYTES, *self.captured]

    def _observation(self, reply: Sequence[Any], dumped: bool) -> Observation:
        (seconds, micros), owner, places, captured, glances, locks, sides, dumps = reply
        readings: dict[str, PlaceReading] = {}
        for key, count, kind, *segments in places:
            name, is_list = self._names.get(key) or self._lane(key)
            members = _members(is_list, segments) if count else ()
            readings[name] = PlaceReading(name, count, members, kind.decode() or None)
        clock_ms = int(seconds) * 1000 + int(micros) // 1000
        names = self._names
        rows: dict[bytes, Row | None] = {}
        owned: dict[bytes, tuple[str, ...]] = {}
        for job, fields, *keys in captured:
            rows[job] = Row(dict(zip(fields[::2], fields[1::2], strict=True))) if fields else None
            owned[job] = tuple([(names.get(key) or self._lane(key))[0] for key in keys])
        glance = self._glance
        stride = 2 + len(glance)
        for at in range(0, len(glances), stride):
            job, mark, *values = glances[at : at + stride]
            held = {field: value for field, value in zip(glance, values, strict=True) if value is not None}
            rows[job] = Row(held, False) if held or mark == 2 else None
        return Observation(
            clock_ms,
            readings,
            owned,
            rows,
            {job: _lock(token, expires_at_ms, clock_ms) for job, token, expires_at_ms in locks},
            {name: held for name, held in self._side_values(sides) if held is not None} if sides else {},
            _dumps(dumps) if dumped and isinstance(dumps, list) else None,
            _why_undumped(dumps),
            owner,
            {
                name: _lock(side[1][0], side[1][1], clock_ms)
                for (name, kind), side in zip(self._sides, sides, strict=False)
                if kind == "string" and side[0] == 1 and side[1][1] > 0
            },
        )

    def _lane(self, key: bytes) -> tuple[str, bool]:
        """A lane's name; lanes are found while reading, so they are not among the names from before."""
        return key[self._base_length :].decode("utf-8", "backslashreplace"), False

    def _side_values(self, sides: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """Side keys by name: a hash as a dict, a list or set as a tuple, a sorted set as (member, score) pairs, a
        string as bytes; one too large to read as its size, one of another type as -1, an absent one as None."""
        for (name, kind), side in zip(self._sides, sides, strict=True):
            size, held = side if len(side) == 2 else (side[0], [])
            if size == 0:
                yield name, None
            elif size and not held:
                yield name, size
            elif kind == "hash":
                yield name, dict(zip(held[::2], held[1::2], strict=True))
            elif kind == "zset":
                yield name, tuple((held[at], float(held[at + 1])) for at in range(0, len(held), 2))
            elif kind == "string":
                yield name, held[0]
            else:
                yield name, tuple(sorted(held) if kind == "set" else held)


def _lock(token: bytes, expires_at_ms: int, clock_ms: int) -> Lock:
    """A string with its time to live, given the instant at which it ends (-1: never)."""
    if expires_at_ms < 0:
        return Lock(token, -1)
    return Lock(token, max(expires_at_ms - clock_ms, 0), expires_at_ms)


def _members(is_list: bool, segments: Sequence[Any]) -> tuple[Member, ...]:
    """The members of all segments, each a first rank and what stands from there on, in rank order, each once."""
    if len(segments) == 2:
        return tuple(_segment(is_list, *segments))
    pairs = zip(segments[::2], segments[1::2], strict=True)
    by_rank = {member.rank: member for first, flat in pairs for member in _segment(is_list, first, flat)}
    return tuple(by_rank[rank] for rank in sorted(by_rank))


def _segment(is_list: bool, first: int, flat: Sequence[bytes]) -> list[Member]:
    if is_list:
        return [Member(job, rank) for rank, job in enumerate(flat, first)]
    scored = zip(flat[::2], flat[1::2], strict=True)
    return [Member(job, rank, float(score)) for rank, (job, score) in enumerate(scored, first)]


def _dumps(entries: Sequence[Any]) -> dict[bytes, Dump]:
    return {key: Dump(held, max(expires_at_ms, 0)) for key, held, expires_at_ms in entries}


def _why_undumped(dumps: Any) -> str:
    if not isinstance(dumps, int):
        return ""
    if dumps > 0:
        return f"this walk's keys hold {dumps:,} members, more than the {DUMP_MEMBERS:,} that are kept for rewinding"
    return f"this walk's keys are longer than the {DUMP_BYTES:,} bytes that are kept for rewinding"
