"""The keys that a walk may write: which of them are kept before a step, whether they can be put back, and how.

Places and side keys, the rows of the captured ids and the lanes in view are kept; on an engine of our own the rows of
all ids in view too. A key that a call names and that none of these is, is kept just before that call is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from visualizer.keyspace import Keyspace
from visualizer.model import Dump, Frame, Machine, Observation


class Engine(Protocol):
    """What keeping and putting back needs of an engine."""

    @property
    def own(self) -> bool: ...

    @property
    def sent_bytes(self) -> int: ...

    def send(self, *words: Any) -> Any: ...

    def hold(self, names: Iterable[bytes]) -> None: ...

    def put_back(self, dumps: Mapping[bytes, tuple[bytes, int]], gone: Iterable[bytes]) -> None: ...


class KeptKeys:
    """One walk's keys on one engine. It stands between a caller and the engine, so that it hears of every key first."""

    def __init__(
        self, engine: Engine, machine: Machine, space: Keyspace, captured: Iterable[bytes], groups: Iterable[bytes]
    ) -> None:
        self._engine = engine
        self._machine = machine
        self._row_base = space.key(machine.row_prefix)
        self._space = space
        self._known = {space.key(place.name) for place in machine.places}
        self._known.update(space.key(side.name) for side in machine.sides)
        for job in captured:
            row = space.job(job)
            ends = (*machine.beside_row, machine.lock_suffix or "")
            self._known.update((row, *(row + end.encode() for end in ends)))
        lanes = machine.lanes
        if lanes is not None:
            self._known.update(space.key(f"{lanes.prefix}{group.decode()}{lanes.suffix}") for group in groups)
        self._late: dict[bytes, Dump] | None = None
        engine.hold(self._known)

    # Before and while a step runs -------------------------------------------------------------------------------------

    def to_keep(self, seen: Observation) -> tuple[bytes, ...]:
        """The keys whose dumps a reading should bring, given the last one."""
        return tuple(self._known | self._in_view(seen))

    def left_out(self, seen: Observation) -> bool:
        """Whether something that a reading saw is not among the keys it dumped: it has come since the last one."""
        if seen.dumps is None:
            return False
        held = {self._space.key(name) for name in self._lanes(seen) if seen.places[name].count}
        if self._engine.own:
            held.update(self._row_base + job for job, row in seen.rows.items() if row is not None)
        return not held <= seen.dumps.keys()

    @property
    def sent_bytes(self) -> int:
        return self._engine.sent_bytes

    def send(self, *words: Any) -> Any:
        return self._engine.send(*words)

    def hold(self, names: Iterable[bytes]) -> None:
        """Hears the keys of a call before it is sent."""
        names = tuple(names)
        for name in names:
            if name not in self._known:
                self._keep_late(name)
        self._engine.hold(names)

    def keep_late(self, keeping: bool) -> None:
        """From now on, whether a key that is heard of late is dumped as well."""
        self._late = {} if keeping else None

    def with_late(self, before: Observation) -> Observation:
        """The reading before a step, with the dumps of the keys that only its calls named."""
        if not self._late or before.dumps is None:
            return before
        return replace(before, dumps={**before.dumps, **self._late})

    def note(self, seen: Observation) -> None:
        """Takes in the lanes that a reading found."""
        self._known.update(self._space.key(name) for name in self._lanes(seen))

    def _keep_late(self, name: bytes) -> None:
        self._known.add(name)
        if self._late is None:
            return
        self._late.update(self.dumps_of((name,)))

    def dumps_of(self, names: Iterable[bytes]) -> dict[bytes, Dump]:
        """Dumps of these keys as they are now; those that do not exist have none."""
        held = {name: self._engine.send("DUMP", name) for name in names}
        return {
            name: Dump(dump, max(int(self._engine.send("PEXPIRETIME", name)), 0))
            for name, dump in held.items()
            if dump is not None
        }

    # Going back -------------------------------------------------------------------------------------------------------

    def why_not(self, then: Observation, since: Sequence[Frame], now_ms: int) -> str | None:
        """None where the keys can be put back as ``then`` dumped them, else why not, in a sentence part.

        ``since`` are the frames after it, ``now_ms`` is the server's clock.
        """
        if then.dumps is None:
            return then.undumped or "the keys were not kept at that moment"
        if self.left_out(then):
            return "not every key was kept at that moment"
        if any(frame.unseen for frame in since):
            return "jobs out of view have moved since"
        if not self._engine.own and any(self._row_base + move.id not in self._known for move in _moves(since)):
            return "a job that is not this lesson's has moved since"
        for name, reading in then.places.items():
            if self._machine.place(name).scored not in ("deadline", "due"):
                continue
            scores = (member.score for member in reading.members if member.score is not None)
            instants_ms = (self._machine.read_score(name, score).at_ms for score in scores)
            if any(at_ms is not None and then.clock_ms < at_ms <= now_ms for at_ms in instants_ms):
                return f"a time in {name} has passed since"
        if any(then.clock_ms < dump.expires_at_ms <= now_ms for dump in then.dumps.values()):
            return "a key's time to live has passed since"
        return None

    def put_back(self, then: Observation, since: Sequence[Frame] = ()) -> int:
        """Makes every key what ``then`` dumped, none where it dumped none; answers how many exist again."""
        dumps = then.dumps or {}
        came = {self._row_base + move.id for move in _moves(since)} if self._engine.own else set()
        gone = (self._known | self._in_view(then) | came) - dumps.keys()
        self._engine.put_back({key: (dump.data, dump.expires_at_ms) for key, dump in dumps.items()}, gone)
        return len(dumps)

    def _in_view(self, seen: Observation) -> set[bytes]:
        keys = {self._space.key(name) for name in self._lanes(seen)}
        if self._engine.own:
            keys.update(self._row_base + job for job in seen.rows)
        return keys

    def _lanes(self, seen: Observation) -> list[str]:
        fixed = {place.name for place in self._machine.places}
        return [name for name in seen.places if name not in fixed]


def _moves(frames: Sequence[Frame]) -> list[Any]:
    return [move for frame in frames for move in frame.moves]
