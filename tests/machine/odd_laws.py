"""The odd but accepted calls of the contract's section 8, and exactly which laws are broken after each of them.

Written from the contract and the laws' sentences, before the code was run. `LEFT_OUT` says why a pitfall has no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

TWO_PLACES = "the_id_is_in_exactly_one_place"
STATE = "the_row_state_follows_the_place"
PAST_LEASE = "an_active_score_was_in_the_future"
COMPLETED = "a_completed_job_left_nothing"
NO_ROW = "every_member_has_a_row"
NO_PLACE = "every_row_has_a_place"

HOUR_MS = 3_600_000
JOB, OTHER = b"JOB0KHTOWnGLuC", b"JOB0KHTOYgD5Um"
GROUP, NEIGHBOUR = b"PRT0KHTOfMv2X2", b"PRT0KHTOfMv2X3"
LANE, ROW = f"g:{GROUP.decode()}:pending", f"job:{JOB.decode()}"


class Call(Struct, frozen=True):
    """One step and the laws broken after it. ``do`` "by hand" is a command of somebody else, between two steps: its
    words, the second of them the key without the queue's base."""

    do: str
    outcome: str = ""
    given: Mapping[str, Any] = {}
    breaks: tuple[str, ...] = ()
    job: bytes | None = JOB
    words: tuple[Any, ...] = ()


class Odd(Struct, frozen=True):
    """One pitfall: its number in section 8, what it shows, and the calls."""

    number: int
    shows: str
    calls: tuple[Call, ...]


def by_hand(*words: Any, breaks: tuple[str, ...] = ()) -> Call:
    return Call("by hand", breaks=breaks, words=words)


ENQUEUE = Call("enqueue", "enqueued")
IN_LANE = Call("lane_enqueue", "enqueued", {"group": GROUP})
CLAIM = Call("claim", "claimed", {"lease_ms": HOUR_MS})
SHORT_CLAIM = Call("claim", "claimed", {"lease_ms": 1})
LANE_CLAIM = Call("lane_claim", "claimed", {"lease_ms": HOUR_MS})
LAPSE = Call("wait_until_lapsed", "lapsed")
REAP = Call("reap", "reaped")
SWEEP = Call("sweep_stalled", "dead")
PROMOTE = Call("promote", "promoted")
COMPLETE = Call("complete", "completed", {"token": 1})
RETRY = Call("retry", "scheduled", {"token": 1, "delay_ms": HOUR_MS})
RETRY_NOW = Call("retry", "scheduled", {"token": 1, "delay_ms": 0})
BURY = Call("retry", "dead", {"token": 1, "max_attempts": 1})
EXTEND = {"token": 1, "lease_ms": HOUR_MS}
LATER = {"token": 1, "delay_ms": HOUR_MS}
REAPED = (ENQUEUE, SHORT_CLAIM, LAPSE, REAP)
BURIED = (ENQUEUE, CLAIM, BURY)

