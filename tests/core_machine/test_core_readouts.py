"""What a frame of the core machine tells: exact lines, computed from what was read, and the same as JSON."""

from __future__ import annotations

from typing import Any

from tests.core_machine.core_walking import (
    BASE,
    CORE,
    GUESS,
    LOCK_MS,
    RENEW_MS,
    RIVAL,
    SWEEP_MS,
    THIRD,
    passes,
    picked_up,
    take,
    texts,
    walker_on,
)
from visualizer.engine import Engine
from visualizer.frame_json import Setting, frame_object
from visualizer.lesson_clock import START_MS
from visualizer.picture import Edge, picture
from visualizer.walk import Walker

ONE_STEP = "  One script, one step: no client saw it between."
LAWS, LAWS_2, LAWS_3 = (f"laws   9 of 9 hold, judged on {ids} in view" for ids in ("1 id", "2 ids", "3 ids"))
SWEEP_WIRE = "wire   EVALSHA SHA… 8 keys 4 args → "


def as_json(walker: Walker) -> dict[str, Any]:
    frames = walker.walk.frames
    return frame_object(CORE, Setting("e", "l", "p", 1), frames[-1], frames[:-1])


def sweep(walker: Walker, **given: Any) -> list[str]:
    take(walker, "moveStalledJobsToWait", None, **given)
    return texts(walker)


# A lock ---------------------------------------------------------------------------------------------------------------


