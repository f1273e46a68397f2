"""A queue on an engine, and what a test does with it: run a verb, read what is held, let time pass."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from visualizer.caller import Caller
from visualizer.engine import Engine
from visualizer.ids import Minter
from visualizer.keyspace import Keyspace
from visualizer.machine.bench import Bench
from visualizer.machine.leased_verbs import VERBS
from visualizer.model import Grant, Outcome, Step, WireCall

_minter = Minter(7, lambda: time.time_ns() // 1_000_000)


def mint(namespace: str = "JOB") -> bytes:
    """A fresh id; each is later than the one before."""
    return _minter.mint(namespace).encode()


def lane(group: bytes) -> str:
    """The name of a group's lane."""
    return f"g:{group.decode()}:pending"


class Connection:
    """What a caller needs of an engine, over a client of its own."""

    sent_bytes = 0

    def __init__(self, client: Any) -> None:
        self.client = client

    def send(self, *words: Any) -> Any:
        return self.client.execute_command(*words)

    def hold(self, names: Iterable[bytes]) -> None: ...


class QueueUnderTest:
    """The engine's queue. ``outcome``, ``grants`` and ``calls`` are those of the last verb."""

    outcome: Outcome
    grants: tuple[Grant, ...]
    calls: tuple[WireCall, ...]

    def __init__(self, engine: Engine, client: Any = None) -> None:
        self.client: Any = client or engine.client
        self.space = Keyspace(engine.queue, "job:")
        self.tokens: dict[tuple[str, bytes], bytes] = {}
        self._caller = Caller(Connection(self.client))

    def do(self, verb: str, job: bytes | None = None, payload: bytes = b"", /, **given: Any) -> str:
        """Runs a verb; the name of its outcome. The tokens it hands out are kept for the workers."""
        bench = Bench(self._caller, self.space, Step(verb, job, given, payload), self.tokens)
        performed = VERBS[verb].run(bench)
        self.outcome, self.grants, self.calls = performed.outcome, performed.grants, self._caller.drain()
        self.tokens.update({(grant.worker, grant.id): grant.token for grant in self.grants})
        assert self.outcome.name in VERBS[verb].outcomes
        assert self.outcome.sent == bool(self.calls)
        return self.outcome.name

    def refused(self, verb: str, job: bytes | None = None, **given: Any) -> tuple[str, str | None]:
        """Runs a verb that is refused: its outcome and the refusal. Nothing in the queue may have changed."""
        before = self.held()
        name = self.do(verb, job, **given)
        assert self.held() == before
        return name, self.outcome.refused

    @property
    def reply(self) -> Any:
        """The last call's reply as it came."""
        return self.calls[-1].reply

    def enqueue(self, payload: bytes = b"p", group: bytes | None = None) -> bytes:
        """A fresh job that waits, in its group's lane if it has one."""
        job = mint()
        if group is None:
            assert self.do("enqueue", job, payload) == "enqueued"
        else:
            assert self.do("lane_enqueue", job, payload, group=group) == "enqueued"
        return job

    def claimed(self, payload: bytes = b"p", lease_ms: int = 60_000) -> bytes:
        """A fresh job that worker w1 holds with token 1; no other job may be waiting."""
        job = self.enqueue(payload)
        assert self.do("claim", lease_ms=lease_ms) == "claimed"
        assert self.grants == (Grant("w1", job, b"1"),)
        return job

    def lapse(self, job: bytes) -> None:
        """Waits until the job's lease has ended on the server's clock."""
        self.wait_until(self.score("active", job))

    def wait_until(self, instant_ms: float) -> None:
        while self.now_ms() < instant_ms:
            time.sleep(0.001)

    def now_ms(self) -> int:
        """The server's clock."""
        seconds, micros = self.client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    @contextmanager
    def scored(self, place: str, job: bytes, after_ms: int) -> Iterator[None]:
        """Expects that the block scores the job by the server's clock at that time plus ``after_ms``."""
        earliest = self.now_ms() + after_ms
        yield
        assert earliest <= self.score(place, job) <= self.now_ms() + after_ms
        assert self.score(place, job) == int(self.score(place, job))

    def place(self, name: str) -> list[bytes]:
        """The members of a place in its order."""
        members: list[bytes] = self.client.zrange(self.space.key(name), 0, -1)
        return members

    def score(self, place: str, job: bytes) -> float:
        score = self.client.zscore(self.space.key(place), job)
        assert score is not None, f"the id is not in {place}"
        return float(score)

    def homes(self, job: bytes) -> set[str]:
        """Every sorted set of the queue that holds the job."""
        return {
            name for name, value in self.held().items() if isinstance(value, list) and job in [m[0] for m in value if m]
        }

    def row(self, job: bytes) -> dict[bytes, bytes]:
        """The job's row; empty where there is none."""
        fields: dict[bytes, bytes] = self.client.hgetall(self.space.job(job))
        return fields

    def count(self, metric: str) -> int:
        return int(self.client.hget(self.space.key(f"metrics:{metric}"), "count") or 0)

    def held(self) -> dict[str, Any]:
        """Everything in the queue: the part of each key after the base, and its whole value."""
        return {
            key.removeprefix(self.space.base).decode(): self._value(key)
            for key in self.client.scan_iter(match=self.space.base + b"*", count=1000)
        }

    def _value(self, key: bytes) -> Any:
        kind = self.client.type(key)
        if kind == b"zset":
            return self.client.zrange(key, 0, -1, withscores=True)
        if kind == b"hash":
            return self.client.hgetall(key)
        if kind == b"list":
            return tuple(self.client.lrange(key, 0, -1))
        if kind == b"set":
            return self.client.smembers(key)
        return self.client.get(key)