ODD = (
    Odd(1, "a job never claimed completes with token 0", (ENQUEUE, Call("complete", "completed", {"token": 0}))),
    Odd(1, "a reaped job's late worker completes it", (*REAPED, COMPLETE)),
    Odd(1, "a reaped job's late worker retries it", (*REAPED, RETRY)),
    Odd(
        2,
        "a lease extended after the reap leaves a ghost that is claimed again",
        (
            *REAPED,
            Call("extend_lock", "extended", EXTEND, (TWO_PLACES, STATE)),
            Call("complete", "completed", {"token": 1}, (COMPLETED, NO_ROW)),
            CLAIM,
            COMPLETE,
        ),
    ),
    Odd(
        2,
        "the lease of a scheduled job is extended",
        (ENQUEUE, CLAIM, RETRY, Call("extend_lock", "extended", EXTEND, (TWO_PLACES, STATE))),
    ),
    Odd(
        2,
        "the lease of a scheduled job is extended with others",
        (
            *(ENQUEUE, CLAIM, RETRY),
            Call(
                "extend_locks",
                "extended",
                {"pairs": [{"job": JOB, "token": 1}], "lease_ms": HOUR_MS},
                (TWO_PLACES, STATE),
                None,
            ),
        ),
    ),
    Odd(
        3,
        "complete after retry: promote makes a row with only a state, claim hands out no payload",
        (
            *(ENQUEUE, CLAIM, RETRY_NOW),
            Call("complete", "completed", {"token": 1}, (COMPLETED, NO_ROW)),
            *(PROMOTE, CLAIM),
        ),
    ),
    Odd(
        3,
        "complete after the end: the id stays in dead without a row",
        (
            *BURIED,
            Call("complete", "completed", {"token": 1}, (COMPLETED, NO_ROW)),
            Call("reprocess", "gone", breaks=(NO_ROW,)),
        ),
    ),
    Odd(4, "retried twice with one token", (ENQUEUE, CLAIM, RETRY, RETRY_NOW)),
    Odd(4, "a dead job counted as failed twice", (*BURIED, BURY)),
    Odd(
        4,
        "a dead job retried with a higher cap",
        (
            *BURIED,
            Call("retry", "scheduled", {"token": 1, "max_attempts": 5, "delay_ms": HOUR_MS}, (TWO_PLACES, STATE)),
        ),
    ),
    Odd(5, "claim makes a row", (by_hand("ZADD", "pending", 0, JOB, breaks=(NO_ROW,)), CLAIM, COMPLETE)),
    Odd(
        5,
        "reap makes a row without attempts, which each verb reads in its own way",
        (
            by_hand("ZADD", "active", 1, JOB, breaks=(NO_ROW, PAST_LEASE)),
            REAP,
            Call("complete", "gone", {"token": 1}),
            Call("extend_lock", "gone", EXTEND),
            Call("retry", "stale", {"token": 1}),
            Call("enqueue", "duplicate"),
        ),
    ),
    Odd(5, "promote makes a row", (by_hand("ZADD", "schedule", 1, JOB, breaks=(NO_ROW,)), PROMOTE)),
    Odd(6, "reap asks for no pause", (ENQUEUE, SHORT_CLAIM, LAPSE, Call("queue_pause", "paused", job=None), REAP)),
    Odd(
        7,
        "two crashes and one failure use up three attempts",
        (
            ENQUEUE,
            *(SHORT_CLAIM, LAPSE, REAP) * 2,
            CLAIM,
            Call("retry", "dead", {"token": 3, "max_attempts": 3}),
        ),
    ),
    Odd(
        8,
        "a reprocessed job dies again at the same cap",
        (*BURIED, Call("reprocess", "reprocessed"), CLAIM, Call("retry", "dead", {"token": 2, "max_attempts": 1})),
    ),
    Odd(
        8,
        "a grouped job is reprocessed into the flat line",
        (
            *(IN_LANE, LANE_CLAIM, BURY, Call("reprocess", "reprocessed"), CLAIM),
            Call("complete", "completed", {"token": 2}),
        ),
    ),
    Odd(
        9,
        "a delayed job spends an attempt all the same",
        (ENQUEUE, CLAIM, Call("delay", "delayed", {"token": 1, "delay_ms": 0}), PROMOTE, CLAIM),
    ),
    Odd(9, "a delayed grouped job keeps its share", (IN_LANE, LANE_CLAIM, Call("delay", "delayed", LATER))),
    Odd(
        9,
        "a waiting job is delayed",
        (ENQUEUE, Call("delay", "delayed", {"token": 0, "delay_ms": HOUR_MS}, (TWO_PLACES, STATE))),
    ),
    Odd(9, "a reaped job is delayed", (*REAPED, Call("delay", "delayed", LATER, (TWO_PLACES, STATE)))),
    Odd(10, "the sweep buries at the first stall", (ENQUEUE, SHORT_CLAIM, LAPSE, SWEEP)),
    Odd(
        11,
        "the sweep does not ring for what waits behind a dead job",
        (
            Call("lane_limit", "limited", {"group": GROUP, "limit": 1}, job=None),
            *(IN_LANE, Call("lane_enqueue", "enqueued", {"group": GROUP}, job=OTHER)),
            Call("lane_claim", "claimed", {"lease_ms": 1}),
            *(LAPSE, SWEEP, Call("lane_claim", "empty")),
        ),
    ),
    Odd(
        12,
        "a removed job's ghost in its lane is claimed",
        (IN_LANE, Call("remove_job", "removed", breaks=(NO_ROW,)), LANE_CLAIM, COMPLETE),
    ),
    Odd(12, "a removed grouped job keeps its share", (IN_LANE, LANE_CLAIM, Call("remove_job", "removed"))),
    Odd(
        12,
        "a removed job's id is enqueued while its ghost waits",
        (
            IN_LANE,
            Call("remove_job", "removed", breaks=(NO_ROW,)),
            Call("enqueue", "enqueued", breaks=(TWO_PLACES,)),
        ),
    ),
    Odd(13, "a pause that cannot be read is none", (ENQUEUE, by_hand("SET", "meta", "no hash"), CLAIM)),
    Odd(
        14,
        "a missing row, answered in four ways",
        (
            Call("complete", "gone", {"token": 1}),
            Call("extend_lock", "gone", EXTEND),
            Call("retry", "stale", {"token": 1}),
            Call("delay", "gone", LATER),
        ),
    ),
    Odd(15, "an id is admitted again once it is done", (ENQUEUE, CLAIM, COMPLETE, ENQUEUE, CLAIM)),
    Odd(
        15,
        "a removed job's worker completes the job that has its id now",
        (ENQUEUE, CLAIM, Call("remove_job", "removed"), ENQUEUE, CLAIM, COMPLETE),
    ),
    Odd(
        16,
        "logs and lock outlive the job",
        (
            *(ENQUEUE, CLAIM, by_hand("SET", f"{ROW}:lock", "w1"), by_hand("RPUSH", f"{ROW}:logs", "line")),
            COMPLETE,
        ),
    ),
    Odd(
        18,
        "a lane claim finds an empty lane while another has work",
        (
            *(IN_LANE, Call("lane_enqueue", "enqueued", {"group": NEIGHBOUR}, job=OTHER)),
            by_hand("ZREM", LANE, JOB, breaks=(TWO_PLACES, STATE, NO_PLACE)),
            Call("lane_claim", "empty", breaks=(TWO_PLACES, STATE, NO_PLACE)),
            Call("lane_claim", "claimed", {}, (TWO_PLACES, STATE, NO_PLACE), OTHER),
        ),
    ),
    Odd(
        21,
        "the caller's clock is trusted",
        (Call("schedule", "scheduled", {"at_ms": -1}), PROMOTE, Call("claim", "claimed", {"lease_ms": HOUR_MS})),
    ),
    Odd(22, "a token is compared as text", (ENQUEUE, CLAIM, Call("complete", "stale", {"token": {"text": "01"}}))),
)

# Not in the contract's list: what an outsider does by hand, and the law that notices.
BY_HAND = (
    Odd(0, "attempts changed by hand", (ENQUEUE, by_hand("HSET", ROW, "attempts", 7))),
    Odd(0, "a score that is not 0", (ENQUEUE, by_hand("ZADD", "pending", 5, JOB, breaks=("pending_scores_are_zero",)))),
    Odd(
        0,
        "scores that turn the order of minting round",
        (
            *(ENQUEUE, Call("enqueue", "enqueued", job=OTHER)),
            by_hand(
                *("ZADD", "pending", 5, JOB),
                breaks=("pending_scores_are_zero", "pending_dead_and_lanes_are_in_mint_order"),
            ),
        ),
    ),
    Odd(0, "a flag without a move", (ENQUEUE, by_hand("HSET", ROW, "state", "active", breaks=(STATE,)))),
)

LEFT_OUT = {
    17: "it is about the stock consumer, a process that is not built here",
    19: "obliterate is not built here",
    20: "it is about keys that a script builds, which every row above does",
}
