"""A worker of the naive queue: a status flag beside the place, moved by separate commands, each of them right alone.

It does what a lawful worker does with scripts: admits jobs, claims them, completes them, lets leases end, reaps. Each
command is sent when the one before it has been answered, as a client's code would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from visualizer.keyspace import Keyspace
from visualizer.prove.counts import Worked
from visualizer.prove.numbers import Draw

HOUR_MS = 3_600_000
HELD_AT_MOST = 3
PAYLOAD = b"payload"


class Sender(Protocol):
    """What a client needs of a connection."""

    def send(self, *words: Any) -> Any: ...


class NaiveClient:
    """The naive queue's transitions, a few commands each. ``clock_ms`` is the host's clock: a lease is added to it."""

    def __init__(self, server: Sender, space: Keyspace, clock_ms: Callable[[], int]) -> None:
        self._server = server
        self._space = space
        self._clock_ms = clock_ms
        self._pending, self._active = space.key("pending"), space.key("active")
        self.commands = 0

    def _send(self, *words: Any) -> Any:
        self.commands += 1
        return self._server.send(*words)

    def enqueue(self, job: bytes) -> bool:
        """False where there is such a job already."""
        row = self._space.job(job)
        if self._send("EXISTS", row):
            return False
        self._send("HSET", row, "state", "pending", "attempts", 0, "payload", PAYLOAD)
        self._send("ZADD", self._pending, 0, job)
        return True

    def claim(self, lease_ms: int) -> bytes | None:
        """The first waiting job: its flag is written, then it leaves pending, then it enters active."""
        first = self._send("ZRANGE", self._pending, 0, 0)
        if not first:
            return None
        job: bytes = first[0]
        self._send("HSET", self._space.job(job), "state", "active")
        self._send("ZREM", self._pending, job)
        self._send("ZADD", self._active, self._clock_ms() + lease_ms, job)
        return job

    def complete(self, job: bytes, token: bytes) -> bool:
        """False where the row does not hold the token. A naive claim counts no attempts, so the token stays 0."""
        row = self._space.job(job)
        if self._send("HGET", row, "attempts") != token:
            return False
        if not self._send("ZREM", self._active, job):
            self._send("ZREM", self._pending, job)
        self._send("DEL", row)
        self._send("HINCRBY", self._space.key("metrics:completed"), "count", 1)
        return True

    def reap(self) -> int:
        """Takes back what has lapsed, job by job; answers how many."""
        lapsed = self._send("ZRANGEBYSCORE", self._active, "-inf", self._clock_ms())
        for job in lapsed:
            self._send("ZREM", self._active, job)
            self._send("ZADD", self._pending, 0, job)
            self._send("HSET", self._space.job(job), "state", "pending")
        return len(lapsed)


class CarelessWorker:
    """One worker on the naive queue, and what it has counted."""

    def __init__(
        self, server: Sender, space: Keyspace, ids: Sequence[bytes], draws: Iterator[Draw], clock_ms: Callable[[], int]
    ) -> None:
        self._client = NaiveClient(server, space, clock_ms)
        self._ids = tuple(ids)
        self._draws = draws
        self._held: list[bytes] = []
        self._turns = self._completed = 0
        self._verbs: Counter[str] = Counter()
        # As often as a lawful worker does it; what only scripts can do falls away.
        self._acts: tuple[tuple[str, Callable[[Draw], None]], ...] = (
            *[("enqueue", self._admit)] * 5,
            *[("claim", self._claim)] * 5,
            *[("complete", self._complete)] * 7,
            *[("claim and die", self._claim_and_die)] * 2,
            *[("reap", self._reap)] * 5,
        )

    def turn(self) -> None:
        """One turn of the worker: one transition, with all its commands."""
        draw = next(self._draws)
        name, act = draw.pick(self._acts)
        act(draw)
        self._verbs[name] += 1
        self._turns += 1

    @property
    def counted(self) -> Worked:
        return Worked(self._turns, self._client.commands, self._completed, dict(self._verbs))

    def _admit(self, draw: Draw) -> None:
        self._client.enqueue(draw.pick(self._ids))

    def _claim(self, draw: Draw) -> None:
        if len(self._held) >= HELD_AT_MOST:
            self._complete(draw)
            return
        job = self._client.claim(HOUR_MS)
        if job is not None:
            self._held.append(job)

    def _claim_and_die(self, _draw: Draw) -> None:
        self._client.claim(1)

    def _complete(self, draw: Draw) -> None:
        if self._held:
            job = self._held.pop(self._held.index(draw.pick(self._held)))
            self._completed += self._client.complete(job, b"0")
        else:
            self._reap(draw)

    def _reap(self, _draw: Draw) -> None:
        self._client.reap()
