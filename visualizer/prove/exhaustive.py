"""All orders of two actors' commands, each really run from the same start, and judged by what is read back.

A worker completes a job whose lease has lapsed, and a reaper takes the lapsed job back. Split into plain commands their
orders are many; as scripts each of them is one command, and there are two.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import combinations
from typing import Any

from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.machine.bench import Bench
from visualizer.machine.leased import LEASED
from visualizer.model import Observation, Step
from visualizer.observe import Observer
from visualizer.prove.counts import Orders
from visualizer.prove.watching import broken_by
from visualizer.script import Caller

JOB = b"JOB0KHTOWnGLuC"
QUEUE = "prove-orders"
PAYLOAD = b"payload"

# An actor: it yields each command, as a name and the words to send, and gets the reply.
Actor = Generator[tuple[str, tuple[Any, ...]], Any, None]
COMPLETION = ("check", "leave", "row", "count")
REAP = ("find", "take", "give back", "flag")


def all_orders(engine: Engine) -> tuple[Orders, ...]:
    """The split form and the scripted form."""
    space = Keyspace(QUEUE, LEASED.row_prefix)
    return _split(engine, space), _scripted(engine, space)


def interleavings(one: int, other: int) -> Iterator[tuple[int, ...]]:
    """Every order of ``one`` commands of actor 0 and ``other`` of actor 1, each actor's own in their order."""
    for places in combinations(range(one + other), one):
        yield tuple(0 if at in places else 1 for at in range(one + other))


def _split(engine: Engine, space: Keyspace) -> Orders:
    orders = harmful = 0
    example: tuple[str, ...] = ()
    harm = ""
    observer = Observer(engine, LEASED, space, [JOB])
    for order in interleavings(len(COMPLETION), len(REAP)):
        _start(engine, space)
        ran = _run(engine, order, (_completion(space), _reap(space)))
        found = harm_in(observer.read())
        orders += 1
        if found:
            harmful += 1
            if not harm:
                example, harm = ran, found
    _clear(engine, space)
    return Orders("split completion and naive reap", orders, harmful, example, harm)


def _scripted(engine: Engine, space: Keyspace) -> Orders:
    observer = Observer(engine, LEASED, space, [JOB])
    caller = Caller(engine)

    def complete() -> None:
        LEASED.verbs["complete"].run(Bench(caller, space, Step("complete", JOB, {"token": 1}), {}))

    def reap() -> None:
        LEASED.verbs["reap"].run(Bench(caller, space, Step("reap", None), {}))

    actors: Sequence[Callable[[], None]] = (complete, reap)
    orders = harmful = 0
    example: tuple[str, ...] = ()
    harm = ""
    for order in interleavings(1, 1):
        _start(engine, space)
        for actor in order:
            actors[actor]()
        found = harm_in(observer.read())
        orders += 1
        if found:
            harmful += 1
            example = tuple(("complete", "reap")[actor] for actor in order)
            harm = found
    _clear(engine, space)
    return Orders("scripted completion and reap", orders, harmful, example, harm)


def _clear(engine: Engine, space: Keyspace) -> None:
    names = ("pending", "active", "schedule", "dead", "metrics:completed")
    engine.send("DEL", space.job(JOB), *(space.key(name) for name in names))


def _start(engine: Engine, space: Keyspace) -> None:
    """One job in active, claimed once, its lease long over."""
    _clear(engine, space)
    engine.send("HSET", space.job(JOB), "state", "active", "attempts", 1, "payload", PAYLOAD)
    engine.send("ZADD", space.key("active"), 1, JOB)


def _run(engine: Engine, order: Sequence[int], actors: Sequence[Actor]) -> tuple[str, ...]:
    """Lets the actors send their commands in that order; an actor that is done early sends no more. What was sent."""
    coming: list[tuple[str, tuple[Any, ...]] | None] = [next(actor) for actor in actors]
    sent = []
    for who in order:
        command = coming[who]
        if command is None:
            continue
        name, words = command
        sent.append(name)
        try:
            coming[who] = actors[who].send(engine.send(*words))
        except StopIteration:
            coming[who] = None
    return tuple(sent)


def _completion(space: Keyspace) -> Actor:
    token = yield "check", ("HGET", space.job(JOB), "attempts")
    if token != b"1":
        return
    yield "leave", ("ZREM", space.key("active"), JOB)
    yield "row", ("DEL", space.job(JOB))
    yield "count", ("HINCRBY", space.key("metrics:completed"), "count", 1)


def _reap(space: Keyspace) -> Actor:
    lapsed = yield "find", ("ZRANGEBYSCORE", space.key("active"), "-inf", 2)
    for job in lapsed:
        yield "take", ("ZREM", space.key("active"), job)
        yield "give back", ("ZADD", space.key("pending"), 0, job)
        yield "flag", ("HSET", space.job(job), "state", "pending")


def harm_in(seen: Observation) -> str:
    """What is wrong when both are done, in words; empty where all is well.

    Wrong is a broken law; and a job that was counted as completed and is there again.
    """
    for law in broken_by(seen):
        return law.breaches[0]
    completed = seen.sides.get("metrics:completed", {}).get(b"count") == b"1"
    places = seen.memberships[JOB]
    if completed and (places or seen.rows[JOB] is not None):
        return f"{JOB.decode()} was counted as completed, and waits in {' and '.join(places)} again"
    return ""
