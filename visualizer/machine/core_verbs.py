"""The core machine's verbs: each names the arguments of one script and reads its reply or code.

KEYS follow from the script's header: every name in it is a key of the queue or of the job. Times are the lesson's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from visualizer.machine.bench import Bench
from visualizer.machine.core_codes import CODES
from visualizer.machine.host import unlisted, verb
from visualizer.model import Grant, Outcome, Parameter, Performed, Verb
from visualizer.script import Reply, load

# The defaults of the worker and of the sweep (contract section 4).
LOCK_DURATION_MS = 30_000
LOCK_RENEW_MS = 15_000
STALLED_INTERVAL_MS = 30_000
MAX_STALLED = 1

WORKER = Parameter("worker", "worker", "who asks, and then holds the token", default="w1")
TOKEN = Parameter("token", "token", "the token to show", required=True)
LOCK_MS = Parameter("lock_ms", "duration_ms", "lockDuration", default=LOCK_DURATION_MS, minimum=1)
_NAME = Parameter("name", "text", "what kind of job it is", default="guess")
_ATTEMPTS = Parameter("attempts", "count", "how many runs it has in all", default=3, minimum=0)
_PARENT = Parameter("parent", "job", "the job that waits for this one")
_POLICY = Parameter("on_failure", "text", "fpof, cpof, idof or rdof: what a failure means to the parent")
_LIFO = Parameter("lifo", "flag", "served next instead of last", default=False)
_DELAY = Parameter("delay_ms", "duration_ms", "how long until it may run", default=0)
_PRIORITY = Parameter("priority", "count", "a lower number is served first", required=True, minimum=1)
_ENDING = Parameter("ending", "text", "completed or failed", default="completed")
_VALUE = Parameter("value", "text", "the result, or why it failed", default="ok")
_FETCH = Parameter("fetch", "flag", "ask for the next job in the same call", default=False)
_KEEP = Parameter("keep", "count", "how many finished jobs to keep; -1 all, 0 none", default=-1)
_ERROR = Parameter("error", "text", "why the run failed, for the row", default="")
_SKIP = Parameter("skip_attempt", "flag", "do not count this run", default=False)
_CHILD = Parameter("child", "job", "the child to wait for; without it, any")
_MAX_STALLED = Parameter("max_stalled", "count", "maxStalledCount", default=MAX_STALLED, minimum=0)
_INTERVAL = Parameter("interval_ms", "duration_ms", "stalledInterval", default=STALLED_INTERVAL_MS, minimum=1)
_PAIRS = Parameter("pairs", "pairs", "the jobs and their tokens", required=True)
_STATE = Parameter("state", "text", "completed or failed", default="failed")
_RESET = Parameter("reset", "flag", "count attempts from 0 again", default=False)

_POLICIES = ("fpof", "cpof", "idof", "rdof")
# A name in a header, where it is not the key's own type.
_TYPES = {"waiting_children": "waiting-children", "stalled_check": "stalled-check"}
_OF_THE_JOB = {"lock": b":lock", "dependencies": b":dependencies", "unsuccessful": b":unsuccessful", "row": b""}


def _keys(at: Bench, script: str, **named: bytes) -> dict[str, bytes]:
    """Every key that the script's header names."""
    keys = {}
    for slot in load(script).header.keys:
        if slot.name in named:
            keys[slot.name] = named[slot.name]
        elif slot.name in _OF_THE_JOB:
            keys[slot.name] = at.row() + _OF_THE_JOB[slot.name]
        elif slot.name == "metrics":
            keys[slot.name] = at.key("metrics:completed")
        else:
            keys[slot.name] = at.key(_TYPES.get(slot.name, slot.name))
    return keys


