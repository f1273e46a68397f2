"""A worker of the naive queue: a status flag beside the place, moved by separate commands, each of them right alone.

It does the four basic things that a lawful worker does with scripts: it admits jobs, claims them, completes them, and
reaps. Now and then it dies after a claim, or makes a call that has to be refused. Each command is sent when the one
before it has been answered, as a client's code would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from visualizer.keyspace import Keyspace
from visualizer.prove.numbers import Draw
from visualizer.prove.worker import HELD_AT_MOST, HOUR_MS, PAYLOAD, Worker
from visualizer.visible import visible

# An id that nobody enqueues.
MISSING = b"JOB0KHTOWnGLuC"
# A naive claim counts no attempts, so every token is this one.
TOKEN = b"0"


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


class CarelessWorker(Worker):
    """One worker on the naive queue, and what it has counted."""

    def __init__(
        self, server: Sender, space: Keyspace, ids: Sequence[bytes], draws: Iterator[Draw], clock_ms: Callable[[], int]
    ) -> None:
        super().__init__(draws)
        self._client = NaiveClient(server, space, clock_ms)
        # Nothing is ever put into that queue.
        self._empty = NaiveClient(server, Keyspace(f"{space.queue}-empty", "job:"), clock_ms)
        self._ids = tuple(ids)
        self._held: list[bytes] = []
        # As often as a lawful worker does it; what only scripts can do or refuse falls away.
        self.acts = (
            *[self._admit] * 5,
            *[self._claim] * 5,
            *[self._complete] * 7,
            *[self._claim_and_die] * 2,
            *[self._reap] * 5,
            *[self._wrong_token] * 2,
            *(self._duplicate, self._missing_id, self._nothing_to_claim),
        )

    @property
    def commands(self) -> int:
        return self._client.commands + self._empty.commands

    # What a lawful caller does ----------------------------------------------------------------------------------------

    def _admit(self, draw: Draw) -> None:
        self._verbs["enqueue"] += 1
        self._client.enqueue(draw.pick(self._ids))

    def _claim(self, draw: Draw) -> None:
        if len(self._held) >= HELD_AT_MOST:
            self._complete(draw)
            return
        self._verbs["claim"] += 1
        job = self._client.claim(HOUR_MS)
        if job is not None:
            self._held.append(job)

    def _claim_and_die(self, _draw: Draw) -> None:
        """A worker that dies: its lease ends at once, and nobody uses its token again."""
        self._verbs["claim"] += 1
        self._died += self._client.claim(1) is not None

    def _complete(self, draw: Draw) -> None:
        """A job whose lease runs for an hour: its own worker's completion has to count."""
        if not self._held:
            self._reap(draw)
            return
        self._verbs["complete"] += 1
        job = self._held.pop(self._held.index(draw.pick(self._held)))
        if self._client.complete(job, TOKEN):
            self._completed += 1
        else:
            self._note_wrong(f"complete {visible(job)} was answered gone to the worker that holds it")

    def _reap(self, _draw: Draw) -> None:
        self._verbs["reap"] += 1
        self._client.reap()

    # Calls that have to be refused ------------------------------------------------------------------------------------

    def _refuse(self, kind: str, verb: str, about: bytes, accepted: bool) -> None:
        """Counts a call that has to be refused: by its kind where it was, as wrong where it was not."""
        self._verbs[verb] += 1
        if accepted:
            self._note_wrong(f"{verb} {visible(about)} was accepted ({kind})")
        else:
            self._refused[kind] += 1

    def _wrong_token(self, draw: Draw) -> None:
        if not self._held:
            self._missing_id(draw)
            return
        job = draw.pick(self._held)
        self._refuse("wrong token", "complete", job, self._client.complete(job, draw.pick((b"1", b"00", b" 0", b""))))

    def _duplicate(self, draw: Draw) -> None:
        """A job that this worker holds has to have a row."""
        if not self._held:
            self._missing_id(draw)
            return
        job = draw.pick(self._held)
        self._refuse("duplicate", "enqueue", job, self._client.enqueue(job))

    def _missing_id(self, _draw: Draw) -> None:
        self._refuse("missing id", "complete", MISSING, self._client.complete(MISSING, TOKEN))

    def _nothing_to_claim(self, _draw: Draw) -> None:
        job = self._empty.claim(HOUR_MS)
        self._refuse("empty queue", "claim", job or b"", job is not None)
