"""What a frame says of locks, marks, actors and codes: what was read before and after, in words."""

from __future__ import annotations

import pytest

from tests.core_machine.core_walking import CORE, GUESS, LOCK_MS, RIVAL, THIRD, clock_of, passes, picked_up, take, texts
from tests.core_machine.core_walking import walker_on as walk
from visualizer.actors import let_pass
from visualizer.engine import Engine
from visualizer.lesson import find, load
from visualizer.machine import MACHINES
from visualizer.machine.core_codes import CODES
from visualizer.model import Step
from visualizer.perform import NAMED_STEPS
from visualizer.player import Player
from visualizer.walk import Walker

NOTHING = "It wrote nothing: places, rows, locks, marks and counters read as before."
STRANGER = {"text": "w9:1"}


def acting(walker: Walker, ms: int) -> None:
    """Time passes as the player lets it pass: with those who act by themselves."""
    step = Step("time_passes", given={"ms": ms})
    let_pass(step, CORE, lambda: walker.walk, lambda: clock_of(walker).now_ms, walker.take)


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", ["moveToFinished", "moveToDelayed", "retryJob", "moveJobFromActiveToWait"])
def test_a_stranger_is_told_whose_the_lock_is_and_that_nothing_was_written(engine: Engine, script: str) -> None:
    walker = walk(engine)
    picked_up(walker)
    take(walker, script, token=STRANGER)
    told = texts(walker)
    assert told[0] == "Refused: JobLockMismatch (-6). Nothing moved."
    assert NOTHING in told
    assert "The lock holds w1:1, the token of w1." in told


