"""What a worker draws, and what a lawful worker does, in one process."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from tests.prove.working import IDS, SPACE, Server, lawful
from visualizer.engine import Engine
from visualizer.machine.leased import LEASED
from visualizer.prove.lawful import LawfulWorker
from visualizer.prove.numbers import Draw, draws
from visualizer.prove.watching import Watch


def first(numbers: Iterator[Draw], count: int = 50) -> list[int]:
    return [draw.pick(range(10**9)) for draw in islice(numbers, count)]


def test_the_seed_gives_each_worker_its_own_draws_again() -> None:
    assert first(draws(7, "naive", 1)) == first(draws(7, "naive", 1))
    others = [first(draws(8, "naive", 1)), first(draws(7, "naive", 2)), first(draws(7, "scripted", 1))]
    assert first(draws(7, "naive", 1)) not in others


def test_what_a_turn_draws_does_not_depend_on_what_the_turn_before_met() -> None:
    numbers, others = draws(7, "naive", 1), draws(7, "naive", 1)
    next(numbers).pick("abc")
    for _ in range(3):
        next(others).pick("abc") if _ == 0 else None
    spent = next(others)
    assert next(numbers).pick(range(10**6)) == spent.pick(range(10**6))


def test_lawful_workers_taking_turns_break_nothing_and_are_refused_in_every_kind(engine: Engine) -> None:
    workers = [lawful(engine, number) for number in (1, 2, 3)]
    watch = Watch(engine, SPACE, IDS)
    turns = 700 if engine.real else 150
    for _ in range(turns):
        for worker in workers:
            worker.turn()
            watch.turn()
    watch.rest()
    seen = watch.counted
    assert (seen.readings, seen.broken, seen.cut, seen.laws, seen.at_rest) == (3 * turns, 0, 0, {}, ())
    did = [worker.counted for worker in workers]
    assert [(each.wrong, each.sentences) for each in did] == [(0, ())] * 3
    assert {kind for each in did for kind in each.refused} == {
        *("wrong token", "wrong kind", "duplicate", "missing id", "empty queue", "not dead")
    }
    if engine.real:
        assert sum(each.completed for each in did) > 0
        never = set(LEASED.verbs) - {verb for each in did for verb in each.verbs}
        assert never == {"lane_limit"}


def test_one_seed_and_nobody_else_is_the_same_run() -> None:
    def sent() -> list[tuple[Any, ...]]:
        server = Server(lambda _: 0)
        worker = lawful(server, 1, seed=5)
        for _ in range(60):
            worker.turn()
        return server.sent

    assert sent() == sent()


def test_what_had_to_be_refused_and_was_not_is_wrong_and_not_counted_as_refused() -> None:
    worker = lawful(Server(lambda words: None if words[0] == "HGET" else 1), 1)
    for _ in range(300):
        worker.turn()
    did = worker.counted
    assert did.refused == {}
    assert did.wrong > 50
    assert any("complete JOB" in said and "answered completed, and not gone" in said for said in told_by(worker))


def told_by(worker: LawfulWorker) -> list[str]:
    worker._sentences.clear()
    worker._missing_id(Draw(0))
    return worker._sentences
