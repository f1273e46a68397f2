"""Looks for what no panel shows: other keys under the queue, and rows that no place points to.

It scans, so it takes many round trips and sees no single moment. It is for engines of our own, where only we write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, Protocol

from msgspec import Struct

from visualizer.engine import EngineError
from visualizer.ids import ID_BYTES, is_branded
from visualizer.keyspace import Keyspace
from visualizer.model import Machine, Observation
from visualizer.visible import short_id, visible

BUDGET_KEYS = 10_000
BATCH = 500
# How deep a list is searched for an id.
LIST_DEPTH = 1_000
OURS_PREFIX = b"visualizer:"
SHOWN = 3


class Server(Protocol):
    """What a survey needs of an engine."""

    @property
    def client(self) -> Any: ...

    @property
    def pattern(self) -> bytes: ...

    def may(self, feature: Literal["scan"]) -> str | None: ...


class ForeignKey(Struct, frozen=True):
    """A key under the queue that no panel shows: its whole name, its type, and the captured ids found in it."""

    key: bytes
    type: str
    holds: tuple[bytes, ...] = ()


class Survey(Struct, frozen=True):
    """What a scan of the queue found. ``complete`` is False where the budget ended it before it had seen every key.

    ``rows_without_place`` are the ids of rows that no place holds, none of them judged where lists are longer than
    they are searched.
    """

    foreign: tuple[ForeignKey, ...]
    rows_without_place: tuple[bytes, ...]
    keys_seen: int
    complete: bool

    @property
    def clean(self) -> bool:
        """Whether nothing was found that no panel shows."""
        return not self.foreign and not self.rows_without_place

    def holding(self, job: bytes) -> tuple[ForeignKey, ...]:
        """The foreign keys that hold this captured id."""
        return tuple(found for found in self.foreign if job in found.holds)

    def sentence(self) -> str:
        """What was found, as sentences in one line that is safe to show."""
        keys = "no key" if not self.keys_seen else "1 key" if self.keys_seen == 1 else f"{self.keys_seen:,} keys"
        seen = f"The queue holds {keys}" if self.complete else f"Of the queue {keys} were looked at, no further"
        rows = _rows_words(self.rows_without_place)
        if not self.foreign:
            foreign = {0: "", 1: ", not a foreign one"}.get(self.keys_seen, ", none of them foreign")
            return (
                f"{seen}{foreign}. {rows}."
                if self.rows_without_place
                else f"{seen}{foreign}, and every row has a place."
            )
        are = "1 is" if len(self.foreign) == 1 else f"{len(self.foreign):,} are"
        return f"{seen}. {are} foreign: {_listed([_foreign_words(found) for found in self.foreign])}. {rows}."


def _rows_words(rows: Sequence[bytes]) -> str:
    if not rows:
        return "Every row has a place"
    count = "1 row has" if len(rows) == 1 else f"{len(rows):,} rows have"
    return f"{count} no place: {_listed([short_id(job) for job in rows])}"


def _foreign_words(found: ForeignKey) -> str:
    held = f", holds {_listed([short_id(job) for job in found.holds])}" if found.holds else ""
    return f"{visible(found.key, 48)} ({found.type}{held})"


def _listed(words: Sequence[str]) -> str:
    more = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def survey(
    engine: Server, machine: Machine, space: Keyspace, seen: Observation, budget_keys: int = BUDGET_KEYS
) -> Survey:
    """Scans the queue for what ``seen`` does not show, up to so many keys.

    A lane that ``seen`` names is a place; one that nothing in view names is told like a foreign key, since no panel
    shows it, yet a row in it has a place. EngineError on a server that is not ours.
    """
    refused = engine.may("scan")
    if refused is not None:
        raise EngineError(refused)
    keys, complete = _scan(engine, budget_keys)
    sorter = _Sorter(machine, space, seen)
    unseen: list[bytes] = []
    rows: list[bytes] = []
    lanes: list[bytes] = []
    for key in keys:
        name = key.removeprefix(space.base)
        job = sorter.row_id(name)
        if job is not None:
            rows.append(job)
        elif not sorter.is_known(name):
            unseen.append(key)
            if sorter.is_lane(name):
                lanes.append(key)
    captured = tuple(seen.memberships)
    foreign = tuple(_look_into(engine.client, key, captured) for key in sorted(unseen))
    homeless = tuple(_homeless(engine.client, machine, space, seen, sorted(rows), lanes))
    return Survey(foreign, homeless, len(keys), complete)


class _Sorter:
    """Tells what a key's name (without the queue's base) is. A name is only ever compared, never split at its ``:``."""

    def __init__(self, machine: Machine, space: Keyspace, seen: Observation) -> None:
        self._known = {name.encode() for name in seen.places}
        self._known.update(place.name.encode() for place in machine.places)
        self._known.update(side.name.encode() for side in machine.sides)
        self._row_prefix = machine.row_prefix.encode()
        self._row_ends = {end.encode() for end in (*machine.beside_row, machine.lock_suffix or "")}
        self._machine = machine
        self._space = space

    def row_id(self, name: bytes) -> bytes | None:
        """The id of a row's name, None for every other name."""
        job = name.removeprefix(self._row_prefix)
        return job if name.startswith(self._row_prefix) and is_branded(job) else None

    def is_known(self, name: bytes) -> bool:
        """Whether a panel shows the key of that name, or it belongs to a row or to the visualizer itself."""
        if name in self._known or name.startswith(OURS_PREFIX):
            return True
        after = name.removeprefix(self._row_prefix)
        beside_row = name.startswith(self._row_prefix) and is_branded(after[:ID_BYTES])
        return beside_row and after[ID_BYTES:] in self._row_ends

    def is_lane(self, name: bytes) -> bool:
        """Whether the name is that of a lane."""
        lanes = self._machine.lanes
        if lanes is None:
            return False
        group = name.removeprefix(lanes.prefix.encode()).removesuffix(lanes.suffix.encode())
        return is_branded(group) and name == f"{lanes.prefix}{group.decode()}{lanes.suffix}".encode()


