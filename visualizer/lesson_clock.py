"""A lesson's own clock, for a machine whose scripts take the time as an argument.

Only steps advance it. Where the engine can hold its time to live, a lock lives until this clock says otherwise, and then
expires for real on the server: a learner who reads for a minute loses nothing to reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from msgspec.structs import replace

from visualizer.keyspace import Keyspace
from visualizer.model import Lock, Observation

# The instant at which every lesson begins (2023-11-14T22:13:20Z), and what one step takes.
START_MS = 1_700_000_000_000
STEP_MS = 10
_ROUND = (1_000, 100, 10)


class Engine(Protocol):
    """What a clock needs of an engine."""

    @property
    def client(self) -> Any: ...

    def hold_clock(self) -> bool: ...

    def hold_key(self, key: bytes) -> int | None: ...

    def expire_now(self, key: bytes) -> None: ...


class LessonClock:
    """``held`` tells whether the engine leaves expiry to this clock; where it does not, the clock is the server's."""

    def __init__(self, engine: Engine, space: Keyspace, lock_suffix: str) -> None:
        self._engine = engine
        self._space = space
        self._suffix = lock_suffix.encode()
        self.held = engine.hold_clock()
        self._now_ms = START_MS

    @property
    def now_ms(self) -> int:
        if self.held:
            return self._now_ms
        seconds, micros = self._engine.client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def advance(self, ms: int, last: Observation, sleep: Callable[[float], bool]) -> bool:
        """Lets time pass; what runs out meanwhile expires on the server. False where the learner left meanwhile."""
        if not self.held:
            return sleep(ms / 1000) if ms > STEP_MS else True
        self._now_ms += ms
        for key, lock in self._keys_of(last):
            if 0 <= lock.ttl_ms <= self._now_ms - last.clock_ms:
                self._engine.expire_now(key)
        return True

    def seen(self, fresh: Observation, last: Observation | None) -> Observation:
        """A reading by this clock: what expires, expires as long after the moment it was set as it was set for."""
        if not self.held:
            return fresh
        locks = {job: self._lock(self._lock_key(job), lock, fresh, last) for job, lock in fresh.locks.items()}
        sides = {name: self._lock(self._space.key(name), lock, fresh, last) for name, lock in fresh.side_locks.items()}
        return replace(fresh, clock_ms=self._now_ms, epoch_ms=START_MS, locks=locks, side_locks=sides)

    def _lock(self, key: bytes, lock: Lock, fresh: Observation, last: Observation | None) -> Lock:
        if lock.ttl_ms < 0:
            return lock
        known = dict(self._keys_of(last)).get(key) if last is not None else None
        if known is not None and last is not None and known.expires_at_ms == lock.expires_at_ms:
            return replace(lock, ttl_ms=max(known.ttl_ms - (self._now_ms - last.clock_ms), 0))
        held_until = self._engine.hold_key(key)
        lock = lock if held_until is None else replace(lock, expires_at_ms=held_until)
        return replace(lock, ttl_ms=_rounded(lock.ttl_ms))

    def _lock_key(self, job: bytes) -> bytes:
        return self._space.job(job) + self._suffix

    def _keys_of(self, seen: Observation) -> Iterator[tuple[bytes, Lock]]:
        found: Mapping[bytes, Lock] = seen.locks
        yield from ((self._lock_key(job), lock) for job, lock in found.items())
        yield from ((self._space.key(name), lock) for name, lock in seen.side_locks.items())


def _rounded(left_ms: int) -> int:
    """How long a key was set for, from what was left of it a moment later: the roundest number just above."""
    for unit in _ROUND:
        whole = -(-left_ms // unit) * unit
        if whole - left_ms <= max(unit // 4, 5):
            return whole
    return left_ms
