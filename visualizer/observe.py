"""The only reader: one round trip, one consistent `Observation`.

The reader's own script is loaded silently and appears in no wire log: a learner's calls are the only ones recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from visualizer.keyspace import Keyspace
from visualizer.model import Dump, Lock, Machine, Member, Observation, PlaceReading, Row
from visualizer.script import load

# DESIGN: head and tail of 20 each; dumps up to 2,000 members or 1 MB in all.
ENDS = 20
DUMP_MEMBERS = 2_000
DUMP_BYTES = 1_000_000


class Server(Protocol):
    """What an observer needs of an engine."""

    @property
    def client(self) -> Any: ...

    @property
    def owner_key(self) -> bytes | None: ...


class Observer:
    """Reads one machine's queue on one engine. ``captured`` ids are looked up in every place in every reading."""

    def __init__(self, server: Server, machine: Machine, space: Keyspace, captured: Iterable[bytes]) -> None:
        self._server = server
        self._machine = machine
        self._script = load("observe")
        self.captured = tuple(dict.fromkeys(captured))
        self._place_keys = [space.key(place.name) for place in machine.places]
        sides = sorted(machine.sides, key=lambda side: not side.names_groups)
        self._side_names = [side.name for side in sides]
        self._keys = [
            server.owner_key or space.key("visualizer:owner"),
            *self._place_keys,
            *(space.key(name) for name in self._side_names),
        ]
        lanes = machine.lanes
        self._args = [
            space.base,
            machine.row_prefix,
            machine.lock_suffix or "",
            lanes.prefix if lanes else "",
            lanes.suffix if lanes else "",
            lanes.field if lanes else "",
            " ".join(place.kind for place in machine.places),
            len(sides),
            sum(side.names_groups for side in sides),
            ENDS,
            b" ".join(machine.glance),
        ]
        self._base_length = len(space.base)
        self._loaded = False

    def read(self, dump_keys: Sequence[bytes] = ()) -> Observation:
        """One reading. With ``dump_keys`` those keys are dumped in the same round trip, unless they are large."""
        from redis import exceptions

        client = self._server.client
        if not self._loaded:
            client.execute_command("SCRIPT", "LOAD", self._script.source)
            self._loaded = True
        words = [
            *("EVALSHA", self._script.sha1, len(self._keys) + len(dump_keys)),
            *self._keys,
            *dump_keys,
            *self._args,
            DUMP_MEMBERS if dump_keys else 0,
            DUMP_BYTES,
            *self.captured,
        ]
        try:
            reply = client.execute_command(*words)
        except exceptions.NoScriptError:
            client.execute_command("SCRIPT", "LOAD", self._script.source)
            reply = client.execute_command(*words)
        return self._observation(reply, bool(dump_keys))

    def _observation(self, reply: Sequence[Any], dumped: bool) -> Observation:
        seconds, micros, owner, places, memberships, rows, sides, dumps = reply
        cut = self._base_length
        readings: dict[str, PlaceReading] = {}
        for entry in places:
            name = entry[0][cut:].decode("utf-8", "backslashreplace")
            kind = entry[2].decode()
            readings[name] = PlaceReading(name, entry[1], _members(self._kind(name), entry[3:]), kind or None)
        read_rows: dict[bytes, Row | None] = {}
        locks: dict[bytes, Lock] = {}
        for job, mark, flat, token, ttl_ms in rows:
            read_rows[job] = _row(mark, flat)
            if token is not None:
                locks[job] = Lock(token, ttl_ms)
        owned = {
            found[0]: tuple(key[cut:].decode("utf-8", "backslashreplace") for key in found[1:]) for found in memberships
        }
        return Observation(
            clock_ms=int(seconds) * 1000 + int(micros) // 1000,
            places=readings,
            memberships=owned,
            rows=read_rows,
            locks=locks,
            sides=_sides(self._side_names, sides),
            dumps=_dumps(dumps) if dumped and isinstance(dumps, list) else None,
            undumped=_why_undumped(dumps),
            owner=owner,
        )

    def _kind(self, name: str) -> str:
        return self._machine.place(name).kind


def _members(kind: str, segments: Sequence[Any]) -> tuple[Member, ...]:
    """The members of all segments in rank order, each once."""
    if len(segments) == 1:
        first, flat = segments[0]
        if kind == "list":
            return tuple(Member(job, first + at) for at, job in enumerate(flat))
        return tuple(
            Member(job, first + at, float(score))
            for at, (job, score) in enumerate(zip(flat[::2], flat[1::2], strict=True))
        )
    by_rank: dict[int, Member] = {}
    for segment in segments:
        for member in _members(kind, (segment,)):
            by_rank[member.rank] = member
    return tuple(by_rank[rank] for rank in sorted(by_rank))


def _row(mark: int, flat: Sequence[bytes]) -> Row | None:
    """``mark``: 1 read whole, 0 only the glance fields, 2 a row that holds none of them."""
    if not flat:
        return Row({}, whole=False) if mark == 2 else None
    return Row(dict(zip(flat[::2], flat[1::2], strict=True)), whole=mark == 1)


def _sides(names: Sequence[str], readings: Sequence[Any]) -> Mapping[str, Any]:
    """Side keys by name: a hash as a dict, a list or set as a tuple, a sorted set as (member, score) pairs, a string
    as bytes, a larger one as its size. Absent keys are left out."""
    held: dict[str, Any] = {}
    for name, (kind, size, flat) in zip(names, readings, strict=True):
        if kind == b"none":
            continue
        if size and not flat:
            held[name] = size
        elif kind == b"hash":
            held[name] = dict(zip(flat[::2], flat[1::2], strict=True))
        elif kind == b"zset":
            held[name] = tuple((flat[at], float(flat[at + 1])) for at in range(0, len(flat), 2))
        elif kind == b"string":
            held[name] = flat[0]
        elif kind == b"set":
            held[name] = tuple(sorted(flat))
        else:
            held[name] = tuple(flat)
    return held


def _dumps(entries: Sequence[Any]) -> dict[bytes, Dump]:
    dumps: dict[bytes, Dump] = {}
    for entry in entries:
        if len(entry) == 1:
            dumps[entry[0]] = Dump(None)
        else:
            dumps[entry[0]] = Dump(entry[1], max(entry[2], 0))
    return dumps


def _why_undumped(dumps: Any) -> str:
    if not isinstance(dumps, int):
        return ""
    if dumps > 0:
        return f"the keys of this walk hold {dumps:,} members, more than the {DUMP_MEMBERS:,} that are kept for rewinding"
    return f"the keys of this walk are longer than the {DUMP_BYTES:,} bytes that are kept for rewinding"
