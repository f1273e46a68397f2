"""Every order in which two actors' steps can come: each one runs on an engine, and what is read back judges it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from visualizer.keyspace import Keyspace
from visualizer.machine import MACHINES
from visualizer.model import Step, Walk
from visualizer.race_end import Left, left_by
from visualizer.walk import Engine as WalkEngine
from visualizer.walk import Walker

JOB = b"JOB0KHTOWnGLuC"
# A job whose lease is over, while its worker is about to complete it and a reaper is about to look.
LAPSED = (
    Step("enqueue", JOB, payload=b"payload"),
    Step("claim", JOB, {"worker": "w1", "lease_ms": 1}),
    Step("wait_until_lapsed", JOB),
)
WORKER, REAPER = "worker", "reaper"
SPLIT: Mapping[str, tuple[Step, ...]] = {
    WORKER: (
        Step("naive_complete_check", JOB, {"token": "w1"}, label="HGET attempts"),
        Step("naive_complete_leave", JOB, label="ZREM active"),
        Step("naive_complete_pending", JOB, label="ZREM pending"),
        Step("naive_complete_row", JOB, label="DEL row"),
        Step("naive_complete_count", JOB, label="HINCRBY completed"),
    ),
    REAPER: (
        Step("naive_reap_scan", JOB, label="ZRANGEBYSCORE active"),
        Step("naive_reap_leave", JOB, label="ZREM active"),
        Step("naive_reap_enter", JOB, label="ZADD pending"),
        Step("naive_reap_flag", JOB, label="HSET state"),
    ),
}
SCRIPTED: Mapping[str, tuple[Step, ...]] = {
    WORKER: (Step("complete", JOB, {"token": "w1"}, label="complete"),),
    REAPER: (Step("reap", JOB, label="reap"),),
}


class Engine(WalkEngine, Protocol):
    """What the orders run on: the engine of a walk, with a queue on it that is emptied before each order."""

    @property
    def queue(self) -> str: ...


class Ending(Left, frozen=True):
    """One order that ran, and what it left. ``turns`` names whose turn each step was, ``steps`` each step's label, in
    the same order. ``sent`` tells of each turn whether it sent anything: what an actor has read may tell it not to.
    """

    turns: tuple[str, ...]
    steps: tuple[str, ...]
    sent: tuple[bool, ...] = ()

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        """What was sent, in order: whose turn it was and the step's label."""
        sent = self.sent or (True,) * len(self.turns)
        return tuple((turn, step) for turn, step, was in zip(self.turns, self.steps, sent, strict=True) if was)


class Count(Struct, frozen=True):
    """All orders of two actors: how each one ended, in the order of `orders`."""

    endings: tuple[Ending, ...]

    @property
    def orders(self) -> int:
        return len(self.endings)

    @property
    def harmful(self) -> int:
        """How many orders do harm."""
        return sum(ending.harm for ending in self.endings)

    @property
    def twice(self) -> int:
        """How many leave the job counted as completed and pending again."""
        return sum(ending.twice for ending in self.endings)

    @property
    def sequences(self) -> int:
        """How many different sequences of commands the orders of turns come to: a turn may send nothing."""
        return len({ending.commands for ending in self.endings})

    @property
    def harmful_sequences(self) -> int:
        """How many of these do harm."""
        return len({ending.commands for ending in self.endings if ending.harm})

    @property
    def example(self) -> Ending | None:
        """An order that does harm, one that leaves the job completed and pending again where there is one; else
        None."""
        harmful = [ending for ending in self.endings if ending.harm]
        return next((ending for ending in harmful if ending.twice), harmful[0] if harmful else None)


def orders(actors: Mapping[str, Sequence[object]]) -> Iterator[tuple[str, ...]]:
    """Every order of turns of two actors; each actor's own steps keep theirs. ValueError for another number."""
    if len(actors) != 2:
        raise ValueError(f"orders of two actors, not of {len(actors)}")
    (first, ours), (second, theirs) = actors.items()
    places = range(len(ours) + len(theirs))
    for taken in combinations(places, len(ours)):
        yield tuple(first if at in taken else second for at in places)


def count_split(engine: Engine) -> Count:
    """A completion and a reap as separate commands, in every order. The engine's queue is emptied before each one."""
    return count(engine, SPLIT)


def count_scripted(engine: Engine) -> Count:
    """The same two as the scripts `complete` and `reap`, in both orders. The engine's queue is emptied before each."""
    return count(engine, SCRIPTED)


def count(engine: Engine, actors: Mapping[str, Sequence[Step]]) -> Count:
    """Two actors' steps in every order, each from a job whose lease is over. The queue is empty afterwards."""
    endings = tuple(_ended(engine, actors, turns) for turns in orders(actors))
    engine.clear_queue()
    return Count(endings)


def _ended(engine: Engine, actors: Mapping[str, Sequence[Step]], turns: tuple[str, ...]) -> Ending:
    machine = MACHINES["leased"]
    engine.clear_queue()
    walker = Walker(engine, machine, Keyspace(engine.queue, machine.row_prefix), (JOB,), keep_dumps=False)
    for step in LAPSED:
        walker.take(step)
    coming = {actor: iter(steps) for actor, steps in actors.items()}
    taken = [replace(next(coming[turn]), turn=turn) for turn in turns]
    for step in taken:
        walker.take(step)
    return judged(walker.walk, turns, tuple(step.label for step in taken))


def judged(walk: Walk, turns: tuple[str, ...], steps: tuple[str, ...]) -> Ending:
    """How a walk ended that came to the end of its race, by its last frame. ValueError for a walk without a frame."""
    sent = tuple(past.outcome.sent for past in walk.frames if past.step is not None)[-len(turns) :]
    return Ending(**asdict(left_by(walk.frames, JOB)), turns=turns, steps=steps, sent=sent)