def _scan(engine: Server, budget_keys: int) -> tuple[set[bytes], bool]:
    """The queue's keys, each once, and whether these are all."""
    keys: set[bytes] = set()
    cursor = 0
    while True:
        cursor, names = engine.client.scan(cursor, match=engine.pattern, count=BATCH)
        keys.update(names)
        if not cursor:
            return keys, True
        if len(keys) >= budget_keys:
            return keys, False


def _look_into(client: Any, key: bytes, captured: Sequence[bytes]) -> ForeignKey:
    kind: str = client.type(key).decode()
    pipeline = client.pipeline(transaction=False)
    for job in captured:
        if kind == "zset":
            pipeline.zscore(key, job)
        elif kind == "list":
            pipeline.execute_command("LPOS", key, job, "MAXLEN", LIST_DEPTH)
        elif kind == "set":
            pipeline.sismember(key, job)
        elif kind == "hash":
            pipeline.hexists(key, job)
    # A score or a position of 0 is a find; so is only the 1 of a set's or a hash's answer.
    absent = (None,) if kind in ("zset", "list") else (0, False)
    answers = pipeline.execute()
    return ForeignKey(
        key, kind, tuple(job for job, found in zip(captured, answers, strict=False) if found not in absent)
    )


def _homeless(
    client: Any, machine: Machine, space: Keyspace, seen: Observation, rows: Iterable[bytes], lanes: Sequence[bytes]
) -> Iterator[bytes]:
    """The ids of these rows that no place of the right type holds."""
    kinds = {place.name: place.kind for place in machine.places}
    places = [
        (space.key(name), kinds.get(name, "zset"))
        for name, reading in seen.places.items()
        if reading.wrong_type is None
    ]
    places += [(lane, "zset") for lane in lanes if client.type(lane) == b"zset"]
    if any(kind == "list" and client.llen(key) > LIST_DEPTH for key, kind in places):
        return
    waiting = iter(rows)
    while batch := list(islice(waiting, BATCH)):
        pipeline = client.pipeline(transaction=False)
        for job in batch:
            for key, kind in places:
                if kind == "list":
                    pipeline.execute_command("LPOS", key, job)
                else:
                    pipeline.zscore(key, job)
        answers = pipeline.execute()
        for at, job in enumerate(batch):
            if all(answer is None for answer in answers[at * len(places) : (at + 1) * len(places)]):
                yield job
