"""A lesson's own clock, for a machine whose scripts take the time as an argument.

Only steps advance it. Where the engine can hold its time to live, a lock lives until this clock says otherwise, and
then expires for real on the server: a learner who reads for a minute loses nothing to reading.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Protocol

from msgspec.structs import replace

from visualizer.keyspace import Keyspace
from visualizer.model import Lock, Machine, Observation

# The instant at which every lesson begins (2023-11-14T22:13:20Z), and what one step takes.
START_MS = 1_700_000_000_000
STEP_MS = 10


class Engine(Protocol):
    """What a clock needs of an engine."""

    @property
    def client(self) -> Any: ...

    def hold_clock(self) -> bool: ...

    def hold_key(self, key: bytes) -> int: ...

    def expire_now(self, key: bytes) -> None: ...


class LessonClock:
    """``held`` tells whether the engine leaves expiry to this clock; where it does not, the clock is the server's."""

    def __init__(self, engine: Engine, space: Keyspace, machine: Machine) -> None:
        self._engine = engine
        self._space = space
        self._row_base = space.key(machine.row_prefix)
        self._suffix = (machine.lock_suffix or "").encode()
        self.held = engine.hold_clock()
        self._now_ms = START_MS

    @property
    def now_ms(self) -> int:
        if self.held:
            return self._now_ms
        seconds, micros = self._engine.client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def tick(self, last: Observation) -> bool:
        """What one step takes; whether a key ran out meanwhile. Nothing where the clock is the server's."""
        return self.held and self._pass(STEP_MS, last)

    def advance(self, ms: int, last: Observation, sleep: Callable[[float], bool]) -> bool:
        """Lets time pass; what runs out meanwhile expires on the server. False where the learner left meanwhile."""
        if not self.held:
            return ms <= 0 or sleep(ms / 1000)
        self._pass(ms, last)
        return True

    def seen(self, fresh: Observation, last: Observation | None, set_for_ms: Collection[int] = ()) -> Observation:
        """A reading by this clock: what expires, expires as long after the moment it was set as it was set for.

        The server tells only what is left of that; ``set_for_ms`` are the durations that were sent since ``last``.
        """
        if not self.held:
            return fresh
        known = dict(self._keys_of(last)) if last is not None else {}
        passed_ms = self._now_ms - last.clock_ms if last is not None else 0

        def by_this_clock(key: bytes, lock: Lock) -> Lock:
            if lock.ttl_ms < 0:
                return lock
            was = known.get(key)
            if was is not None and (was.token, was.expires_at_ms) == (lock.token, lock.expires_at_ms):
                return replace(lock, ttl_ms=max(was.ttl_ms - passed_ms, 0))
            whole_ms = min((ms for ms in set_for_ms if ms >= lock.ttl_ms), default=lock.ttl_ms)
            return replace(lock, ttl_ms=whole_ms, expires_at_ms=self._engine.hold_key(key))

        locks = {job: by_this_clock(self._lock_key(job), lock) for job, lock in fresh.locks.items()}
        sides = {name: by_this_clock(self._space.key(name), lock) for name, lock in fresh.side_locks.items()}
        return replace(fresh, clock_ms=self._now_ms, epoch_ms=START_MS, locks=locks, side_locks=sides)

    def over(self, seen: Observation, ms: int) -> list[bytes]:
        """The keys that expire within that many ms after a reading."""
        return [key for key, lock in self._keys_of(seen) if 0 <= lock.ttl_ms <= ms]

    def _pass(self, ms: int, last: Observation) -> bool:
        self._now_ms += ms
        over = self.over(last, self._now_ms - last.clock_ms)
        for key in over:
            self._engine.expire_now(key)
        return bool(over)

    def _lock_key(self, job: bytes) -> bytes:
        # Not gated: the id was read from the server, and may be anything.
        return self._row_base + job + self._suffix

    def _keys_of(self, seen: Observation) -> Iterator[tuple[bytes, Lock]]:
        yield from ((self._lock_key(job), lock) for job, lock in seen.locks.items())
        yield from ((self._space.key(name), lock) for name, lock in seen.side_locks.items())
