"""Every order of a completion and a reap: as separate commands many do harm, as two scripts none does."""

from __future__ import annotations

from math import comb

import pytest
from msgspec.structs import replace

from tests.core.walking import held
from visualizer.engine import Engine
from visualizer.interleavings import (
    JOB,
    REAPER,
    SCRIPTED,
    SPLIT,
    WORKER,
    Count,
    count,
    count_scripted,
    count_split,
    orders,
)

BOTH = "the_id_is_in_exactly_one_place"


@pytest.fixture(scope="module")
def split(valkey_session: Engine) -> Count:
    return count_split(valkey_session)


def test_the_orders_are_all_there_are_each_once() -> None:
    found = list(orders({"a": "xy", "b": "123"}))
    assert len(set(found)) == len(found) == comb(5, 2)
    assert all((order.count("a"), order.count("b")) == (2, 3) for order in found)
    assert list(orders({"a": "", "b": "1"})) == [("b",)]
    with pytest.raises(ValueError, match="two actors, not of 3"):
        next(orders({"a": "", "b": "", "c": ""}))


def test_as_separate_commands_many_orders_do_harm(split: Count) -> None:
    assert split.orders == comb(9, 4) == 126
    assert len({ending.turns for ending in split.endings}) == 126
    assert (split.harmful, split.twice) == (72, 58)
    # A turn may send nothing, so some orders of turns come to the same commands.
    assert (split.sequences, split.harmful_sequences) == (74, 52)


def test_one_after_the_other_they_do_none(split: Count) -> None:
    serial = {(WORKER,) * 5 + (REAPER,) * 4, (REAPER,) * 4 + (WORKER,) * 5}
    endings = [ending for ending in split.endings if ending.turns in serial]
    assert [(ending.harm, ending.completed, ending.places, ending.row) for ending in endings] == [
        (False, 1, (), None)
    ] * 2


def test_harm_is_what_was_read_back(split: Count) -> None:
    """By hand, from the commands: a reaper that saw the lease before w1 took the id out will write, and no harm is left
    only where w1 cleans up after all of it."""
    for ending in split.endings:
        at = {(turn, name): number for number, (turn, name) in enumerate(zip(ending.turns, ending.steps, strict=True))}
        scan, left_first = at[REAPER, "ZRANGEBYSCORE active"], at[REAPER, "ZREM active"]
        enter, flag = at[REAPER, "ZADD pending"], at[REAPER, "HSET state"]
        leave, pending, row = at[WORKER, "ZREM active"], at[WORKER, "ZREM pending"], at[WORKER, "DEL row"]
        cleaned = left_first < leave and enter < pending
        waits = scan < leave and not cleaned
        assert ending.places == (("pending",) if waits else ())
        assert ending.row == ({b"state": b"pending"} if scan < leave and row < flag else None)
        assert ending.twice == waits
        assert ending.completed == 1
        assert ending.harm == (scan < leave and not (cleaned and flag < row))


def test_laws_alone_do_not_see_every_ghost(split: Count) -> None:
    unseen = [ending for ending in split.endings if ending.twice and not ending.broken]
    assert len(unseen) == 47
    assert all(ending.row == {b"state": b"pending"} for ending in unseen)
    lost = [ending for ending in split.endings if ending.harm and not ending.twice]
    assert {ending.broken[0] for ending in lost} == {BOTH}
    assert all(f"{JOB.decode()} has a row and is in no place" in ending.breaches for ending in lost)


def test_the_example_is_shown_whole(split: Count) -> None:
    example = split.example
    assert example is not None
    assert example.twice
    assert len(example.turns) == len(example.steps) == 9
    for actor, steps in SPLIT.items():
        shown = [name for turn, name in zip(example.turns, example.steps, strict=True) if turn == actor]
        assert shown == [step.label for step in steps], "an actor's own steps keep their order"


def test_a_count_without_harm_has_no_example(split: Count) -> None:
    harmless = next(ending for ending in split.endings if not ending.harm)
    lost = next(ending for ending in split.endings if ending.harm and not ending.twice)
    assert (Count((harmless,)).harmful, Count((harmless,)).example) == (0, None)
    assert Count((harmless, lost)).example is lost
    assert replace(harmless, places=("pending",)).harm
    assert not replace(harmless, places=("pending",), completed=0).harm


def test_as_scripts_two_orders_are_left_and_none_does_harm(engine: Engine) -> None:
    found = count_scripted(engine)
    assert [ending.steps for ending in found.endings] == [("complete", "reap"), ("reap", "complete")]
    assert (found.orders, found.harmful, found.twice, found.example) == (2, 0, 0, None)
    assert [(ending.completed, ending.places, ending.row) for ending in found.endings] == [(1, (), None)] * 2
    assert held(engine) == {}, "the queue is left empty"
    assert set(SCRIPTED) == set(SPLIT)


def test_the_emulation_counts_the_same(fake: Engine, valkey: Engine) -> None:
    fewer = {WORKER: SPLIT[WORKER][1:4], REAPER: SPLIT[REAPER]}
    found = count(fake, fewer)
    assert (found.orders, found.harmful > 0) == (35, True)
    assert found == count(valkey, fewer)
