"""How each verb of the core machine runs: its script's arguments, and what the reply means. Times are the lesson's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from visualizer.caller import Reply
from visualizer.machine.bench import Bench
from visualizer.machine.core_calls import (
    ATTEMPTS,
    CHILD,
    DELAY,
    ENDING,
    ERROR,
    FETCH,
    INTERVAL,
    KEEP,
    LIFO,
    LOCK_DURATION_MS,
    LOCK_MS,
    NAME,
    PAIRS,
    PARENT,
    POLICIES,
    POLICY,
    PRIORITY,
    RESET,
    SKIP,
    STALLS,
    STATE,
    VALUE,
    WORKER,
    keys_of,
    packed,
    read_reply,
)
from visualizer.machine.host import unlisted
from visualizer.model import Grant, Outcome, Performed

# Adding ---------------------------------------------------------------------------------------------------------------


def added(at: Bench, script: str, options: Mapping[str, Any]) -> Performed:
    parent_id, policy = at.take(PARENT), at.take(POLICY)
    parent_key = dependencies = parent = None
    if parent_id is not None:
        parent_key = at.row(parent_id)
        dependencies = parent_key + b":dependencies"
        parent = {"id": parent_id.decode(), "queueKey": at.space.base.decode().removesuffix(":")}
        if policy in POLICIES:
            parent[policy] = True
    job = [
        at.space.base.decode(),
        at.id.decode(),
        str(at.take(NAME)),
        at.now_ms(),
        parent_key.decode() if parent_key else None,
        dependencies.decode() if dependencies else None,
        parent,
        None,
        None,
    ]
    opts = {"attempts": at.take(ATTEMPTS), **options}
    args: dict[str, Any] = {"job": packed(job), "data": at.step.payload or b"{}", "opts": packed(opts)}
    reply = at.call(script, keys_of(at, script), args)
    return read_reply(reply, {at.id: "added"})


def add_standard(at: Bench) -> Performed:
    return added(at, "core/addStandardJob-9", {"lifo": True} if at.take(LIFO) else {})


def add_delayed(at: Bench) -> Performed:
    return added(at, "core/addDelayedJob-6", {"delay": at.take(DELAY)})


def add_prioritized(at: Bench) -> Performed:
    return added(at, "core/addPrioritizedJob-9", {"priority": at.take(PRIORITY)})


def add_parent(at: Bench) -> Performed:
    return added(at, "core/addParentJob-6", {})


# The worker -----------------------------------------------------------------------------------------------------------


def granted(worker: str, token: bytes, reply: Any) -> tuple[Grant, ...]:
    """A reply [row, id, 0, 0] hands out a job."""
    if isinstance(reply, list) and reply and isinstance(reply[0], list):
        return (Grant(worker, reply[1], token),)
    return ()


def move_to_active(at: Bench) -> Performed:
    script, worker = "core/moveToActive-11", str(at.take(WORKER))
    token = at.fetch_token(worker)
    opts = {"token": token.decode(), "lockDuration": at.take(LOCK_MS)}
    args: dict[str, Any] = {"base": at.space.base, "now_ms": at.now_ms(), "opts": packed(opts)}
    reply = at.call(script, keys_of(at, script), args)
    grants = granted(worker, token, reply)
    if grants:
        return Performed(Outcome("picked_up"), grants=grants)
    return Performed(Outcome("nothing")) if isinstance(reply, list) else unlisted(reply)


def move_to_finished(at: Bench) -> Performed:
    script, ending, token = "core/moveToFinished-14", str(at.take(ENDING)), at.token()
    field = "returnvalue" if ending == "completed" else "failedReason"
    opts = {
        "token": token.decode(),
        "keepJobs": {"count": at.take(KEEP)},
        "lockDuration": at.take(LOCK_MS),
        "attempts": at.take(ATTEMPTS),
        "maxMetricsSize": "",
    }
    args: dict[str, Any] = {
        "id": at.id,
        "now_ms": at.now_ms(),
        "field": field,
        "value": str(at.take(VALUE)),
        "ending": ending,
        "fetch": "1" if at.take(FETCH) else "0",
        "base": at.space.base,
        "opts": packed(opts),
    }
    reply = at.call(script, keys_of(at, script, finished=at.key(ending)), args)
    if isinstance(reply, list):
        return Performed(Outcome(ending), grants=granted(at.holder(token), token, reply))
    return read_reply(reply, {0: ending})


def move_to_delayed(at: Bench) -> Performed:
    script = "core/moveToDelayed-8"
    args: dict[str, Any] = {
        "base": at.space.base,
        "now_ms": at.now_ms(),
        "id": at.id,
        "token": at.token(),
        "delay_ms": at.take(DELAY),
        "skip_attempt": "1" if at.take(SKIP) else "0",
        **fields(at),
    }
    return read_reply(at.call(script, keys_of(at, script), args), {0: "delayed"})


def retry_job(at: Bench) -> Performed:
    script = "core/retryJob-11"
    push = "RPUSH" if at.take(LIFO) else "LPUSH"
    args: dict[str, Any] = {
        "base": at.space.base,
        "now_ms": at.now_ms(),
        "push": push,
        "id": at.id,
        "token": at.token(),
        **fields(at),
    }
    return read_reply(at.call(script, keys_of(at, script), args), {0: "retried"})


def fields(at: Bench) -> dict[str, bytes]:
    error = at.take(ERROR)
    return {"fields": packed(["failedReason", str(error)])} if error else {}


def move_to_waiting_children(at: Bench) -> Performed:
    script, child = "core/moveToWaitingChildren-7", at.take(CHILD)
    args: dict[str, Any] = {
        "token": at.token(),
        "child": at.row(child) if child is not None else "",
        "now_ms": at.now_ms(),
        "id": at.id,
        "base": at.space.base,
    }
    return read_reply(at.call(script, keys_of(at, script), args), {0: "parked", 1: "nothing_pending"})


def give_back(at: Bench) -> Performed:
    script = "core/moveJobFromActiveToWait-9"
    args: dict[str, Any] = {"id": at.id, "token": at.token(), "row": at.row()}
    reply = at.call(script, keys_of(at, script), args)
    return read_reply(reply, {0: "given_back"})


# Locks and the sweep --------------------------------------------------------------------------------------------------


def lock_answer(reply: Reply, done: str) -> Performed:
    if reply == 1:
        return Performed(Outcome(done))
    return Performed(Outcome("not_the_holder", refused="0")) if reply == 0 else unlisted(reply)


def extend_lock(at: Bench) -> Performed:
    script = "core/extendLock-2"
    args: dict[str, Any] = {"token": at.token(), "lock_ms": at.take(LOCK_MS), "id": at.id}
    return lock_answer(at.call(script, keys_of(at, script), args), "extended")


def extend_locks(at: Bench) -> Performed:
    script, pairs = "core/extendLocks-1", at.take(PAIRS)
    tokens = [at.resolve_token(pair["token"], pair["job"]).decode() for pair in pairs]
    args: dict[str, Any] = {
        "base": at.space.base,
        "tokens": packed(tokens),
        "ids": packed([pair["job"].decode() for pair in pairs]),
        "lock_ms": at.take(LOCK_MS),
    }
    reply = at.call(script, keys_of(at, script), args)
    if not isinstance(reply, list):
        return unlisted(reply)
    lost = ", ".join(job.decode("utf-8", "backslashreplace") for job in reply)
    return Performed(Outcome("extended", note=f"not extended: {lost}" if lost else ""))


def release_lock(at: Bench) -> Performed:
    script = "core/releaseLock-1"
    args: dict[str, Any] = {"token": at.token(), "lock_ms": LOCK_DURATION_MS}
    return lock_answer(at.call(script, keys_of(at, script), args), "released")


def sweep(at: Bench) -> Performed:
    script = "core/moveStalledJobsToWait-8"
    args: dict[str, Any] = {
        "max_stalled": at.take(STALLS),
        "base": at.space.base,
        "now_ms": at.now_ms(),
        "interval_ms": at.take(INTERVAL),
    }
    reply = at.call(script, keys_of(at, script), args)
    if not isinstance(reply, list):
        return unlisted(reply)
    return Performed(Outcome("recovered" if reply else "none_recovered"))


# Operators ------------------------------------------------------------------------------------------------------------


def switched(source: str, destination: str, event: str) -> Any:
    def run(at: Bench) -> Performed:
        script = "core/pause-7"
        keys = keys_of(at, script, source=at.key(source), destination=at.key(destination))
        reply = at.call(script, keys, {"event": event})
        return Performed(Outcome(event)) if reply is None else unlisted(reply)

    return run


def promote(at: Bench) -> Performed:
    script = "core/promote-9"
    return read_reply(at.call(script, keys_of(at, script), {"base": at.space.base, "id": at.id}), {0: "promoted"})


def reprocess(at: Bench) -> Performed:
    script, state = "core/reprocessJob-8", str(at.take(STATE))
    reset = "1" if at.take(RESET) else "0"
    args: dict[str, Any] = {
        "id": at.id,
        "push": "RPUSH" if at.take(LIFO) else "LPUSH",
        "field": "failedReason" if state == "failed" else "returnvalue",
        "ending": state,
        "reset_made": reset,
        "reset_started": reset,
    }
    return read_reply(at.call(script, keys_of(at, script, finished=at.key(state)), args), {1: "reprocessed"})


STATES = ("completed", "failed", "delayed", "prioritized", "active", "waiting", "waiting-children", "unknown")


def get_state(at: Bench) -> Performed:
    script = "core/getState-8"
    reply = at.call(script, keys_of(at, script), {"id": at.id, "row": at.row()})
    return read_reply(reply, {name.encode(): name for name in STATES})
