"""What a frame says, word for word. What differs from run to run is told by a word in capitals."""

from __future__ import annotations

from tests.core.telling import ALL, NO_ID, NO_PAUSE, ONE_STEP, told, wire
from tests.core.walking import (
    HOUR_MS,
    claimed,
    take,
    walker_on,
)
from visualizer.engine import Engine

# The paths of a lesson ------------------------------------------------------------------------------------------------


def test_the_happy_path(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    assert told(walker) == [
        f"JOB0KHTOWnGLuC enters pending.{ONE_STEP}",
        "score  0  always 0, so the order is mint order",
        'row    state + "pending"   attempts + "0"   payload + "payload"',
        wire(2, 2, "1"),
        ALL,
    ]
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    assert told(walker) == [
        f"JOB0KHTOWnGLuC leaves pending, enters active.{ONE_STEP}",
        "score  SCORE  the lease ends at TIME, in A WHILE, on the server's clock",
        "row    state pending → active   attempts 0 → 1   1 is w1's token",
        NO_PAUSE,
        wire(2, 2, '["JOB0KHTOWnGLuC", "payload", 1]'),
        ALL,
    ]
    take(walker, "complete", token="w1")
    assert told(walker) == [
        f"JOB0KHTOWnGLuC leaves active and enters nothing: its row is gone.{ONE_STEP}",
        "row    deleted: no field is left",
        "beside metrics:completed count nothing → 1",
        wire(2, 3, "1"),
        NO_ID,
    ]


def test_the_retry_path(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "retry", token="w1", delay_ms=HOUR_MS, error="timeout")
    assert told(walker) == [
        f"JOB0KHTOWnGLuC leaves active, enters schedule.{ONE_STEP}",
        "score  SCORE  it may run at TIME, in A WHILE, on the server's clock",
        'row    state active → scheduled   last_error + "timeout"   attempts stay 1',
        wire(4, 6, '"scheduled"'),
        ALL,
    ]
    take(walker, "promote")
    assert told(walker) == [
        "Nothing moved.  promote answered 0.",
        "Promote takes only what is due: JOB0KHTO…LuC is due in A WHILE.",
        wire(2, 2, "0"),
        ALL,
    ]


def test_a_job_that_is_due(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "schedule", delay_ms=30)
    take(walker, "wait_until_due")
    assert told(walker)[:2] == [
        "A MOMENT were left, and have passed, on the server's clock. Nothing moved.",
        "JOB0KHTO…LuC was due A MOMENT before: no promoter has run.",
    ]
    take(walker, "promote", None)
    assert told(walker) == [
        f"JOB0KHTOWnGLuC leaves schedule, enters pending.{ONE_STEP}",
        "score  0  always 0, so the order is mint order",
        "row    state scheduled → pending",
        wire(2, 2, "1"),
        ALL,
    ]


def test_the_end_and_another_life(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "retry", token="w1", max_attempts=1, error="timeout")
    assert told(walker) == [
        f"JOB0KHTOWnGLuC leaves active, enters dead.{ONE_STEP}",
        "score  0  always 0 in the morgue: mint order",
        'row    state active → dead   last_error + "timeout"   attempts stay 1',
        "beside metrics:failed count nothing → 1",
        wire(4, 6, '"dead"'),
        ALL,
    ]
    take(walker, "reprocess")
    assert told(walker)[2] == "row    state dead → pending   last_error − timeout   attempts stay 1"


# Refusals -------------------------------------------------------------------------------------------------------------


def test_a_stale_token(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "complete", token=7)
    assert told(walker) == [
        "Refused: EMQSTALE complete token mismatch (stale). Nothing moved.",
        "The row holds 1 (claimed by w1 in step 2), you sent 7.",
        wire(2, 3, "EMQSTALE complete token mismatch"),
        ALL,
    ]


def test_a_job_that_is_gone(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "complete", token=1)
    assert told(walker) == ["Refused: gone (0). Nothing moved.", wire(2, 3, "0"), NO_ID]
    take(walker, "retry", token=1)
    assert told(walker)[0] == "Refused: EMQSTALE job gone (stale). Nothing moved."
    take(walker, "reprocess")
    assert told(walker)[0] == "Refused: gone (-1). Nothing moved."


def test_another_kind(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue", b"ORD0KHTOWnGLuC")
    assert told(walker)[0] == "Refused: EMQKIND job id must be JOB-namespaced (kind). Nothing moved."


def test_what_is_not_sent(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "complete", token="w3")
    assert told(walker) == [
        "Not sent: worker w3 has claimed no such job, so it has no token.",
        NO_ID,
    ]


def test_a_paused_queue(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    take(walker, "queue_pause", None)
    assert told(walker)[:2] == ["Nothing moved.  queue_pause answered 1.", "beside meta paused nothing → 1"]
    take(walker, "claim")
    assert told(walker) == [
        "Nothing moved.",
        "The queue is paused: the script was not run.",
        'wire   HGET emq:{cm}:meta paused → "1"  MS',
        ALL,
    ]


def test_a_duplicate_and_an_empty_queue(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "enqueue")
    assert told(walker)[0] == "Nothing moved.  enqueue answered 0: duplicate."
    take(walker, "claim")
    assert told(walker)[0] == "Nothing moved.  claim answered []: empty."


# Leases ---------------------------------------------------------------------------------------------------------------


def test_a_lapsed_lease_and_a_reap(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker, lease_ms=1)
    take(walker, "wait_until_lapsed")
    assert told(walker)[1] == "The lease of JOB0KHTO…LuC had ended A MOMENT before: no reaper has run."
    take(walker, "reap", None)
    assert told(walker) == [
        f"JOB0KHTOWnGLuC leaves active, enters pending.{ONE_STEP}",
        "A reap moves no counter: attempts grow at the next claim.",
        "score  0  always 0, so the order is mint order",
        "row    state active → pending   attempts stay 1",
        wire(2, 1, "1"),
        ALL,
    ]
    take(walker, "reap", None)
    assert told(walker)[:2] == [
        "Nothing moved.  reap answered 0.",
        "It takes only lapsed leases, and active is empty.",
    ]


def test_the_sweep_counts(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker, lease_ms=1)
    take(walker, "wait_until_lapsed")
    take(walker, "sweep_stalled", None, max_stalled=2)
    assert told(walker)[:4] == [
        f"JOB0KHTOWnGLuC leaves active, enters pending.{ONE_STEP}",
        "JOB0KHTO…LuC has stalled 1 of 2 times, so it may run again. The limit is a count, not a time.",
        "score  0  always 0, so the order is mint order",
        'row    state active → pending   stalled + "1"   attempts stay 1',
    ]
    take(walker, "claim", lease_ms=1)
    take(walker, "wait_until_lapsed")
    take(walker, "sweep_stalled", None, max_stalled=2)
    assert told(walker)[:2] == [
        f"JOB0KHTOWnGLuC leaves active, enters dead.{ONE_STEP}",
        "JOB0KHTO…LuC has stalled 2 of 2 times, so it is dead. The limit is a count, not a time.",
    ]
    take(walker, "sweep_stalled", None, max_stalled=2)
    assert told(walker)[1] == "It takes only lapsed leases, and active is empty."


def test_a_lease_that_runs_is_left_alone(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "reap", None)
    assert told(walker)[:2] == [
        "Nothing moved.  reap answered 0.",
        "It takes only lapsed leases: JOB0KHTO…LuC lapses in A WHILE.",
    ]
    take(walker, "extend_lock", token="w1", lease_ms=2 * HOUR_MS)
    assert told(walker) == [
        "JOB0KHTOWnGLuC stays in active; its score is new. Nothing moved.",
        "score  SCORE  the lease ends at TIME, in A WHILE, on the server's clock",
        "row    attempts 1, still the token",
        wire(2, 3, "1"),
        ALL,
    ]


def test_a_payload_that_is_an_erlang_term_is_printed(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue", payload_bytes=bytes.fromhex("83 68 02 77 05 67 75 65 73 73 6d 00 00 00 01 1b"))
    assert r'term   payload is {guess,<<"\x1b">>}' in told(walker)
    assert not any(line.startswith("term") for line in told(walker, take(walker, "claim", worker="w1"))), "unchanged"


def test_a_payload_that_is_none_is_left_alone(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue", payload_bytes=b"\x83 and no term")
    assert not any(line.startswith("term") for line in told(walker))
