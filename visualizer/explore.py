"""Answers "select a state" and "select a transition" by running scripts on a throw-away engine of our own.

The walk's own queue is never touched: not a key of it is read or written here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from msgspec.structs import replace

from visualizer.caller import ReplyLostError
from visualizer.engine import EngineError, EngineGone
from visualizer.ids import Minter
from visualizer.keyspace import Keyspace
from visualizer.lesson_faults import nearest
from visualizer.model import Frame, Machine, Step, Walk
from visualizer.visible import visible
from visualizer.walk import Engine, Walker

PAYLOAD = b"a fresh job"

Chosen = TypeVar("Chosen")


class ThrowAway(Engine, Protocol):
    """What an explorer needs of the engine it made for itself."""

    @property
    def queue(self) -> str: ...

    @property
    def label(self) -> str: ...

    def close(self) -> str | None: ...

    def failure(self, error: Exception, *, reading: bool = False) -> EngineError: ...


class Source(Protocol):
    """What an explorer needs of the walk's engine: another one."""

    def throwaway(self) -> ThrowAway: ...


class UnknownChoiceError(LookupError):
    """No state or transition of that name: a sentence with the nearest name, and below it all of them, one a line."""


class Explorer:
    """A machine on a throw-away engine, made at the first question; `close` it. One caller at a time.

    Where that engine fails, an EngineError says so, and the next question makes another one. It is never an EngineGone:
    the engine that a walk runs on has not failed.
    """

    def __init__(self, engine: Source, machine: Machine) -> None:
        self._source = engine
        self._machine = machine
        self._minter = Minter(0, lambda: int(time.time() * 1000))
        self._engine: ThrowAway | None = None

    @property
    def engine_name(self) -> str:
        """What the panel calls the engine, ``a throw-away Valkey 9.1.2``; asking for it makes the engine."""
        return f"a throw-away {self._own().label}"

    def state(self, name: str) -> Walk:
        """The walk of a fresh job into the place of that name; the cursor is at its end.

        UnknownChoiceError, EngineError.
        """
        return self._run(_chosen("state", name, self._machine.starts))

    def transition(self, name: str) -> tuple[Frame, tuple[Frame, ...]]:
        """The frame of that transition on a fresh job, and the frames before it. UnknownChoiceError, EngineError."""
        before, shown = _chosen("transition", name, self._machine.shows)
        frames = self._run((*before, shown)).frames
        return frames[-1], frames[:-1]

    def close(self) -> None:
        """Ends the engine; a later question makes a new one."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _own(self) -> ThrowAway:
        if self._engine is None:
            self._engine = self._source.throwaway()
        return self._engine

    def _run(self, steps: Iterable[Step]) -> Walk:
        from redis.exceptions import RedisError  # imported late: the engine has loaded it by now

        engine = self._own()
        try:
            return self._walk(engine, steps)
        except (RedisError, ReplyLostError, EngineError) as error:
            failure = engine.failure(error)
            self.close()
            what = "is gone" if isinstance(failure, EngineGone) else f"could not answer: {str(failure).rstrip('.')}"
            raise EngineError(
                f"The throw-away {engine.label} {what}. The walk is not touched. Ask again: a new one will answer."
            ) from error

    def _walk(self, engine: ThrowAway, steps: Iterable[Step]) -> Walk:
        engine.clear_queue()
        job = self._minter.mint("JOB").encode()
        space = Keyspace(engine.queue, self._machine.row_prefix)
        walker = Walker(engine, self._machine, space, [job], keep_dumps=False)
        for step in steps:
            walker.take(replace(step, id=job, payload=PAYLOAD))
        return walker.walk


def _chosen(what: str, name: str, known: Mapping[str, Chosen]) -> Chosen:
    if name in known:
        return known[name]
    near = nearest(name, known)
    hint = f"; did you mean {near}?" if near else "."
    # One a line: their names hold commas.
    listed = "".join(f"\n  {each}" for each in known)
    raise UnknownChoiceError(f"there is no {what} called {visible(name)}{hint} There are:{listed}")