def test_a_heartbeat_that_comes_too_late_wrote_nothing(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    passes(walker, LOCK_MS)
    take(walker, "extendLock", token="w1")
    assert texts(walker)[:3] == [
        "Refused: not the holder (0). Nothing moved.",
        NOTHING,
        "There is no lock any more: whoever asks has lost the job.",
    ]


def test_a_refused_retry_tells_whom_it_promoted(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    take(walker, "addDelayedJob", RIVAL, delay_ms=1_000)
    passes(walker, 1_000)
    take(walker, "retryJob", token=STRANGER)
    told = texts(walker)
    assert told[0] == "Refused: JobLockMismatch (-6). JOB0KHTOYgD5Um leaves delayed, enters wait."
    assert "JOB0KHTO…5Um was due: the call promoted it before it asked anything about its own job." in told
    assert NOTHING not in told


def test_a_retry_tells_whom_it_promoted(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    take(walker, "addDelayedJob", RIVAL, delay_ms=1_000)
    passes(walker, 1_000)
    take(walker, "retryJob", token="w1")
    assert "JOB0KHTO…5Um was due, and the same call promoted it." in texts(walker)


def test_the_refusal_that_wrote_tells_what(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    take(walker, "moveStalledJobsToWait", None)
    take(walker, "moveJobFromActiveToWait", token={"text": "0"})
    take(walker, "moveToDelayed", token="w1", delay_ms=1_000, error="timeout")
    told = texts(walker)
    assert "moveToDelayed looks in active; the id is in wait." in told
    assert (
        "Refused, and yet it wrote: the lock is gone, the stalled mark is gone, fields of the row are written. "
        "No id moved." in told
    )
    assert NOTHING not in told


def test_the_path_of_codes_produces_each_code_that_our_scripts_can_answer(engine: Engine) -> None:
    lesson = load(find("every-transition"), MACHINES, NAMED_STEPS)
    player = Player(lesson, engine)
    player.choose("codes")
    player.jump(len(player.path.steps))
    refused = {frame.outcome.refused for frame in player.walk.frames} - {None}
    assert refused == {str(code.number) for code in CODES.values() if code.ours}
    last = player.path.steps[-1].say
    assert [code.number for code in CODES.values() if not code.ours and f"−{-code.number}" not in last] == []


def test_the_failure_that_a_child_leaves_to_its_parent_is_told(engine: Engine) -> None:
    walker = walk(engine)
    take(walker, "addDelayedJob", delay_ms=60_000)
    take(walker, "addStandardJob", RIVAL, parent=GUESS, on_failure="fpof")
    take(walker, "moveToActive", None, worker="w2")
    take(walker, "moveToFinished", RIVAL, token="w2", ending="failed")
    # The parent's delay is written too, and is not its failure.
    assert [text for text in texts(walker) if "defa" in text] == [
        "The row of JOB0KHTO…LuC now holds defa, a deferred failure: child emq:{cm}:JOB0KHTOYgD5Um failed."
    ]


# The sweep ------------------------------------------------------------------------------------------------------------


def test_stalls_are_counted_in_words(engine: Engine) -> None:
    walker = walk(engine)
    take(walker, "addStandardJob")
    for told in ("has stalled once, 1 allowed.", "has stalled twice, 1 allowed.", "has stalled 3 times, 1 allowed."):
        take(walker, "moveToActive", None, worker="w1")
        for _ in range(2):
            passes(walker, LOCK_MS)
            take(walker, "moveStalledJobsToWait", None)
        assert told in " ".join(texts(walker))
        assert "Nothing is active any more, so nothing is marked." in texts(walker)


def test_a_marked_job_that_is_locked_is_told_to_be_left_alone(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker, lock_ms=3 * LOCK_MS)
    take(walker, "moveStalledJobsToWait", None)
    assert not any("Marked before" in text for text in texts(walker))
    passes(walker, LOCK_MS)
    take(walker, "moveStalledJobsToWait", None)
    assert "Marked before, and left in active since it is locked: JOB0KHTO…LuC." in texts(walker)


# Time -----------------------------------------------------------------------------------------------------------------


def test_time_tells_what_is_left_of_each_lock(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    passes(walker, 10_000)
    assert "The lock of JOB0KHTO…LuC has 20.0 s left." in texts(walker)
    passes(walker, 20_000)
    assert "The lock of JOB0KHTO…LuC has run out, and nothing moves by itself: it waits for a sweep." in texts(walker)
    passes(walker, 1_000)
    assert "JOB0KHTO…LuC is in active without a lock: it waits for a sweep." in texts(walker)


def test_several_locks_renewed_by_one_call_are_told(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    picked_up(walker, RIVAL)
    pairs = ({"job": GUESS, "token": "w1"}, {"job": RIVAL, "token": STRANGER})
    take(walker, "extendLocks", None, pairs=pairs)
    told = texts(walker)
    assert "Renewed for 30.0 s: JOB0KHTO…LuC." in told
    assert "Not extended: JOB0KHTOYgD5Um." in told


def test_what_acted_meanwhile_is_told_where_the_step_ends(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    take(walker, "heartbeat_starts", None, worker="w1")
    take(walker, "sweeps_start", None)
    acting(walker, 50_000)
    told = texts(walker)
    assert "50.0 s passed on the lesson's clock. Nothing moved." in told
    assert "Meanwhile the heartbeat of w1 came 3 times and the sweep came once: ← shows each." in told
    assert not any("too late" in text or "took" in text for text in told)
    acting(walker, 1_000)
    assert not any("Meanwhile" in text for text in texts(walker)), "nothing acted since the last step"


def test_what_moved_meanwhile_is_told_where_the_step_ends(engine: Engine) -> None:
    walker = walk(engine)
    picked_up(walker)
    take(walker, "heartbeat_starts", None, worker="w1", every_ms=40_000)
    take(walker, "sweeps_start", None)
    acting(walker, 70_000)
    told = texts(walker)
    assert "The heartbeat of w1 came too late for JOB0KHTO…LuC." in told
    assert "The sweep took JOB0KHTO…LuC from active to wait." in told


def test_a_beat_for_several_jobs_is_one_beat(engine: Engine) -> None:
    walker = walk(engine)
    for job in (GUESS, RIVAL, THIRD):
        picked_up(walker, job)
    take(walker, "heartbeat_starts", None, worker="w1")
    acting(walker, 20_000)
    assert "Meanwhile the heartbeat of w1 came once: ← shows each." in texts(walker)
