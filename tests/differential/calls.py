"""Calls as a host makes them: by position, so that one call drives the reference's script and ours alike.

Times are milliseconds after `T`. A job's options become the packed map that the host makes of them; ``at`` is what the
host says the time is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgpack
from msgspec import Struct

T = 1_700_000_000_000
BASE = "emq:{cm}:"
LOCK_MS = 30_000
TOKEN = "w1:1"
OPTIONS: Mapping[str, Any] = {"attempts": 3}
RULES = ("fpof", "cpof", "idof", "rdof")


class Call(Struct, frozen=True):
    """One script with its keys and arguments in the order of the wire."""

    script: str
    keys: tuple[str, ...]
    args: tuple[bytes | str | int, ...]


class Command(Struct, frozen=True):
    """One plain command that both sides get: what no script does, such as a lock that runs out."""

    words: tuple[bytes | str | int, ...]


Step = Call | Command


class Parent(Struct, frozen=True):
    """The parent that a child names when it is added, with the rules for the child's failure (a host sends one)."""

    id: str
    rules: tuple[str, ...] = ()
    base: str = BASE

    @property
    def slots(self) -> tuple[str, str, dict[str, Any]]:
        """The parent's row, its set of pending children, and the map that the child's row keeps."""
        parent_row = self.base + self.id
        named: dict[str, Any] = {"id": self.id, "queueKey": self.base[:-1]}
        return parent_row, parent_row + ":dependencies", named | dict.fromkeys(self.rules, True)


def row(job: str) -> str:
    return BASE + job


def lock(job: str) -> str:
    return row(job) + ":lock"


def pack(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value)
    return packed


def _call(script: str, keys: Sequence[str], *args: bytes | str | int) -> Call:
    """A call whose keys are named by type, or whole where they lie under a job."""
    return Call(script, tuple(name if name.startswith(BASE) else BASE + name for name in keys), args)


# Adding ---------------------------------------------------------------------------------------------------------------


def _add(
    script: str,
    keys: str,
    job: str,
    at: int,
    parent: Parent | None,
    options: Mapping[str, Any],
    *more: int,
    side_keys: tuple[str | None, str | None] = (None, None),
) -> Call:
    parent_slots = parent.slots if parent else (None, None, None)
    slots = [BASE, job, "job", T + at, *parent_slots, *side_keys]
    return _call(script, keys.split(), pack(slots), json.dumps({"n": 1}), pack(dict(options)), *more)


def add(
    job: str = "",
    at: int = 0,
    parent: Parent | None = None,
    options: Mapping[str, Any] = OPTIONS,
    side_keys: tuple[str | None, str | None] = (None, None),
    **more: Any,
) -> Call:
    """addStandardJob-9; further options by name. ``side_keys`` are those of repetition and deduplication."""
    keys = "wait paused meta id completed delayed active events marker"
    return _add("addStandardJob-9", keys, job, at, parent, {**options, **more}, T + at, side_keys=side_keys)


def add_delayed(job: str = "", delay: int = 1000, at: int = 0, parent: Parent | None = None, **more: Any) -> Call:
    keys = "marker meta id delayed completed events"
    return _add("addDelayedJob-6", keys, job, at, parent, {**OPTIONS, "delay": delay, **more}, delay)


def add_prioritized(job: str = "", priority: int = 1, at: int = 0, parent: Parent | None = None, **more: Any) -> Call:
    keys = "marker meta id prioritized delayed completed active events pc"
    return _add("addPrioritizedJob-9", keys, job, at, parent, {**OPTIONS, "priority": priority, **more}, priority)


def add_parent(job: str = "", at: int = 0, parent: Parent | None = None, **more: Any) -> Call:
    keys = "meta id delayed waiting-children completed events"
    return _add("addParentJob-6", keys, job, at, parent, {**OPTIONS, **more})


# What a worker does ---------------------------------------------------------------------------------------------------


def take(token: str = TOKEN, at: int = 10, lock_ms: int = LOCK_MS, **more: Any) -> Call:
    """moveToActive-11."""
    keys = "wait active prioritized events stalled limiter delayed paused meta pc marker"
    options = {"token": token, "lockDuration": lock_ms, "limiter": None, **more}
    return _call("moveToActive-11", keys.split(), BASE, T + at, pack(options))


def _finish(
    job: str, ending: str, field: str, value: str, token: str, at: int, fetch: bool, keep: Any, fields: Any, **more: Any
) -> Call:
    keys = "wait active prioritized events stalled limiter delayed paused meta pc"
    options = {
        "token": token,
        "keepJobs": keep if isinstance(keep, Mapping) else {"count": keep},
        "limiter": None,
        "lockDuration": LOCK_MS,
        "attempts": 3,
        "attemptsMade": 0,
        "maxMetricsSize": "",
        **dict.fromkeys(RULES, False),
        **more,
    }
    return _call(
        "moveToFinished-14",
        [*keys.split(), ending, row(job), f"metrics:{ending}", "marker"],
        *(job, T + at, field, value, ending, "1" if fetch else "", BASE, pack(options)),
        *_packed(fields),
    )


