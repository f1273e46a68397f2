"""The core machine (E2.01): eight places, its side keys, what its scores mean, and how each state is reached.

A job's place is one of eight keys. The lock beside the row says who owns an active job; the scripts are told the time.
"""

from __future__ import annotations

from math import isfinite

from visualizer.ids import is_job_id
from visualizer.machine.core_calls import LOCK_DURATION_MS, LOCK_RENEW_MS, STALLED_INTERVAL_MS
from visualizer.machine.core_laws import LAWS
from visualizer.machine.core_verbs import VERBS
from visualizer.machine.core_words import SLOTS_A_MS, codes, explain, layers, row_note
from visualizer.model import Locking, Machine, Place, ScoreReading, SideKey, Step

# A prioritized score is the priority times this, plus a counter (section 5).
PRIORITY_STEP = 2**32

PLACES = (
    Place("wait", "list", "served from the right", "position", short="from the right"),
    Place("prioritized", "zset", "lowest priority first", "priority", short="priority"),
    Place("delayed", "zset", "score = due · 4096 + slot", "due", short="due"),
    Place("paused", "list", "wait, while paused", "position", short="wait, paused"),
    Place("waiting-children", "zset", "score = since", "since", short="since"),
    Place("active", "list", "newest left · lock held", "position", short="newest left"),
    Place("completed", "zset", "score = finished at", "finished", short="finished", terminal=True),
    Place("failed", "zset", "score = finished at", "finished", short="finished", terminal=True),
)

SIDES = (
    SideKey("meta", "hash"),
    SideKey("stalled", "set"),
    SideKey("id", "string"),
    SideKey("pc", "string"),
    SideKey("stalled-check", "string"),
)


def read_score(place: str, raw: float) -> ScoreReading:
    """A raw score as what it means in that place."""
    if not isfinite(raw):
        return ScoreReading("a score that no script writes")
    if place == "delayed":
        due_ms, slot = divmod(int(raw), SLOTS_A_MS)
        made_of = f"{due_ms} · {SLOTS_A_MS} + slot {slot}"
        return ScoreReading(f"{made_of}, so it is due", due_ms, f"{made_of}, so it was due")
    if place == "prioritized":
        priority, counter = divmod(int(raw), PRIORITY_STEP)
        # One counter serves all priorities; a job that was given back gets 0.
        order = f"number {counter} by arrival" if counter else "the front of its class"
        return ScoreReading(f"{priority} · 2^32 + {counter}: priority {priority}, {order}")
    meaning = {"completed": "it completed", "failed": "it failed"}.get(place, "it began to wait")
    return ScoreReading(meaning, int(raw), meaning)


_ADD = Step("addStandardJob")
_PICK_UP = Step("moveToActive", given={"worker": "w1"})
_COMPLETE = Step("moveToFinished", given={"token": "w1"})
_FAIL = Step("moveToFinished", given={"token": "w1", "ending": "failed", "value": "timeout"})
_BACK_OFF = Step("moveToDelayed", given={"token": "w1", "delay_ms": 5_000, "error": "timeout"})
_PAUSE = Step("pause")
_LOCK_RUNS_OUT = Step("time_passes", given={"ms": 30_000})
_SWEEP = Step("moveStalledJobsToWait")
_INTERVAL = Step("time_passes", given={"ms": 30_000})

STARTS = {
    "wait": (_ADD,),
    "prioritized": (Step("addPrioritizedJob", given={"priority": 2}),),
    "delayed": (Step("addDelayedJob", given={"delay_ms": 5_000}),),
    "paused": (_PAUSE, _ADD),
    "waiting-children": (Step("addParentJob"),),
    "active": (_ADD, _PICK_UP),
    "completed": (_ADD, _PICK_UP, _COMPLETE),
    "failed": (_ADD, _PICK_UP, _FAIL),
}

SHOWS = {
    "addStandardJob": ((), _ADD),
    "addDelayedJob": ((), STARTS["delayed"][0]),
    "addPrioritizedJob": ((), STARTS["prioritized"][0]),
    "addParentJob": ((), STARTS["waiting-children"][0]),
    "moveToActive, from wait": ((_ADD,), _PICK_UP),
    "moveToActive, from prioritized": (STARTS["prioritized"], _PICK_UP),
    "moveToActive, what is due": ((*STARTS["delayed"], Step("time_passes", given={"ms": 5_000})), _PICK_UP),
    "moveToFinished, completed": ((_ADD, _PICK_UP), _COMPLETE),
    "moveToFinished, failed": ((_ADD, _PICK_UP), _FAIL),
    "moveToDelayed": ((_ADD, _PICK_UP), _BACK_OFF),
    "retryJob": ((_ADD, _PICK_UP), Step("retryJob", given={"token": "w1"})),
    "moveJobFromActiveToWait": ((_ADD, _PICK_UP), Step("moveJobFromActiveToWait", given={"token": "w1"})),
    "moveStalledJobsToWait, which marks": ((_ADD, _PICK_UP), _SWEEP),
    "moveStalledJobsToWait, which recovers": ((_ADD, _PICK_UP, _SWEEP, _LOCK_RUNS_OUT, _INTERVAL), _SWEEP),
    "extendLock": (
        (_ADD, _PICK_UP, Step("time_passes", given={"ms": 15_000})),
        Step("extendLock", given={"token": "w1"}),
    ),
    "releaseLock": ((_ADD, _PICK_UP), Step("releaseLock", given={"token": "w1"})),
    "pause": ((_ADD,), _PAUSE),
    "resume": ((_ADD, _PAUSE), Step("resume")),
    "promote": (STARTS["delayed"], Step("promote")),
    "reprocessJob": (STARTS["failed"], Step("reprocessJob")),
    "moveToFinished, with a wrong token": ((_ADD, _PICK_UP), Step("moveToFinished", given={"token": {"text": "w2:1"}})),
}

COLUMNS = (
    (("wait", "prioritized"), ("delayed", "paused"), ("waiting-children",)),
    (("active",),),
    (("completed",), ("failed",)),
)

CORE = Machine(
    name="core",
    places=PLACES,
    sides=SIDES,
    row_prefix="",
    lock_suffix=":lock",
    glance=(b"ats", b"atm", b"stc"),
    lanes=None,
    verbs=VERBS,
    laws=LAWS,
    read_score=read_score,
    is_job_id=is_job_id,
    starts=STARTS,
    shows=SHOWS,
    edges=(),
    explain=explain,
    row_note=row_note,
    own_clock=True,
    columns=COLUMNS,
    layers=layers,
    codes=codes(),
    beside_row=(":logs", ":dependencies", ":processed", ":failed", ":unsuccessful"),
    locking=Locking(
        place="active",
        renews="extendLock",
        sweeps="moveStalledJobsToWait",
        lock_ms=LOCK_DURATION_MS,
        renew_ms=LOCK_RENEW_MS,
        sweep_ms=STALLED_INTERVAL_MS,
    ),
)
