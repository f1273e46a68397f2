"""The lesson's own clock: only steps advance it, and what runs out by it expires for real on the server."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.core_machine.core_walking import (
    BASE,
    GUESS,
    LOCK_MS,
    RIVAL,
    STEP_MS,
    SWEEP_MS,
    at_ms,
    clock_of,
    field,
    left_ms,
    names_on_the_server,
    on_the_server,
    passes,
    picked_up,
    take,
    texts,
    the_lesson,
    walker_on,
)
from visualizer.engine import Engine
from visualizer.player import Player

LOCK = GUESS + b":lock"


def short_ms(engine: Engine) -> int:
    """A lockDuration that really runs out soon. The emulation has to be told before that, Valkey in import mode not."""
    return 40 if engine.real else 250


# Real time ------------------------------------------------------------------------------------------------------------


def test_a_lock_outlives_real_time(engine: Engine) -> None:
    walker, lock_ms = walker_on(engine), short_ms(engine)
    picked_up(walker, lock_ms=lock_ms)
    time.sleep(2 * lock_ms / 1000)
    assert LOCK in names_on_the_server(engine)
    frame = take(walker, "moveToFinished", token="w1")
    assert frame.outcome.name == "completed"
    assert len(walker.walk.frames) == 3, "nothing changed between two steps"


def test_a_lock_that_ran_out_before_it_was_first_read_is_held_all_the_same(
    valkey: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker = walker_on(valkey)
    take(walker, "addStandardJob")
    send = valkey.send

    def late(*words: Any) -> Any:
        reply = send(*words)
        if any(isinstance(word, bytes) and b"lockDuration" in word for word in words):
            time.sleep(0.005)
        return reply

    monkeypatch.setattr(valkey, "send", late)  # a machine that is slow just then
    take(walker, "moveToActive", None, lock_ms=1)
    assert left_ms(walker) == 1
    assert LOCK in names_on_the_server(valkey)


def test_reading_changes_nothing(engine: Engine) -> None:
    walker, lock_ms = walker_on(engine), short_ms(engine)
    picked_up(walker, lock_ms=lock_ms)
    take(walker, "moveStalledJobsToWait", None, interval_ms=lock_ms)
    kept = on_the_server(engine)
    assert {LOCK, b"stalled-check", b"stalled", b"active", GUESS, b"id"} == set(kept)
    frames = walker.walk.frames
    for _ in range(3):
        assert walker.look().frames is frames
    time.sleep(1.5 * lock_ms / 1000)
    assert walker.look().frames is frames
    assert on_the_server(engine) == kept


def test_back_and_forward_take_no_time(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    walker.jump(0)
    walker.forward()
    assert clock_of(walker).now_ms == walker.walk.frames[-1].after.clock_ms
    assert at_ms(walker.walk.opening) == 0


# The lesson's clock ---------------------------------------------------------------------------------------------------


def test_each_step_takes_ten_milliseconds_of_it_and_time_passes_its_own(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    passes(walker, 1_234)
    assert [at_ms(frame.after) for frame in walker.walk.frames] == [10, 20, 1_254]
    assert field(walker, b"processedOn") == b"1700000000020"


def test_a_lock_expires_exactly_when_the_lessons_clock_reaches_it(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker, lock_ms=1_000)
    picked_up(walker, RIVAL, lock_ms=2_000, worker="w2")
    passes(walker, 1_000 - 2 * STEP_MS - 1)
    assert left_ms(walker) == 1
    before = on_the_server(engine)
    assert LOCK in before
    frame = passes(walker, 1)
    assert set(frame.before.locks) == {GUESS, RIVAL}
    assert set(frame.after.locks) == {RIVAL}
    client: Any = engine.client
    assert client.exists(BASE + LOCK) == 0
    assert engine.send("EXISTS", BASE + LOCK) == 0
    del before[LOCK]
    assert on_the_server(engine) == before, "and nothing else"


def test_the_expiry_is_the_servers_own(valkey: Engine) -> None:
    client: Any = valkey.client
    walker = walker_on(valkey)
    picked_up(walker)
    expired = client.info("stats")["expired_keys"]
    passes(walker, LOCK_MS)
    assert client.info("stats")["expired_keys"] == expired + 1


def test_a_lock_that_runs_out_in_the_ten_milliseconds_of_a_step_is_told_apart_from_strangers(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    passes(walker, LOCK_MS - STEP_MS)
    assert left_ms(walker) == STEP_MS
    frame = take(walker, "moveToFinished", token="w1")
    between = walker.walk.frames[-2]
    assert (between.kind, between.outcome.name) == ("between", "ran_out")
    assert texts(walker, between)[0] == (
        "Between two steps, as the clock went on: JOB0KHTOWnGLuC moves nowhere; its lock changed."
    )
    assert (frame.outcome.name, frame.outcome.refused) == ("JobLockNotExist", "-2")
    assert texts(walker)[0] == "Time ran out for something just before this step: ← shows it."


def test_a_change_by_somebody_else_is_still_told_as_theirs(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    client: Any = engine.client
    client.delete(BASE + LOCK)
    take(walker, "moveToFinished", token="w1")
    assert walker.walk.frames[-2].outcome.name == "changed"
    assert texts(walker)[0] == "Something changed before this step, and not by this walk: ← shows it."


def test_whatever_it_was_taken_for_is_what_is_left_at_first(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    for lock_ms in (800, 12_345, 29_990, 30_000, *((40, 90, 1) if engine.real else ())):
        take(walker, "extendLock", token="w1", lock_ms=lock_ms)
        assert left_ms(walker) == lock_ms
        take(walker, "extendLock", token="w1")


def test_a_heartbeat_gives_it_the_whole_time_again(engine: Engine) -> None:
    """Each time, though no real time passes between: an instant of the server's cannot tell them apart."""
    walker = walker_on(engine)
    picked_up(walker)
    for lock_ms in (LOCK_MS, LOCK_MS, 10_000, LOCK_MS):
        before_ms = left_ms(walker)
        assert before_ms is not None
        passes(walker, before_ms // 2)
        frame = take(walker, "extendLock", token="w1", lock_ms=lock_ms)
        assert left_ms(walker) == lock_ms
        move = frame.move()
        assert move is not None
        assert move.lock_before is not None
        assert (move.lock_before.ttl_ms, move.leaves, move.enters) == (before_ms - before_ms // 2 - STEP_MS, (), ())
    passes(walker, LOCK_MS)
    assert left_ms(walker) is None


def test_a_heartbeat_that_is_refused_gives_nothing(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    passes(walker, RENEWED_AFTER_MS := 5_000)
    assert take(walker, "extendLock", token={"text": "w9:1"}).outcome.name == "not_the_holder"
    assert left_ms(walker) == LOCK_MS - RENEWED_AFTER_MS - STEP_MS


def test_several_locks_are_extended_at_once(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    picked_up(walker, RIVAL)
    passes(walker, 20_000)
    pairs = [{"job": GUESS, "token": "w1"}, {"job": RIVAL, "token": "w1"}]
    take(walker, "extendLocks", None, pairs=pairs, lock_ms=25_000)
    assert (left_ms(walker), left_ms(walker, RIVAL)) == (25_000, 25_000)


def test_the_sweeps_throttle_runs_by_it_too(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "moveStalledJobsToWait", None)
    assert walker.walk.frames[-1].after.side_locks["stalled-check"].ttl_ms == SWEEP_MS
    passes(walker, SWEEP_MS - 2 * STEP_MS)
    throttled = take(walker, "moveStalledJobsToWait", None)
    assert throttled.before.same_apart_from_time(throttled.after), "one tick too early"
    passes(walker, STEP_MS)
    assert b"stalled-check" not in names_on_the_server(engine)
    take(walker, "moveStalledJobsToWait", None)
    assert walker.walk.frames[-1].after.side_locks["stalled-check"].ttl_ms == SWEEP_MS


def test_a_lock_of_somebody_elses_is_held_from_when_it_is_seen(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "addStandardJob")
    client: Any = engine.client
    client.set(BASE + LOCK, "theirs", px=60_000)
    walker.look()
    seen_ms = left_ms(walker)
    assert seen_ms is not None
    assert 50_000 < seen_ms <= 60_000
    passes(walker, seen_ms)
    assert client.exists(BASE + LOCK) == 0


def test_a_lock_beside_an_ill_formed_id_is_no_stumbling_block(engine: Engine) -> None:
    client: Any = engine.client
    client.lpush(BASE + b"active", b"no id\x1b[2J")
    client.set(BASE + b"no id\x1b[2J:lock", "theirs", px=60_000)
    walker = walker_on(engine)
    left = walker.walk.opening.locks[b"no id\x1b[2J"].ttl_ms
    passes(walker, left)
    assert walker.walk.frames[-1].after.locks == {}


def test_a_lock_without_an_end_never_runs_out(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    client: Any = engine.client
    client.set(BASE + LOCK, "w1:1")
    passes(walker, 10 * LOCK_MS)
    assert left_ms(walker) == -1


# A lesson on it -------------------------------------------------------------------------------------------------------


def test_another_path_starts_at_zero_on_an_empty_queue(engine: Engine) -> None:
    player = Player(the_lesson(), engine)
    player.jump(2)
    player.let_time_pass(5_000)
    for fresh in (player.restart, lambda: player.choose("heartbeat")):
        walk = fresh()
        assert (at_ms(walk.shown), walk.frames, walk.shown.locks) == (0, (), {})
        assert names_on_the_server(engine) == set()
        player.step()
        assert at_ms(player.step().shown) == 20


def test_a_lock_that_lapsed_while_somebody_read_is_gone_with_its_path(valkey: Engine) -> None:
    player = Player(the_lesson(), valkey)
    player.step()
    walker = player._walker
    take(walker, "moveToActive", None, lock_ms=40)
    time.sleep(0.06)
    player.restart()
    assert valkey.send("EXISTS", BASE + LOCK) == 0
    assert player.step().frames[-1].broken == ()


def test_rewind_replays_all_that_was_taken(engine: Engine) -> None:
    """Not the path's steps alone: the learner's own time and what the actors did belong to the frame."""
    player = Player(the_lesson(), engine)
    player.choose("heartbeat")
    player.jump(4)
    player.let_time_pass(20_000)
    player.step()
    kept = player.walk.frames
    player.let_time_pass(40_000)
    dropped = len(player.walk.frames) - len(kept)
    player._walker.jump(len(kept))
    walk, told = player.rewind()
    assert (
        told
        == f"Replayed from the start, since the lesson's clock cannot be set back; {dropped} frames after it dropped."
    )
    assert len(walk.frames) == len(kept) == walk.cursor
    for again, was in zip(walk.frames, kept, strict=True):
        assert again.step == was.step
        assert (again.after.clock_ms, again.outcome) == (was.after.clock_ms, was.outcome)
        assert again.after.same_apart_from_time(was.after)
        assert {job: lock.ttl_ms for job, lock in again.after.locks.items()} == {
            job: lock.ttl_ms for job, lock in was.after.locks.items()
        }
    assert player.taken == 5


def test_a_rewind_to_the_start_is_an_empty_queue_at_zero(engine: Engine) -> None:
    player = Player(the_lesson(), engine)
    player.jump(2)
    player.first()
    walk, told = player.rewind()
    assert told == "Replayed from the start, since the lesson's clock cannot be set back; 2 frames after it dropped."
    assert (walk.frames, at_ms(walk.shown)) == ((), 0)
