"""A queue on a private Valkey with one claimed job, and the bare client that everything of ours is held against."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import redis

from visualizer.engine.embedded import EmbeddedEngine, EmbeddedServer
from visualizer.keyspace import Keyspace
from visualizer.machine.leased import LEASED
from visualizer.model import Step
from visualizer.walk import Walker

JOB = b"JOB0KHTOWnGLuC"
# A lease that no run outlasts.
LEASE_MS = 3_600_000
CLAIMED = (Step("enqueue", JOB, payload=b"p" * 80), Step("claim", JOB, {"worker": "w1", "lease_ms": LEASE_MS}))
EXTEND = Step("extend_lock", JOB, {"token": "w1", "lease_ms": LEASE_MS})


class BenchQueue:
    """One queue. ``bare`` is redis-py at its fastest: hiredis, RESP2, one connection that is not asked for."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self.engine = engine
        self.space = Keyspace(engine.queue, LEASED.row_prefix)
        self.bare: Any = redis.Redis(
            unix_socket_path=engine.server.socket_path, protocol=2, single_connection_client=True
        )

    def walker(self, *, keep_dumps: bool = False) -> Walker:
        """A walk at its start, on an empty queue."""
        self.engine.clear_queue()
        return Walker(self.engine, LEASED, self.space, [JOB], keep_dumps=keep_dumps)

    def claimed(self, *, keep_dumps: bool = False) -> Walker:
        """A walk in which worker w1 has claimed the job."""
        walker = self.walker(keep_dumps=keep_dumps)
        for step in CLAIMED:
            walker.take(step)
        return walker

    def bare_call(self, words: tuple[bytes | str | int, ...]) -> Any:
        """An EVALSHA by the bare client: ``words`` are the SHA-1, the number of keys, and all that follows."""
        return self.bare.evalsha(*words)


@contextlib.contextmanager
def bench_queue() -> Iterator[BenchQueue]:
    """A queue on a private Valkey, gone at the end."""
    engine = EmbeddedEngine(EmbeddedServer.spawn(), "bench", b"emq:{bench}:")
    queue = BenchQueue(engine)
    try:
        yield queue
    finally:
        queue.bare.close()
        engine.close()


def extend_words(walker: Walker) -> tuple[bytes | str | int, ...]:
    """The EVALSHA of one `EXTEND`, as the walk sent it."""
    call = walker.take(EXTEND).frames[-1].calls[-1]
    return (call.sha1 or "", len(call.keys), *call.keys, *call.args)
