"""The leased machine (R3.04): its places, side keys, score meanings, and how each state is reached.

A job's place is the sorted set that holds its id; the lease is the score in ``active``; the fencing token is the
row's ``attempts``.
"""

from __future__ import annotations

from math import isfinite

from visualizer.ids import is_job_id
from visualizer.machine.leased_laws import LAWS
from visualizer.machine.leased_verbs import VERBS
from visualizer.machine.leased_words import explain, row_note
from visualizer.model import LaneRule, Machine, Place, ScoreReading, SideKey, Step

PLACES = (
    Place("pending", "zset", "mint order · score 0", "zero", "pending", "score 0"),
    Place("active", "zset", "score = lease ends", "deadline", "active", "lease ends"),
    Place("schedule", "zset", "score = runs at", "due", "scheduled", "runs at"),
    Place("dead", "zset", "the morgue · score 0", "zero", "dead", "score 0", terminal=True),
)
LANE = Place("lane", "zset", "a lane, mint order · score 0", "zero", "pending", "score 0")
LANES = LaneRule(
    "g:",
    ":pending",
    b"group",
    LANE,
    "active",
    ring="ring",
    paused="paused",
    limits="glimit",
    out="gactive",
    wake="wake",
)

SIDES = (
    SideKey("ring", "list", names_groups=True),
    SideKey("paused", "set", names_groups=True),
    SideKey("glimit", "hash", names_groups=True),
    SideKey("gactive", "hash", names_groups=True),
    SideKey("wake", "list"),
    SideKey("meta", "hash"),
    SideKey("metrics:completed", "hash"),
    SideKey("metrics:failed", "hash"),
)


def read_score(place: str, raw: float) -> ScoreReading:
    """A raw score as what it means in that place."""
    if place == "active":
        return ScoreReading("the lease ends", _instant(raw), "the lease ended")
    if place == "schedule":
        return ScoreReading("it may run", _instant(raw), "it was due")
    if place == "dead":
        return ScoreReading("always 0 in the morgue: mint order")
    return ScoreReading("always 0, so the order is mint order")


def _instant(raw: float) -> int | None:
    """Whole milliseconds; None for the infinite scores that a foreign client may write."""
    return int(raw) if isfinite(raw) else None


_ENQUEUE = Step("enqueue")
_CLAIM = Step("claim", given={"worker": "w1", "lease_ms": 30_000})
_LATER = {"token": "w1", "delay_ms": 30_000, "max_attempts": 3, "error": "timeout"}
_RETRY = Step("retry", given=_LATER)
_RETRY_NOW = Step("retry", given={**_LATER, "delay_ms": 0})
_RETRY_AT_CAP = Step("retry", given={**_LATER, "max_attempts": 1})
_SHORT_CLAIM = Step("claim", given={"worker": "w1", "lease_ms": 40})
_LAPSE = Step("wait_until_lapsed")

STARTS = {
    "pending": (_ENQUEUE,),
    "active": (_ENQUEUE, _CLAIM),
    "schedule": (_ENQUEUE, _CLAIM, _RETRY),
    "dead": (_ENQUEUE, _CLAIM, _RETRY_AT_CAP),
}

SHOWS = {
    "enqueue": ((), _ENQUEUE),
    "schedule": ((), Step("schedule", given={"delay_ms": 30_000})),
    "claim": ((_ENQUEUE,), _CLAIM),
    "complete": ((_ENQUEUE, _CLAIM), Step("complete", given={"token": "w1"})),
    "retry, below the cap": ((_ENQUEUE, _CLAIM), _RETRY),
    "retry, at the cap": ((_ENQUEUE, _CLAIM), _RETRY_AT_CAP),
    "promote": ((_ENQUEUE, _CLAIM, _RETRY_NOW), Step("promote")),
    "reap": ((_ENQUEUE, _SHORT_CLAIM, _LAPSE), Step("reap")),
    "sweep_stalled, first stall of two": (
        (_ENQUEUE, _SHORT_CLAIM, _LAPSE),
        Step("sweep_stalled", given={"max_stalled": 2}),
    ),
    "sweep_stalled, first stall of one": (
        (_ENQUEUE, _SHORT_CLAIM, _LAPSE),
        Step("sweep_stalled", given={"max_stalled": 1}),
    ),
    "extend_lock": ((_ENQUEUE, _CLAIM), Step("extend_lock", given={"token": "w1", "lease_ms": 60_000})),
    "delay": ((_ENQUEUE, _CLAIM), Step("delay", given={"token": "w1", "delay_ms": 30_000})),
    "reprocess": ((*STARTS["dead"],), Step("reprocess")),
    "remove_job": ((_ENQUEUE,), Step("remove_job")),
    "complete, with a wrong token": ((_ENQUEUE, _CLAIM), Step("complete", given={"token": 7})),
}

# The edges that a screen draws between neighbouring places, left to right.
EDGES = (("pending", "active", "claim"), ("active", "schedule", "retry"))

LEASED = Machine(
    name="leased",
    places=PLACES,
    sides=SIDES,
    row_prefix="job:",
    lock_suffix=":lock",
    glance=(b"state", b"attempts", b"group"),
    lanes=LANES,
    verbs=VERBS,
    laws=LAWS,
    read_score=read_score,
    is_job_id=is_job_id,
    starts=STARTS,
    shows=SHOWS,
    edges=EDGES,
    explain=explain,
    row_note=row_note,
    waits={"due": "schedule", "lapsed": "active"},
)
