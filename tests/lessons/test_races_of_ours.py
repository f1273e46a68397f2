"""Every order of the races of read-decide-write, played as a learner would: what each leaves was read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.lessons.writing import read
from visualizer.engine import Engine
from visualizer.interleavings import REAPER, SCRIPTED, SPLIT, WORKER, Ending, count_split, judged, orders
from visualizer.lesson import find
from visualizer.model import Step
from visualizer.player import Player
from visualizer.race import races_in
from visualizer.race_end import Verdict, verdicts
from visualizer.readout import readout

# So short that no order waits for its lease.
PACE = 0.0005
RACES = {"split-commands": SPLIT, "one-script": SCRIPTED}


def race_of(path: str) -> dict[str, list[Step]]:
    """Each actor's steps of the lesson's race."""
    steps = read(find("read-decide-write"), PACE).path(path).steps
    (race,) = races_in(steps)
    return {actor: [step for step in steps[race.start : race.stop] if step.turn == actor] for actor in (WORKER, REAPER)}


def played(engine: Engine, path: str, actors: Mapping[str, list[Step]]) -> Iterator[Ending]:
    """How each order of the path's race ends; the last frame of the race is the judge, also of what the learner is
    told."""
    player = Player(read(find("read-decide-write"), PACE), engine, keep_dumps=False)
    for turns in orders(actors):
        player.choose(path)
        while not player.turns:
            player.step()
        for actor in turns:
            walk = player.take_turn(actor)
        race = [frame.step for frame in walk.frames if frame.step is not None and frame.step.turn]
        assert tuple(step.turn for step in race) == turns
        ending = judged(walk, turns, tuple(step.label for step in race))
        (verdict,) = verdicts(walk.frames)
        assert verdict.harm == ending.harm
        assert ("did harm" in verdict.told, "did no harm" in verdict.told) == (ending.harm, not ending.harm)
        yield ending


@pytest.mark.parametrize("path", RACES)
def test_the_lessons_race_is_the_one_that_is_counted(path: str) -> None:
    written = {actor: [(step.do, step.label) for step in steps] for actor, steps in race_of(path).items()}
    counted = {actor: [(step.do, step.label) for step in steps] for actor, steps in RACES[path].items()}
    assert written == counted


def test_most_orders_of_the_separate_commands_do_harm(valkey: Engine) -> None:
    endings = list(played(valkey, "split-commands", race_of("split-commands")))
    assert len(endings) == 126
    assert sum(ending.harm for ending in endings) == 72
    assert sum(ending.twice for ending in endings) == 58
    serial = [
        ending for ending in endings if ending.turns in ((WORKER,) * 5 + (REAPER,) * 4, (REAPER,) * 4 + (WORKER,) * 5)
    ]
    assert [ending.harm for ending in serial] == [False, False]
    assert endings == list(count_split(valkey).endings), "the learner's orders end as those that are counted"


def test_within_each_order_a_law_is_broken_for_a_moment(engine: Engine) -> None:
    player = Player(read(find("read-decide-write"), PACE), engine, keep_dumps=False)
    amid = 0
    for turns in orders(race_of("split-commands")):
        player.choose("split-commands")
        player.plan(turns)
        (race,) = races_in(player.path.steps)
        amid += any(frame.broken for frame in player.jump(race.stop).frames)
    assert "Within each, a law is broken" in player.path.steps[race.start - 1].say
    assert amid == 126


def test_neither_order_of_the_scripts_does_harm(engine: Engine) -> None:
    endings = list(played(engine, "one-script", race_of("one-script")))
    assert [ending.steps for ending in endings] == [("complete", "reap"), ("reap", "complete")]
    assert [(ending.harm, ending.completed, ending.places, ending.row) for ending in endings] == [
        (False, 1, (), None)
    ] * 2


def test_the_written_order_ends_completed_and_pending_again(engine: Engine) -> None:
    player = Player(read(find("read-decide-write"), PACE), engine, keep_dumps=False)
    player.choose("split-commands")
    (race,) = races_in(player.path.steps)
    walk = player.jump(race.stop)
    ending = judged(walk, tuple(player.path.steps[at].turn for at in race), ())
    assert (ending.twice, ending.broken, ending.row) == (True, (), {b"state": b"pending"})
    assert player.step().frames[-1].performed.grants[0].token == b"1", "a ghost that was never enqueued is claimed"


def told_at_the_end(engine: Engine, path: str, turns: tuple[str, ...]) -> tuple[Verdict, list[str]]:
    """What is told when the path is at its end, and each last step's first line of the readout."""
    player = Player(read(find("read-decide-write"), PACE), engine, keep_dumps=False)
    player.choose(path)
    player.plan(turns)
    frames = player.jump(len(player.path.steps)).frames
    (verdict,) = verdicts(frames)
    return verdict, [readout(player.machine, frames[at], frames[:at])[0].text for at in (-2, -1)]


