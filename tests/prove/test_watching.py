"""What an observer of a proof judges, counts and shows, in one process."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machine.odd_laws import NO_ROW, STATE, TWO_PLACES
from tests.prove.working import CLOCK_MS, IDS, JOB, SPACE
from visualizer.engine import Engine
from visualizer.machine.leased import LEASED
from visualizer.prove.careless import NaiveClient
from visualizer.prove.watching import MOST_TELLING, OF_A_STEP, STATE_LAWS, Watch


def test_the_laws_of_a_step_are_not_judged_on_one_reading() -> None:
    assert {law.name for law in STATE_LAWS} | OF_A_STEP == {law.name for law in LEASED.laws}
    assert not {law.name for law in STATE_LAWS} & OF_A_STEP


@pytest.mark.parametrize(
    ("words", "law"),
    [
        (("ZADD", b"dead", 0, JOB), TWO_PLACES),
        (("ZREM", b"pending", JOB), TWO_PLACES),
        (("HSET", b"job:" + JOB, "state", "active"), STATE),
        (("DEL", b"job:" + JOB), NO_ROW),
        (("ZADD", b"pending", 5, JOB), "pending_scores_are_zero"),
        (("ZADD", b"pending", -5, IDS[1]), "pending_dead_and_lanes_are_in_mint_order"),
    ],
)
def test_a_broken_state_is_counted_and_shown_whole(engine: Engine, words: tuple[Any, ...], law: str) -> None:
    client = NaiveClient(engine, SPACE, lambda: CLOCK_MS)
    client.enqueue(JOB)
    client.enqueue(IDS[1])
    watch = Watch(engine, SPACE, IDS)
    watch.turn()
    assert watch.counted.broken == 0
    command, key, *rest = words
    engine.send(command, SPACE.base + key, *rest)
    watch.turn()
    watch.turn()
    watch.rest()
    seen = watch.counted
    assert (seen.readings, seen.broken, seen.laws[law]) == (3, 2, 2)
    assert seen.shown is not None
    assert law in (seen.shown.law, *seen.shown.also)
    assert seen.shown.breaches
    assert [place for place, _ in seen.shown.places] == ["pending", "active", "schedule", "dead"]
    assert {*seen.shown.ids} <= {JOB.decode(), IDS[1].decode()}, "each breach begins with the id it speaks of"
    assert [job for job, _ in seen.shown.rows][: len(seen.shown.ids)] == list(seen.shown.ids), "broken ids come first"
    assert seen.breaches == seen.lasting == len(seen.shown.ids), "three readings of one breach, and nobody mended it"
    assert len(seen.shown.rows) == len(IDS)
    assert seen.at_rest


def test_separate_breaches_are_counted_by_id_from_broken_to_sound(engine: Engine) -> None:
    client = NaiveClient(engine, SPACE, lambda: CLOCK_MS)
    for job in IDS[:3]:
        client.enqueue(job)
    watch = Watch(engine, SPACE, IDS)

    def read(*commands: tuple[Any, ...]) -> tuple[int, int, int]:
        for command in commands:
            engine.send(*command)
        watch.turn()
        watch.turn()
        return watch.counted.broken, watch.counted.breaches, watch.counted.lasting

    def flag(job: bytes, state: str) -> tuple[Any, ...]:
        return "HSET", SPACE.job(job), "state", state

    assert read() == (0, 0, 0)
    assert read(flag(IDS[0], "active")) == (2, 1, 1)
    assert read(flag(IDS[1], "active")) == (4, 2, 2), "another id is another breach"
    assert read(("ZADD", SPACE.key("dead"), 0, IDS[0])) == (6, 2, 2), "another law on the same id is not"
    assert read(("ZREM", SPACE.key("dead"), IDS[0]), flag(IDS[0], "pending")) == (8, 2, 1)
    assert read(flag(IDS[1], "pending")) == (8, 2, 0)
    assert read(flag(IDS[0], "active")) == (10, 3, 1), "broken again is a breach again"
    engine.send(*flag(IDS[0], "pending"))
    engine.send(*flag(IDS[2], "active"))
    watch.rest()
    assert (watch.counted.breaches, watch.counted.lasting) == (4, 1), "the last reading counts too"


def test_what_a_broken_reading_shows_is_safe_to_show(engine: Engine) -> None:
    engine.send("HSET", SPACE.job(JOB), "state", b"\x1b[2J\xff", b"\x00field", "x", "group", b"\x1b[2J")
    engine.send("ZADD", SPACE.key("g:\x1b[2J:pending"), 0, b"\x1bmember")
    watch = Watch(engine, SPACE, IDS)
    watch.turn()
    shown = watch.counted.shown
    assert shown is not None
    places = (text for name, members in shown.places for text in (name, *members))
    for text in (*shown.breaches, *shown.ids, *places, *(text for row in shown.rows for text in row)):
        assert text.isprintable()


def test_the_reading_that_only_a_race_leaves_is_shown_rather_than_another(engine: Engine) -> None:
    watch = Watch(engine, SPACE, IDS)
    engine.send("HSET", SPACE.job(JOB), "state", "pending")
    for job, law in ((None, TWO_PLACES), (IDS[1], MOST_TELLING), (IDS[2], MOST_TELLING)):
        if job is not None:
            engine.send("ZADD", SPACE.key("pending"), 0, job)
        watch.turn()
        shown = watch.counted.shown
        assert shown is not None
        assert shown.law == law
    assert shown is not None
    assert shown.breaches == (f"{IDS[1].decode()} is in pending and has no row",), "the first of its kind stays"
    assert TWO_PLACES in shown.also


def test_a_place_too_full_to_see_is_told(engine: Engine) -> None:
    engine.send("ZADD", SPACE.key("pending"), *[word for n in range(41) for word in (0, b"x%d" % n)])
    watch = Watch(engine, SPACE, IDS)
    watch.turn()
    assert watch.counted.cut == 1
