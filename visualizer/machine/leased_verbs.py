"""The verbs of the leased machine, by name: what each one sends, and what each reply means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from visualizer.caller import Reply
from visualizer.machine.bench import Bench
from visualizer.machine.host import NotSentError, Replies, unlisted, verb
from visualizer.machine.leased_claims import CLAIMS, LEASE_MS
from visualizer.machine.leased_lanes import LANE_VERBS
from visualizer.machine.leased_operators import OPERATOR_VERBS
from visualizer.model import Outcome, Parameter, Performed, Verb
from visualizer.visible import visible

_TOKEN = Parameter("token", "token", "the attempts that the worker's claim gave it", required=True)
_AT_MS = Parameter("at_ms", "time_ms", "the instant it is due; in place of delay_ms")
_ADMIT_DELAY_MS = Parameter("delay_ms", "duration_ms", "how long until it is due; in place of at_ms", minimum=0)
_DELAY_MS = Parameter("delay_ms", "duration_ms", "how long until it is due; in place of at_ms")
_RETRY_DELAY_MS = Parameter("delay_ms", "duration_ms", "how long until it may run again", default=1_000)
_MAX_ATTEMPTS = Parameter("max_attempts", "count", "at this many attempts it is dead", default=3)
_ERROR = Parameter("error", "text", "why the attempt failed", default="error")
_BATCH = Parameter("batch", "count", "how many jobs at most", default=100, minimum=1)
_MAX_STALLED = Parameter("max_stalled", "count", "at this many stalls a job is dead", default=1)
_SWEEP_LIMIT = Parameter("limit", "count", "how many jobs at most", default=100)
_PAIRS = Parameter("pairs", "pairs", "the jobs, each with its token", required=True)

_KIND = {"EMQKIND": "kind"}
_STALE = {"EMQSTALE": "stale"}
_GONE = {-1: "gone"}

_ADMITTED = Replies({1: "enqueued", 0: "duplicate"}, errors=_KIND)
_SCHEDULED = Replies({1: "scheduled", 0: "duplicate"}, errors=_KIND)
_COMPLETED = Replies({1: "completed"}, {0: "gone"}, _STALE)
_RETRIED = Replies({b"scheduled": "scheduled", b"dead": "dead"}, errors=_STALE)
_EXTENDED = Replies({1: "extended"}, _GONE, _STALE)
_DELAYED = Replies({1: "delayed"}, errors={"EMQSTALE job gone": "gone", **_STALE, **_KIND})
# By whether a sweep recovered any job, and whether it buried any.
_SWEPT = {(0, 0): "none_lapsed", (1, 0): "recovered", (0, 1): "dead", (1, 1): "recovered_and_dead"}


def _enqueue(at: Bench) -> Performed:
    args = {"id": at.id, "payload": at.step.payload}
    return _ADMITTED.read(at.call("leased/enqueue", _row_and(at, "pending"), args))


def _schedule(at: Bench) -> Performed:
    args = {"id": at.id, "payload": at.step.payload, **_due(at, _ADMIT_DELAY_MS)}
    return _SCHEDULED.read(at.call("leased/schedule", _row_and(at, "schedule"), args))


def _complete(at: Bench) -> Performed:
    args = {**_holder(at), "base": at.space.base}
    return _COMPLETED.read(at.call("leased/complete", _row_and(at, "active"), args))


def _retry(at: Bench) -> Performed:
    args = {
        **_holder(at),
        "delay_ms": at.take(_RETRY_DELAY_MS),
        "max_attempts": at.take(_MAX_ATTEMPTS),
        "error_text": at.take(_ERROR),
        "base": at.space.base,
    }
    return _RETRIED.read(at.call("leased/retry", _row_and(at, "active", "schedule", "dead"), args))


def _promote(at: Bench) -> Performed:
    args = {"base": at.space.base, "batch": at.take(_BATCH)}
    return _counted("promoted", at.call("leased/promote", at.keys("schedule", "pending"), args))


def _reap(at: Bench) -> Performed:
    return _counted("reaped", at.call("leased/reap", at.keys("active", "pending"), {"base": at.space.base}))


def _extend_lock(at: Bench) -> Performed:
    args = {**_holder(at), "lease_ms": at.take(LEASE_MS)}
    return _EXTENDED.read(at.call("leased/extend_lock", _row_and(at, "active"), args))


def _extend_locks(at: Bench) -> Performed:
    pairs = [(pair["job"], at.resolve_token(pair["token"], pair["job"])) for pair in at.take(_PAIRS)]
    args = {
        "base": at.space.base,
        "lease_ms": at.take(LEASE_MS),
        "id_and_token": [part for pair in pairs for part in pair],
    }
    reply = at.call("leased/extend_locks", at.keys("active"), args)
    if not isinstance(reply, list):
        return unlisted(reply)
    left = ", ".join(visible(job) for job in reply)
    return Performed(Outcome("extended", note=f"not extended: {left}" if left else ""))


def _delay(at: Bench) -> Performed:
    args = {**_holder(at), **_due(at, _DELAY_MS)}
    return _DELAYED.read(at.call("leased/delay", _row_and(at, "active", "schedule"), args))


def _sweep_stalled(at: Bench) -> Performed:
    args = {"base": at.space.base, "max_stalled": at.take(_MAX_STALLED), "limit": at.take(_SWEEP_LIMIT)}
    reply = at.call("leased/sweep_stalled", at.keys("active", "pending", "dead"), args)
    if not isinstance(reply, list):
        return unlisted(reply)
    recovered, dead = reply
    return Performed(Outcome(_SWEPT[bool(recovered), bool(dead)]))


def _row_and(at: Bench, *places: str) -> dict[str, bytes]:
    return {"row": at.row(), **at.keys(*places)}


def _holder(at: Bench) -> dict[str, bytes]:
    return {"id": at.id, "token": at.token()}


def _due(at: Bench, delay: Parameter) -> Mapping[str, Any]:
    """The mode and its number; exactly one of a delay and an instant is given."""
    delay_ms, at_ms = at.take(delay), at.take(_AT_MS)
    if (delay_ms is None) == (at_ms is None):
        raise NotSentError(f"{at.step.do} takes either delay_ms or at_ms")
    return {"mode": "in", "ms": delay_ms} if at_ms is None else {"mode": "at", "ms": at_ms}


def _counted(name: str, reply: Reply) -> Performed:
    return Performed(Outcome(name)) if isinstance(reply, int) else unlisted(reply)


_FLAT_VERBS: tuple[Verb, ...] = (
    verb(
        "leased/enqueue",
        "Admits a new job: writes its row and lets it wait in mint order.",
        ((None, "pending"),),
        _enqueue,
        _ADMITTED.names,
    ),
    verb(
        "leased/schedule",
        "Admits a new job that may not run before its due time.",
        ((None, "schedule"),),
        _schedule,
        _SCHEDULED.names,
        (_ADMIT_DELAY_MS, _AT_MS),
    ),
    verb(
        "leased/complete",
        "Ends a job well: it leaves no row, only a count.",
        (("active", None),),
        _complete,
        _COMPLETED.names,
        (_TOKEN,),
    ),
    verb(
        "leased/retry",
        "Ends a failed attempt: the job runs again later, or is dead.",
        (("active", "schedule"), ("active", "dead")),
        _retry,
        _RETRIED.names,
        (_TOKEN, _RETRY_DELAY_MS, _MAX_ATTEMPTS, _ERROR),
    ),
    verb(
        "leased/promote",
        "Lets jobs whose time has come wait for a worker.",
        (("schedule", "pending"), ("schedule", "g:<group>:pending")),
        _promote,
        ("promoted",),
        (_BATCH,),
        needs_job=False,
    ),
    verb(
        "leased/reap",
        "Takes jobs back from workers whose lease has ended.",
        (("active", "pending"), ("active", "g:<group>:pending")),
        _reap,
        ("reaped",),
        needs_job=False,
    ),
    verb(
        "leased/extend_lock",
        "Gives a worker a new lease, counted from now.",
        (),
        _extend_lock,
        _EXTENDED.names,
        (_TOKEN, LEASE_MS),
    ),
    verb(
        "leased/extend_locks",
        "Gives a worker new leases for several jobs, counted from now.",
        (),
        _extend_locks,
        ("extended",),
        (_PAIRS, LEASE_MS),
        needs_job=False,
    ),
    verb(
        "leased/delay",
        "A worker puts its job off: it may not run before its due time.",
        (("active", "schedule"),),
        _delay,
        _DELAYED.names,
        (_TOKEN, _DELAY_MS, _AT_MS),
    ),
    verb(
        "leased/sweep_stalled",
        "Takes lapsed jobs back and counts it; at the limit a job is dead.",
        (("active", "pending"), ("active", "g:<group>:pending"), ("active", "dead")),
        _sweep_stalled,
        tuple(_SWEPT.values()),
        (_MAX_STALLED, _SWEEP_LIMIT),
        needs_job=False,
    ),
)

VERBS: Mapping[str, Verb] = {each.name: each for each in (*CLAIMS, *_FLAT_VERBS, *OPERATOR_VERBS, *LANE_VERBS)}
