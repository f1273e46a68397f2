"""The call that an x-ray looks into: one that a step sent, or the one that a step still to come would send."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from visualizer.caller import Caller
from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.machine.bench import Bench
from visualizer.model import Dump, Machine, Step, WireCall
from visualizer.script import Script, load


class NoXrayError(Exception):
    """There is nothing to look into, or it cannot be looked into; the message is a sentence."""


class Source(Struct, frozen=True):
    """What is looked into: a call that a step sent, or the step itself where it is still to come.

    ``dumps`` are the queue's keys from just before it, read at ``moment_ms`` by the server's clock (0 where the keys'
    times are a lesson's own). ``bench`` makes the bench that the coming step's verb works with. ``late`` dumps keys of
    the lesson's queue that only the call names.
    """

    machine: Machine
    space: Keyspace
    ids: tuple[bytes, ...]
    step: Step
    dumps: Mapping[bytes, Dump]
    moment_ms: int
    lanes: tuple[str, ...] = ()
    call: WireCall | None = None
    bench: Callable[[Caller], Bench] | None = None
    late: Callable[[Collection[bytes]], Mapping[bytes, Dump]] | None = None


class Called(Struct, frozen=True):
    """The call as the debugger runs it: the script with its keys and arguments, and whom the step is about."""

    script: Script
    keys: tuple[bytes, ...]
    args: tuple[bytes, ...]
    job: bytes | None

    def named(self) -> tuple[tuple[str, bytes], ...]:
        """KEYS and ARGV by the names of the script's header, in its order; a repeating one is numbered."""
        header = self.script.header
        found: list[tuple[str, bytes]] = []
        for slots, values in ((header.keys, self.keys), (header.args, self.args)):
            for at, value in enumerate(values):
                slot = slots[min(at, len(slots) - 1)]
                found.append((f"{slot.name} {at - len(slots) + 2}" if slot.repeats else slot.name, value))
        return tuple(found)


def function_of(lines: Sequence[str], number: int) -> int:
    """The first line of the function that a line stands in, 0 outside all: ours begin and end at the margin."""
    found = 0
    for at, line in enumerate(lines[: max(number - 1, 0)], start=1):
        if _FUNCTION.match(line):
            found = at
        elif line.startswith("end"):
            found = 0
    return found


_FUNCTION = re.compile(r"(?:local )?function\b")


class _Caught(Exception):
    def __init__(self, words: tuple[Any, ...]) -> None:
        super().__init__("caught")
        self.words = words


class _Catching:
    """A server that answers every command from the copy and keeps the script's call from being sent."""

    sent_bytes = 0

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def send(self, *words: Any) -> Any:
        if words[0] == "EVALSHA":
            raise _Caught(words)
        return self._engine.send(*words)

    def hold(self, names: Any) -> None:
        """Nothing has to be noted: the copy is ours."""


def caught_call(source: Source, engine: Engine) -> Called:
    """The call that a verb's step would send, found by letting it run up to there. NoXrayError where it sends none."""
    assert source.bench is not None
    verb = source.machine.verbs[source.step.do]
    try:
        performed = verb.run(source.bench(Caller(_Catching(engine))))
    except _Caught as caught:
        count = int(caught.words[2])
        keys, args = caught.words[3 : 3 + count], caught.words[3 + count :]
        return Called(load(verb.script), tuple(keys), tuple(args), source.step.id)
    why = performed.outcome.refused or performed.outcome.note or performed.outcome.name
    raise NoXrayError(f"Here {source.step.do} sends no script: {why.rstrip('.')}.")