def test_a_pickup_tells_the_lock_and_whose_it_is(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    assert texts(walker) == [
        f"JOB0KHTOWnGLuC leaves wait, enters active.{ONE_STEP}",
        'row    processedOn + "1700000000020"   ats + "1"   w1:1 is w1\'s token',
        "lock   + w1:1  for 30.0 s",
        'wire   EVALSHA SHA… 11 keys 3 args → [[16 items], "JOB0KHTOWnGLuC", 0, 0]  MS',
        LAWS,
    ]


def test_a_heartbeat_tells_what_was_left_and_what_there_is_again(engine: Engine) -> None:
    """Though no id moved, on both engines: it is the lock that changed."""
    walker = walker_on(engine)
    picked_up(walker)
    sweep(walker)
    passes(walker, RENEW_MS)
    take(walker, "extendLock", token="w1")
    assert texts(walker) == [
        "Nothing moved.  extendLock answered 1: extended.",
        "lock   w1:1  has 30.0 s again, it had 15.0 s left",
        "beside stalled [JOB0KHTO…LuC] → nothing",
        "wire   EVALSHA SHA… 2 keys 3 args → 1  MS",
        LAWS,
    ]


def test_a_lock_given_back_and_a_lock_handed_on(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "releaseLock", token="w1")
    assert "lock   − w1:1" in texts(walker)
    picked_up(walker, RIVAL)
    client: Any = engine.client
    client.set(BASE + RIVAL + b":lock", "theirs")
    walker.look()
    assert "lock   − w1:2  + theirs" in texts(walker)


def test_time_that_passes_is_the_lessons(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    passes(walker, 5_000)
    assert texts(walker)[0] == "5.0 s passed on the lesson's clock. Nothing moved."
    passes(walker, LOCK_MS)
    told = texts(walker)
    assert told[0] == "30.0 s passed on the lesson's clock. Nothing moved."
    assert "lock   − w1:1" in told


# A refusal that wrote -------------------------------------------------------------------------------------------------


def test_minus_3_is_a_refusal_that_wrote_and_says_exactly_what(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    sweep(walker)
    client: Any = engine.client
    client.lrem(BASE + b"active", 0, GUESS)
    client.zadd(BASE + b"delayed", {GUESS: (START_MS + 60_000) * 4096})
    walker.look()
    frame = take(walker, "moveToDelayed", token="w1", delay_ms=5_000, error="boom")
    told = texts(walker)
    assert told[0] == "Refused: JobNotInState (-3). JOB0KHTOWnGLuC moves nowhere; its row changed."
    assert told[1].startswith("−3 is JobNotInState")
    assert (
        "Refused, and yet it wrote: the lock is gone, the stalled mark is gone, fields of the row are written. "
        "No id moved."
    ) in told
    assert told[-5:] == [
        'row    failedReason + "boom"',
        "lock   − w1:1",
        "beside stalled [JOB0KHTO…LuC] → nothing",
        "wire   EVALSHA SHA… 8 keys 7 args → -3  MS",
        LAWS,
    ]
    assert frame.broken == ()
    each = as_json(walker)
    assert (each["outcome"], each["refused"], each["lock"], each["moves"]) == (
        "JobNotInState",
        "-3",
        None,
        [{"id": GUESS.decode(), "leaves": [], "enters": []}],
    )


def test_minus_3_tells_only_what_it_did_write(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    client: Any = engine.client
    client.lrem(BASE + b"active", 0, GUESS)
    client.zadd(BASE + b"delayed", {GUESS: (START_MS + 60_000) * 4096})
    walker.look()
    take(walker, "moveToFinished", token="w1")
    assert "Refused, and yet it wrote: the lock is gone. No id moved." in texts(walker)


def test_a_refusal_that_wrote_nothing_does_not_claim_otherwise(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "moveToFinished", token={"text": "w9:1"})
    told = texts(walker)
    assert told[0] == "Refused: JobLockMismatch (-6). Nothing moved."
    assert "The lock holds w1:1, the token of w1." in told
    assert not any("and yet it wrote" in text for text in told)


# The sweep ------------------------------------------------------------------------------------------------------------


def test_the_sweep_marks_recovers_and_defers(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    assert sweep(walker) == [
        "Nothing moved.  moveStalledJobsToWait answered []: none recovered.",
        "Marked now: JOB0KHTO…LuC. A mark means nothing until the next sweep finds it without a lock.",
        "beside stalled nothing → [JOB0KHTO…LuC]   stalled-check nothing → 1700000000030",
        f"{SWEEP_WIRE}[]  MS",
        LAWS,
    ]
    assert sweep(walker)[:2] == [
        "Nothing moved.  moveStalledJobsToWait answered []: none recovered.",
        "A sweep has run within the interval, 30.0 s of it are left: this one did nothing.",
    ]
    passes(walker, SWEEP_MS)
    recovered = sweep(walker)
    assert recovered[0] == f"JOB0KHTOWnGLuC leaves active, enters wait.{ONE_STEP}"
    assert any(text.endswith("The limit is a count, not a time.") for text in recovered)
    assert not any("over the limit" in text for text in recovered)
    assert recovered[-4:] == [
        'row    stc + "1"',
        "beside stalled [JOB0KHTO…LuC] → nothing   stalled-check nothing → 1700000030050",
        f'{SWEEP_WIRE}["JOB0KHTOWnGLuC"]  MS',
        LAWS,
    ]
    take(walker, "moveToActive", None)
    passes(walker, LOCK_MS)
    sweep(walker)
    passes(walker, SWEEP_MS)
    deferred = sweep(walker)
    assert (
        "It is over the limit. The sweep writes no failed: it leaves the failure in defa for the worker that "
        "fetches the job next."
    ) in deferred
    assert 'row    stc 1 → 2   defa + "job stalled more than a…" 37 B' in deferred
    take(walker, "moveToActive", None)
    assert any("deferred failure (job stalled more than allowable limit)" in text for text in texts(walker))
    take(walker, "moveToFinished", token="w1", ending="failed", value="boom")
    assert texts(walker)[0] == f"JOB0KHTOWnGLuC leaves active, enters failed.{ONE_STEP}"


def test_the_sweep_recovers_several_and_each_is_named(engine: Engine) -> None:
    walker = walker_on(engine)
    for job in (GUESS, RIVAL, THIRD):
        picked_up(walker, job)
    sweep(walker)
    passes(walker, SWEEP_MS)
    told = sweep(walker)
    assert told[0].startswith("JOB0KHTOWnGLuC leaves active, enters wait.")
    assert [text for text in told if text.startswith("also")] == [
        "also   JOB0KHTO…5Um leaves active, enters wait.",
        "also   JOB0KHTO…2X2 leaves active, enters wait.",
    ]
    assert [each["enters"] for each in as_json(walker)["moves"]] == [["wait"]] * 3


# Moves of several ids -------------------------------------------------------------------------------------------------


def test_a_pickup_that_promotes_its_own_job_says_that_nobody_saw_it_wait(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "addDelayedJob", delay_ms=5_000)
    assert "score  6963200020520960  " in texts(walker)[1]
    assert texts(walker)[1].endswith("it is due at 00:05.010, in 5.0 s, on the lesson's clock")
    take(walker, "moveToActive", None)
    assert "Nothing to hand out: the next is due in 5.0 s." in texts(walker)
    passes(walker, 5_000)
    take(walker, "moveToActive", None)
    assert texts(walker)[:3] == [
        f"JOB0KHTOWnGLuC leaves delayed, enters active.{ONE_STEP}",
        "JOB0KHTO…LuC was promoted to wait and picked up in the same call: no one saw it in wait.",
        'row    delay 5000 → 0   processedOn + "1700000005030"   ats + "1"   w1:1 is w1\'s token',
    ]


def test_a_pickup_that_promotes_another_names_both(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "addDelayedJob", RIVAL, delay_ms=5_000)
    take(walker, "addStandardJob")
    passes(walker, 5_000)
    frame = take(walker, "moveToActive", None)
    assert texts(walker)[:3] == [
        f"JOB0KHTOWnGLuC leaves wait, enters active.{ONE_STEP}",
        "JOB0KHTO…5Um was due, and the same call promoted it.",
        "also   JOB0KHTO…5Um leaves delayed, enters wait.",
    ]
    assert picture(CORE, frame.after, frame).edges == (
        Edge("wait", "active", "moveToActive"),
        Edge("delayed", "wait", "moveToActive"),
    )


def test_an_end_that_fetches_the_next_moves_two(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "addStandardJob", RIVAL)
    frame = take(walker, "moveToFinished", token="w1", fetch=True)
    told = texts(walker)
    assert told[0] == f"JOB0KHTOWnGLuC leaves active, enters completed.{ONE_STEP}", "the step's own job leads"
    assert [text for text in told if text.startswith("also")] == ["also   JOB0KHTO…5Um leaves wait, enters active."]
    assert told[-5:] == [
        "score  1700000000040  it completed at 00:00.040, 0 ms ago, on the lesson's clock",
        'row    atm + "1"   returnvalue + "ok"   finishedOn + "1700000000040"',
        "lock   − w1:1",
        'wire   EVALSHA SHA… 14 keys 8 args → [[16 items], "JOB0KHTOYgD5Um", 0, 0]  MS',
        LAWS_2,
    ]
    assert [(grant.worker, grant.id, grant.token) for grant in frame.performed.grants] == [("w1", RIVAL, b"w1:1")]
    assert picture(CORE, frame.after, frame).edges == (
        Edge("active", "completed", "moveToFinished"),
        Edge("wait", "active", "moveToFinished"),
    )


def test_an_end_that_fetches_and_promotes_moves_three(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "addStandardJob", RIVAL)
    take(walker, "addDelayedJob", THIRD, delay_ms=100)
    passes(walker, 100)
    take(walker, "moveToFinished", token="w1", fetch=True)
    each = as_json(walker)
    assert (each["id"], each["leaves"], each["enters"]) == (GUESS.decode(), ["active"], ["completed"])
    assert each["moves"] == [
        {"id": GUESS.decode(), "leaves": ["active"], "enters": ["completed"]},
        {"id": RIVAL.decode(), "leaves": ["wait"], "enters": ["active"]},
        {"id": THIRD.decode(), "leaves": ["delayed"], "enters": ["wait"]},
    ]
    assert each["readout"][-1] == LAWS_3


# JSON -----------------------------------------------------------------------------------------------------------------


def test_a_lists_members_are_ids_and_a_sorted_sets_have_scores(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "addStandardJob", RIVAL)
    take(walker, "addStandardJob", THIRD)
    places = as_json(walker)["places"]
    assert places["wait"] == {"count": 2, "members": [THIRD.decode(), RIVAL.decode()]}
    assert places["active"] == {"count": 1, "members": [GUESS.decode()]}
    assert places["failed"] == {"count": 0, "members": []}
    take(walker, "moveToFinished", token="w1")
    assert as_json(walker)["places"]["completed"] == {"count": 1, "members": [[GUESS.decode(), START_MS + 50]]}


def test_the_lock_is_that_of_the_steps_own_job(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "addStandardJob")
    assert as_json(walker)["lock"] is None
    take(walker, "moveToActive", GUESS)
    assert as_json(walker)["lock"] == {"token": "w1:1", "ttl_ms": LOCK_MS}
    passes(walker, 1_000)
    take(walker, "getState")
    each = as_json(walker)
    assert each["lock"] == {"token": "w1:1", "ttl_ms": LOCK_MS - 1_010}
    assert each["clock"] == {"server_ms": START_MS + 1_030}
    take(walker, "getState", RIVAL)
    assert as_json(walker)["lock"] is None


def test_a_token_that_is_no_text_is_hex(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    client: Any = engine.client
    client.set(BASE + GUESS + b":lock", b"\x83\xff", px=LOCK_MS)
    walker.look()
    take(walker, "getState")
    assert as_json(walker)["lock"]["token"] == {"hex": "83ff"}