def complete(
    job: str, token: str = TOKEN, at: int = 20, fetch: bool = False, keep: Any = -1, fields: Any = None, **more: Any
) -> Call:
    """moveToFinished-14 with target completed."""
    return _finish(job, "completed", "returnvalue", '"v"', token, at, fetch, keep, fields, **more)


def fail(
    job: str, token: str = TOKEN, at: int = 20, fetch: bool = False, keep: Any = -1, fields: Any = None, **more: Any
) -> Call:
    """moveToFinished-14 with target failed."""
    return _finish(job, "failed", "failedReason", '"boom"', token, at, fetch, keep, fields, **more)


def delay(
    job: str, token: str = TOKEN, at: int = 20, delay: int = 1000, skip: bool = False, fields: Any = None
) -> Call:
    """moveToDelayed-8."""
    keys = ["marker", "active", "prioritized", "delayed", row(job), "events", "meta", "stalled"]
    return _call("moveToDelayed-8", keys, BASE, T + at, job, token, delay, "1" if skip else "0", *_packed(fields))


def retry(job: str, token: str = TOKEN, at: int = 20, push: str = "LPUSH", fields: Any = None) -> Call:
    """retryJob-11."""
    keys = ["active", "wait", "paused", row(job), "meta", "events", "delayed", "prioritized", "pc", "marker", "stalled"]
    return _call("retryJob-11", keys, BASE, T + at, push, job, token, *_packed(fields))


def park(job: str, token: str = TOKEN, at: int = 15, child: str = "") -> Call:
    """moveToWaitingChildren-7."""
    own = row(job)
    keys = ["active", "waiting-children", own, own + ":dependencies", own + ":unsuccessful", "stalled", "events"]
    return _call("moveToWaitingChildren-7", keys, token, row(child) if child else "", T + at, job, BASE)


def give_back(job: str, token: str = TOKEN) -> Call:
    """moveJobFromActiveToWait-9."""
    keys = "active wait stalled paused meta limiter prioritized marker events"
    return _call("moveJobFromActiveToWait-9", keys.split(), job, token, row(job))


# Locks and the sweep --------------------------------------------------------------------------------------------------


def extend(job: str, token: str = TOKEN, lock_ms: int = LOCK_MS) -> Call:
    return _call("extendLock-2", [lock(job), "stalled"], token, lock_ms, job)


def extend_all(pairs: Sequence[tuple[str, str]], lock_ms: int = LOCK_MS) -> Call:
    """extendLocks-1, for pairs of job and token."""
    tokens, jobs = [token for _, token in pairs], [job for job, _ in pairs]
    return _call("extendLocks-1", ["stalled"], BASE, pack(tokens), pack(jobs), lock_ms)


def release(job: str, token: str = TOKEN) -> Call:
    return _call("releaseLock-1", [lock(job)], token, LOCK_MS)


def sweep(at: int = 30, max_stalled: int = 1, interval_ms: int = 30_000) -> Call:
    """moveStalledJobsToWait-8."""
    keys = "stalled wait active stalled-check meta paused marker events"
    return _call("moveStalledJobsToWait-8", keys.split(), max_stalled, BASE, T + at, interval_ms)


# What an operator does ------------------------------------------------------------------------------------------------


def pause() -> Call:
    keys = "wait paused meta prioritized events delayed marker"
    return _call("pause-7", keys.split(), "paused")


def resume() -> Call:
    keys = "paused wait meta prioritized events delayed marker"
    return _call("pause-7", keys.split(), "resumed")


def promote(job: str) -> Call:
    keys = "delayed wait paused meta prioritized active pc events marker"
    return _call("promote-9", keys.split(), BASE, job)


def reprocess(
    job: str, ending: str = "failed", push: str = "LPUSH", reset_made: bool = False, reset_started: bool = False
) -> Call:
    keys = [row(job), "events", ending, "wait", "meta", "paused", "active", "marker"]
    field = {"failed": "failedReason", "completed": "returnvalue"}[ending]
    resets = ["1" if reset else "0" for reset in (reset_made, reset_started)]
    return _call("reprocessJob-8", keys, job, push, field, ending, *resets)


def state(job: str) -> Call:
    keys = "completed failed delayed active wait paused waiting-children prioritized"
    return _call("getState-8", keys.split(), job, row(job))


# What no script does --------------------------------------------------------------------------------------------------


def expire_lock(job: str) -> Command:
    """The lock runs out; how that comes about is the server's own matter, and both sides see the same."""
    return Command(("DEL", lock(job)))


def next_interval() -> Command:
    """The time between two sweeps passes."""
    return Command(("DEL", BASE + "stalled-check"))


def concurrency(limit: int | None) -> Command:
    meta = BASE + "meta"
    return Command(("HDEL", meta, "concurrency") if limit is None else ("HSET", meta, "concurrency", limit))


def raw(word: str, name: str, *more: bytes | str | int) -> Command:
    """Any command on one key of the queue."""
    return Command((word, BASE + name, *more))


def _packed(fields: Mapping[str, str] | None) -> tuple[bytes, ...]:
    """The optional last argument: a flat list of names and values."""
    return () if fields is None else (pack([part for pair in fields.items() for part in pair]),)
