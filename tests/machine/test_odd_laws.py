"""Odd calls that the scripts accept break exactly the laws of their table, step by step, on each engine."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machine.odd_laws import BY_HAND, GROUP, JOB, LEFT_OUT, NEIGHBOUR, ODD, OTHER, Call, Odd
from tests.machine.watched_queue import LEASED
from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.model import Frame, Step
from visualizer.walk import Walker


def test_every_pitfall_has_a_row_or_a_reason() -> None:
    told = {odd.number for odd in ODD}
    assert sorted([*told, *LEFT_OUT]) == list(range(1, 23))


def take(walker: Walker, engine: Engine, call: Call) -> Frame:
    if call.do == "by hand":
        command, key, *rest = call.words
        client: Any = engine.client
        client.execute_command(command, space_on(engine).key(key), *rest)
        frame = walker.look().frame
    else:
        count = len(walker.walk.frames)
        walk = walker.take(Step(call.do, call.job, call.given, b"payload"))
        assert len(walk.frames) == count + 1, "nothing changed between two steps"
        frame = walk.frame
    assert frame is not None
    return frame


def space_on(engine: Engine) -> Keyspace:
    return Keyspace(engine.queue, LEASED.row_prefix)


@pytest.mark.parametrize("odd", [*ODD, *BY_HAND], ids=lambda odd: f"8.{odd.number} {odd.shows}")
def test_exactly_these_laws_break(engine: Engine, odd: Odd) -> None:
    walker = Walker(engine, LEASED, space_on(engine), [JOB, OTHER], groups=[GROUP, NEIGHBOUR], keep_dumps=False)
    for number, call in enumerate(odd.calls, start=1):
        frame = take(walker, engine, call)
        if call.do != "by hand":
            assert frame.outcome.name == call.outcome
        broken = {law.name: law.breaches for law in frame.broken}
        assert sorted(broken) == sorted(call.breaks), f"after call {number}, {call.do}: {broken}"


def test_every_law_is_broken_somewhere_or_only_by_a_script_that_is_wrong() -> None:
    broken = {law for odd in (*ODD, *BY_HAND) for call in odd.calls for law in call.breaks}
    never = {law.name for law in LEASED.laws} - broken
    assert never == {"deadlines_are_in_order", "a_refusal_wrote_nothing", "attempts_grow_only_by_a_claim"}
