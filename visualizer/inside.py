"""What one client sees of a queue: the places, one job's row and lock, and the side keys a script is given.

The same commands read it inside a debugger's session and over a second connection, so the two can be laid side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

from visualizer.caller import ErrorReply
from visualizer.keyspace import Keyspace
from visualizer.model import Machine, Place, SideKey

# How many members of a place are read: a script that looks at more is told by the count.
HEAD = 4
_SIDE_COMMANDS = {
    "hash": ("HGETALL",),
    "list": ("LRANGE", 0, 19),
    "set": ("SMEMBERS",),
    "zset": ("ZRANGE", 0, 19, "WITHSCORES"),
    "string": ("GET",),
}

Look = Callable[..., Any]


class PlaceSeen(Struct, frozen=True):
    """One place: how many it holds, the first of them with their scores, and which of the watched ids it holds.

    ``given`` tells whether the script is given its key by name.
    """

    name: str
    count: int
    head: tuple[tuple[bytes, int | float | None], ...] = ()
    holds: tuple[bytes, ...] = ()
    wrong_type: bool = False
    given: bool = False


class Seen(Struct, frozen=True):
    """What one client sees at one moment. ``row`` and ``lock`` are those of the watched job, None where there is none.

    ``sides``: what the side keys that the script is given hold, by name, where they hold anything.
    """

    places: tuple[PlaceSeen, ...]
    row: Mapping[bytes, bytes] | None
    lock: bytes | None = None
    sides: Mapping[str, Any] = {}

    def holding(self, job: bytes) -> tuple[str, ...]:
        """The places that hold a watched id."""
        return tuple(place.name for place in self.places if job in place.holds)


class Gaze(Struct, frozen=True):
    """What to look at: the machine's places (``lanes`` by name too), ``ids`` in each of them, and ``job``'s row.

    ``given`` are the keys that the script is given by name.
    """

    machine: Machine
    space: Keyspace
    job: bytes | None
    ids: tuple[bytes, ...]
    lanes: tuple[str, ...] = ()
    sides: tuple[SideKey, ...] = ()
    given: frozenset[bytes] = frozenset()

    def places(self) -> Iterator[tuple[str, Place]]:
        yield from ((place.name, place) for place in self.machine.places)
        yield from ((name, self.machine.place(name)) for name in self.lanes)


def sides_given(machine: Machine, space: Keyspace, given: Collection[bytes]) -> tuple[SideKey, ...]:
    """The side keys that a script is given by name; all of them where it is given what their names begin with."""
    builds = space.base in given
    return tuple(side for side in machine.sides if builds or space.key(side.name) in given)


def seen_by(look: Look, gaze: Gaze, shifted_ms: int = 0) -> Seen:
    """Reads it all, one command after the other. ``look`` runs a command and answers its reply or an `ErrorReply`.

    The scores of instants are shown ``shifted_ms`` earlier than they are; those of a lesson's own clock were told to
    its scripts, and are shown as they are.
    """
    if gaze.machine.own_clock:
        shifted_ms = 0
    places = tuple(_place(look, gaze, name, place, shifted_ms) for name, place in gaze.places())
    sides = {side.name: _side(look, gaze.space, side) for side in gaze.sides}
    row, lock = None, None
    if gaze.job is not None:
        # Not gated: the id may be anything that was read from a server.
        key = gaze.space.key(gaze.machine.row_prefix) + gaze.job
        fields = look("HGETALL", key)
        if isinstance(fields, list) and fields:
            row = dict(zip(fields[::2], fields[1::2], strict=True))
        if gaze.machine.lock_suffix is not None:
            held = look("GET", key + gaze.machine.lock_suffix.encode())
            lock = held if isinstance(held, bytes) else None
    return Seen(places, row, lock, {name: held for name, held in sides.items() if held})


def _place(look: Look, gaze: Gaze, name: str, place: Place, shifted_ms: int) -> PlaceSeen:
    key = gaze.space.key(name)
    given = key in gaze.given
    is_list = place.kind == "list"
    count = look("LLEN" if is_list else "ZCARD", key)
    if not isinstance(count, int):
        return PlaceSeen(name, 0, wrong_type=True, given=given)
    if not count:
        return PlaceSeen(name, 0, given=given)
    head: tuple[tuple[bytes, int | float | None], ...]
    if is_list:
        head = tuple((job, None) for job in look("LRANGE", key, 0, HEAD - 1))
    else:
        flat = look("ZRANGE", key, 0, HEAD - 1, "WITHSCORES")
        back_ms = shifted_ms if place.scored in ("deadline", "due") else 0
        head = tuple((job, _score(raw, back_ms)) for job, raw in zip(flat[::2], flat[1::2], strict=True))
    in_head = {job for job, _ in head}
    if count <= HEAD:
        holds = tuple(job for job in gaze.ids if job in in_head)
    else:
        find = ("LPOS",) if is_list else ("ZRANK",)
        holds = tuple(job for job in gaze.ids if job in in_head or look(*find, key, job) is not None)
    return PlaceSeen(name, count, head, holds, given=given)


def _score(raw: bytes, back_ms: int) -> int | float:
    score = float(raw) - back_ms
    return int(score) if score.is_integer() else score


def _side(look: Look, space: Keyspace, side: SideKey) -> Any:
    command, *rest = _SIDE_COMMANDS[side.kind]
    held = look(command, space.key(side.name), *rest)
    if isinstance(held, ErrorReply) or not held:
        return None
    if side.kind == "hash":
        return dict(zip(held[::2], held[1::2], strict=True))
    return tuple(sorted(held)) if side.kind == "set" else tuple(held) if isinstance(held, list) else held