def test_an_order_that_did_no_harm_is_told_so(engine: Engine) -> None:
    verdict, (claimed, ended) = told_at_the_end(engine, "split-commands", (REAPER,) * 4 + (WORKER,) * 5)
    assert (verdict.own, verdict.harm) == (True, False)
    assert verdict.told == (
        "Your order did no harm. When the race was over, the job had been counted as completed once, had no row "
        "and was in no place."
    )
    assert claimed == "Nothing moved.  claim answered []: empty."
    assert ended.startswith("Not sent: worker w2 has claimed no such job")


def test_an_order_that_leaves_a_row_in_no_place_did_harm(engine: Engine) -> None:
    verdict, _ = told_at_the_end(engine, "split-commands", (*(REAPER,) * 3, *(WORKER,) * 5, REAPER))
    assert (verdict.own, verdict.harm) == (True, True)
    assert verdict.told == (
        "Your order did harm. When the race was over, the job had been counted as completed once, had a row "
        "and was in no place."
    )


def test_the_written_order_counts_the_same_job_twice(engine: Engine) -> None:
    verdict, (_, ended) = told_at_the_end(engine, "split-commands", ())
    assert (verdict.own, verdict.harm) == (False, True)
    assert verdict.told == (
        "The written order did harm. When the race was over, the job had been counted as completed once, had a row "
        "and was in pending. By the path's end it is counted twice."
    )
    assert ended == "The same job was counted twice."


@pytest.mark.parametrize("turns", [(), (REAPER, WORKER)])
def test_no_order_of_the_scripts_is_told_to_do_harm(engine: Engine, turns: tuple[str, ...]) -> None:
    verdict, _ = told_at_the_end(engine, "one-script", turns)
    assert (verdict.own, verdict.harm) == (bool(turns), False)


def test_from_the_moment_of_harm_on_it_stands_in_the_readout(engine: Engine) -> None:
    player = Player(read(find("read-decide-write"), PACE), engine, keep_dumps=False)
    player.choose("split-commands")
    frames = player.jump(len(player.path.steps)).frames
    told = [[line.text for line in readout(player.machine, frames[at], frames[:at])] for at in range(len(frames))]
    amiss = {at + 1: line for at, lines in enumerate(told) for line in lines if "counted as completed already" in line}
    assert list(amiss) == [11, 12, 13]
    assert amiss[12] == "JOB0KHTO…LuC is counted as completed already, and is in pending."


def test_what_the_lesson_says_of_the_orders_is_what_was_counted() -> None:
    lesson = read(find("read-decide-write"))
    told = [step.say for name in RACES for step in lesson.path(name).steps if "126" in step.say]
    assert len(told) == 2
    assert len(list(orders(SPLIT))) == 126
    assert "**two** are left" in told[1]
    assert len(list(orders(SCRIPTED))) == 2


def test_each_command_is_named_as_it_goes_over_the_wire(engine: Engine) -> None:
    player = Player(read(find("read-decide-write"), PACE), engine, keep_dumps=False)
    player.choose("split-commands")
    for frame in player.jump(len(player.path.steps)).frames:
        if frame.step is not None and frame.step.turn:
            assert frame.outcome.name == "skipped" or frame.step.label.startswith(frame.calls[0].command)