def _packed(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def _read(reply: Reply, answers: Mapping[Any, str]) -> Performed:
    """What a reply means: one of the answers, or a code of the closed table."""
    if isinstance(reply, int) and reply in CODES:
        return Performed(Outcome(CODES[reply].name, refused=str(reply)))
    if isinstance(reply, bytes | int) and reply in answers:
        return Performed(Outcome(answers[reply]))
    return unlisted(reply)


def _codes(*numbers: int) -> tuple[str, ...]:
    return tuple(CODES[number].name for number in numbers)


_UNLOCK_CODES = _codes(-1, -2, -6, -3)


# Adding ---------------------------------------------------------------------------------------------------------------


def _added(at: Bench, script: str, options: Mapping[str, Any]) -> Performed:
    parent_id, policy = at.take(_PARENT), at.take(_POLICY)
    parent_key = dependencies = parent = None
    if parent_id is not None:
        parent_key = at.row(parent_id)
        dependencies = parent_key + b":dependencies"
        parent = {"id": parent_id.decode(), "queueKey": at.space.base.decode().removesuffix(":")}
        if policy in _POLICIES:
            parent[policy] = True
    job = [
        at.space.base.decode(),
        at.id.decode(),
        str(at.take(_NAME)),
        at.now_ms(),
        parent_key.decode() if parent_key else None,
        dependencies.decode() if dependencies else None,
        parent,
        None,
        None,
    ]
    opts = {"attempts": at.take(_ATTEMPTS), **options}
    args: dict[str, Any] = {"job": _packed(job), "data": at.step.payload or b"{}", "opts": _packed(opts)}
    reply = at.call(script, _keys(at, script), args)
    return _read(reply, {at.id: "added"})


def _add_standard(at: Bench) -> Performed:
    return _added(at, "core/addStandardJob-9", {"lifo": True} if at.take(_LIFO) else {})


def _add_delayed(at: Bench) -> Performed:
    return _added(at, "core/addDelayedJob-6", {"delay": at.take(_DELAY)})


def _add_prioritized(at: Bench) -> Performed:
    return _added(at, "core/addPrioritizedJob-9", {"priority": at.take(_PRIORITY)})


def _add_parent(at: Bench) -> Performed:
    return _added(at, "core/addParentJob-6", {})


# The worker -----------------------------------------------------------------------------------------------------------


def _granted(worker: str, token: bytes, reply: Any) -> tuple[Grant, ...]:
    """A reply [row, id, 0, 0] hands out a job."""
    if isinstance(reply, list) and reply and isinstance(reply[0], list):
        return (Grant(worker, reply[1], token),)
    return ()


def _move_to_active(at: Bench) -> Performed:
    script, worker = "core/moveToActive-11", str(at.take(WORKER))
    token = at.fetch_token(worker)
    opts = {"token": token.decode(), "lockDuration": at.take(LOCK_MS)}
    args: dict[str, Any] = {"base": at.space.base, "now_ms": at.now_ms(), "opts": _packed(opts)}
    reply = at.call(script, _keys(at, script), args)
    grants = _granted(worker, token, reply)
    if grants:
        return Performed(Outcome("picked_up"), grants=grants)
    return Performed(Outcome("nothing")) if isinstance(reply, list) else unlisted(reply)


def _move_to_finished(at: Bench) -> Performed:
    script, ending, token = "core/moveToFinished-14", str(at.take(_ENDING)), at.token()
    field = "returnvalue" if ending == "completed" else "failedReason"
    opts = {
        "token": token.decode(),
        "keepJobs": {"count": at.take(_KEEP)},
        "lockDuration": at.take(LOCK_MS),
        "attempts": at.take(_ATTEMPTS),
        "maxMetricsSize": "",
    }
    args: dict[str, Any] = {
        "id": at.id,
        "now_ms": at.now_ms(),
        "field": field,
        "value": str(at.take(_VALUE)),
        "ending": ending,
        "fetch": "1" if at.take(_FETCH) else "0",
        "base": at.space.base,
        "opts": _packed(opts),
    }
    reply = at.call(script, _keys(at, script, finished=at.key(ending)), args)
    if isinstance(reply, list):
        return Performed(Outcome(ending), grants=_granted(at.holder(token), token, reply))
    return _read(reply, {0: ending})


def _move_to_delayed(at: Bench) -> Performed:
    script = "core/moveToDelayed-8"
    args: dict[str, Any] = {
        "base": at.space.base,
        "now_ms": at.now_ms(),
        "id": at.id,
        "token": at.token(),
        "delay_ms": at.take(_DELAY),
        "skip_attempt": "1" if at.take(_SKIP) else "0",
        **_fields(at),
    }
    return _read(at.call(script, _keys(at, script), args), {0: "delayed"})


def _retry_job(at: Bench) -> Performed:
    script = "core/retryJob-11"
    push = "RPUSH" if at.take(_LIFO) else "LPUSH"
    args: dict[str, Any] = {
        "base": at.space.base,
        "now_ms": at.now_ms(),
        "push": push,
        "id": at.id,
        "token": at.token(),
        **_fields(at),
    }
    return _read(at.call(script, _keys(at, script), args), {0: "retried"})


def _fields(at: Bench) -> dict[str, bytes]:
    error = at.take(_ERROR)
    return {"fields": _packed(["failedReason", str(error)])} if error else {}


def _move_to_waiting_children(at: Bench) -> Performed:
    script, child = "core/moveToWaitingChildren-7", at.take(_CHILD)
    args: dict[str, Any] = {
        "token": at.token(),
        "child": at.row(child) if child is not None else "",
        "now_ms": at.now_ms(),
        "id": at.id,
        "base": at.space.base,
    }
    return _read(at.call(script, _keys(at, script), args), {0: "parked", 1: "nothing_pending"})


def _give_back(at: Bench) -> Performed:
    script = "core/moveJobFromActiveToWait-9"
    args: dict[str, Any] = {"id": at.id, "token": at.token(), "row": at.row()}
    reply = at.call(script, _keys(at, script), args)
    return _read(reply, {0: "given_back"})


# Locks and the sweep --------------------------------------------------------------------------------------------------


def _lock_answer(reply: Reply, done: str) -> Performed:
    if reply == 1:
        return Performed(Outcome(done))
    return Performed(Outcome("not_the_holder", refused="0")) if reply == 0 else unlisted(reply)


def _extend_lock(at: Bench) -> Performed:
    script = "core/extendLock-2"
    args: dict[str, Any] = {"token": at.token(), "lock_ms": at.take(LOCK_MS), "id": at.id}
    return _lock_answer(at.call(script, _keys(at, script), args), "extended")


def _extend_locks(at: Bench) -> Performed:
    script, pairs = "core/extendLocks-1", at.take(_PAIRS)
    tokens = [at.resolve_token(pair["token"], pair["job"]).decode() for pair in pairs]
    args: dict[str, Any] = {
        "base": at.space.base,
        "tokens": _packed(tokens),
        "ids": _packed([pair["job"].decode() for pair in pairs]),
        "lock_ms": at.take(LOCK_MS),
    }
    reply = at.call(script, _keys(at, script), args)
    if not isinstance(reply, list):
        return unlisted(reply)
    lost = ", ".join(job.decode("utf-8", "backslashreplace") for job in reply)
    return Performed(Outcome("extended", note=f"not extended: {lost}" if lost else ""))


def _release_lock(at: Bench) -> Performed:
    script = "core/releaseLock-1"
    args: dict[str, Any] = {"token": at.token(), "lock_ms": LOCK_DURATION_MS}
    return _lock_answer(at.call(script, _keys(at, script), args), "released")


def _sweep(at: Bench) -> Performed:
    script = "core/moveStalledJobsToWait-8"
    args: dict[str, Any] = {
        "max_stalled": at.take(_MAX_STALLED),
        "base": at.space.base,
        "now_ms": at.now_ms(),
        "interval_ms": at.take(_INTERVAL),
    }
    reply = at.call(script, _keys(at, script), args)
    if not isinstance(reply, list):
        return unlisted(reply)
    return Performed(Outcome("recovered" if reply else "none_recovered"))


# Operators ------------------------------------------------------------------------------------------------------------


def _switched(source: str, destination: str, event: str) -> Any:
    def run(at: Bench) -> Performed:
        script = "core/pause-7"
        keys = _keys(at, script, source=at.key(source), destination=at.key(destination))
        reply = at.call(script, keys, {"event": event})
        return Performed(Outcome(event)) if reply is None else unlisted(reply)

    return run


def _promote(at: Bench) -> Performed:
    script = "core/promote-9"
    return _read(at.call(script, _keys(at, script), {"base": at.space.base, "id": at.id}), {0: "promoted"})


def _reprocess(at: Bench) -> Performed:
    script, state = "core/reprocessJob-8", str(at.take(_STATE))
    reset = "1" if at.take(_RESET) else "0"
    args: dict[str, Any] = {
        "id": at.id,
        "push": "RPUSH" if at.take(_LIFO) else "LPUSH",
        "field": "failedReason" if state == "failed" else "returnvalue",
        "ending": state,
        "reset_made": reset,
        "reset_started": reset,
    }
    return _read(at.call(script, _keys(at, script, finished=at.key(state)), args), {1: "reprocessed"})


_STATES = ("completed", "failed", "delayed", "prioritized", "active", "waiting", "waiting-children", "unknown")


def _get_state(at: Bench) -> Performed:
    script = "core/getState-8"
    reply = at.call(script, _keys(at, script), {"id": at.id, "row": at.row()})
    return _read(reply, {name.encode(): name for name in _STATES})


_ADD = (_NAME, _ATTEMPTS, _PARENT, _POLICY)
_ADDED = ("added", *_codes(-5, -7))
_SERVED = ("wait", "active"), ("prioritized", "active"), ("delayed", "active")

VERBS: dict[str, Verb] = {
    made.name: made
    for made in (
        verb(
            "core/addStandardJob-9",
            "Adds a job that may run now.",
            ((None, "wait"), (None, "paused")),
            _add_standard,
            _ADDED,
            (*_ADD, _LIFO),
        ),
        verb(
            "core/addDelayedJob-6",
            "Adds a job that may run later.",
            ((None, "delayed"),),
            _add_delayed,
            _ADDED,
            (*_ADD, _DELAY),
        ),
        verb(
            "core/addPrioritizedJob-9",
            "Adds a job with a priority.",
            ((None, "prioritized"),),
            _add_prioritized,
            _ADDED,
            (*_ADD, _PRIORITY),
        ),
        verb(
            "core/addParentJob-6",
            "Adds a job that waits for its children.",
            ((None, "waiting-children"),),
            _add_parent,
            _ADDED,
            _ADD,
        ),
        verb(
            "core/moveToActive-11",
            "Gives a worker the next job, locked.",
            _SERVED,
            _move_to_active,
            ("picked_up", "nothing"),
            (WORKER, LOCK_MS),
            needs_job=False,
        ),
        verb(
            "core/moveToFinished-14",
            "Ends a job, well or not; may fetch the next one.",
            (("active", "completed"), ("active", "failed"), *_SERVED),
            _move_to_finished,
            ("completed", "failed", *_codes(-1, -4, -9, -2, -6, -3)),
            (TOKEN, _ENDING, _VALUE, _FETCH, _KEEP, _ATTEMPTS, LOCK_MS),
        ),
        verb(
            "core/moveToDelayed-8",
            "Puts a job off that failed, until its backoff is over.",
            (("active", "delayed"),),
            _move_to_delayed,
            ("delayed", *_UNLOCK_CODES),
            (TOKEN, _DELAY, _SKIP, _ERROR),
        ),
        verb(
            "core/moveToWaitingChildren-7",
            "Parks a job until its children are done.",
            (("active", "waiting-children"),),
            _move_to_waiting_children,
            ("parked", "nothing_pending", *_UNLOCK_CODES, *_codes(-9)),
            (TOKEN, _CHILD),
        ),
        verb(
            "core/moveStalledJobsToWait-8",
            "Takes back jobs that were marked before and have no lock, then marks what is active.",
            (("active", "wait"), ("active", "paused")),
            _sweep,
            ("recovered", "none_recovered"),
            (_MAX_STALLED, _INTERVAL),
            needs_job=False,
        ),
        verb(
            "core/extendLock-2",
            "The heartbeat: a full lockDuration from now, and no mark.",
            (("active", "active"),),
            _extend_lock,
            ("extended", "not_the_holder"),
            (TOKEN, LOCK_MS),
        ),
        verb(
            "core/extendLocks-1",
            "The heartbeat of several jobs at once.",
            (("active", "active"),),
            _extend_locks,
            ("extended",),
            (_PAIRS, LOCK_MS),
            needs_job=False,
        ),
        verb(
            "core/releaseLock-1",
            "Gives the lock back; the id stays where it is.",
            (("active", "active"),),
            _release_lock,
            ("released", "not_the_holder"),
            (TOKEN,),
        ),
        verb(
            "core/promote-9",
            "An operator lets a delayed job wait at once.",
            (("delayed", "wait"), ("delayed", "prioritized"), ("delayed", "paused")),
            _promote,
            ("promoted", *_codes(-3)),
        ),
        verb(
            "core/retryJob-11",
            "Lets a job that failed wait again at once.",
            (("active", "wait"), ("active", "prioritized"), ("active", "paused")),
            _retry_job,
            ("retried", *_UNLOCK_CODES),
            (TOKEN, _LIFO, _ERROR),
        ),
        verb(
            "core/reprocessJob-8",
            "An operator lets a finished job run again.",
            (("failed", "wait"), ("completed", "wait"), ("failed", "paused"), ("completed", "paused")),
            _reprocess,
            ("reprocessed", *_codes(-1, -3)),
            (_STATE, _LIFO, _RESET),
        ),
        verb(
            "core/moveJobFromActiveToWait-9",
            "A worker gives a job back; no attempt is counted.",
            (("active", "wait"), ("active", "prioritized"), ("active", "paused")),
            _give_back,
            ("given_back", *_codes(-1, -2, -6)),
            (TOKEN,),
        ),
        verb("core/getState-8", "Asks where a job is.", (), _get_state, _STATES),
    )
}
for _name, _source, _destination, _event, _sentence in (
    ("pause", "wait", "paused", "paused", "Pauses the queue: wait becomes paused."),
    ("resume", "paused", "wait", "resumed", "Resumes the queue: paused becomes wait."),
):
    # One script serves both, so the verbs' names are not the script's.
    _switch = verb(
        "core/pause-7",
        _sentence,
        ((_source, _destination),),
        _switched(_source, _destination, _event),
        (_event,),
        needs_job=False,
    )
    VERBS[_name] = replace(_switch, name=_name)
