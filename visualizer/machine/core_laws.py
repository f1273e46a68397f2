"""The laws of the core machine, each judged on what was read before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from visualizer.ids import is_branded
from visualizer.machine import shared_laws
from visualizer.model import Evidence, Law, Row
from visualizer.visible import visible

FINISHED = ("completed", "failed")
# Places that promoting what is due may change.
_PROMOTING = ("delayed", "wait", "paused", "prioritized")
_LEAVING = ("moveToFinished", "moveToDelayed", "retryJob", "moveToWaitingChildren")


def _only_active_is_locked(seen: Evidence) -> Sequence[str]:
    return [
        f"{visible(job)} is locked and not in active"
        for job in seen.after.locks
        if job in seen.homes_after and "active" not in seen.homes_after[job]
    ]


def _only_finishing_finishes(seen: Evidence) -> Sequence[str]:
    if seen.did == "moveToFinished":
        return ()
    return [
        f"{visible(job)} entered {place} by {seen.did or 'another client'}"
        for job, places in seen.homes_after.items()
        for place in places
        if place in FINISHED and place not in seen.homes_before.get(job, ()) and job in seen.homes_before
    ]


def _wait_is_empty_while_paused(seen: Evidence) -> Sequence[str]:
    meta = seen.after.sides.get("meta")
    paused = isinstance(meta, dict) and b"paused" in meta
    count = seen.after.places["wait"].count if "wait" in seen.after.places else 0
    return (f"the queue is paused and wait holds {count}",) if paused and count else ()


def _number(row: Row | None, field: bytes) -> int:
    text = row.fields.get(field, b"0") if row else b"0"
    return int(text) if text.isdigit() else 0


def _starts_grow_only_by_a_pickup(seen: Evidence) -> Sequence[str]:
    picked = {grant.id for grant in seen.performed.grants}
    breaches = []
    for job, row in seen.after.rows.items():
        before = seen.before.rows.get(job)
        if row is None or before is None or seen.did == "reprocessJob":
            continue
        was, now = _number(before, b"ats"), _number(row, b"ats")
        if now != was + (job in picked):
            breaches.append(f"{visible(job)} went from {was} to {now} starts")
    return breaches


def _refusal_wrote_what_its_code_says(seen: Evidence) -> Sequence[str]:
    """Nothing, but for three: -3 of the scripts that look in active, -7, and the promotions of retryJob."""
    code, before, after = seen.performed.outcome.refused, seen.before, seen.after
    if code is None or before.same_apart_from_time(after):
        return ()
    promoted = {
        job
        for job, homes in seen.homes_after.items()
        if seen.did == "retryJob" and seen.homes_before.get(job) == ("delayed",) and homes != ("delayed",)
    }
    places = set(_PROMOTING if promoted else ())
    rows: set[bytes | None] = {*promoted}
    locks: set[bytes | None] = set()
    sides = {"pc"} if promoted else set()
    if code == "-3" and seen.did in _LEAVING:
        rows.add(seen.id)
        locks.add(seen.id)
        sides.add("stalled")
    elif code == "-7":
        sides.add("id")
    tokens = [{job: lock.token for job, lock in each.locks.items()} for each in (before, after)]
    wrote = [
        *(f"place {name}" for name in _differing(before.places, after.places) - places),
        *(f"the row of {visible(job)}" for job in _differing(before.rows, after.rows) - rows),
        *(f"the lock of {visible(job)}" for job in _differing(*tokens) - locks),
        *(f"the key {name}" for name in _differing(before.sides, after.sides) - sides),
    ]
    return (f"{seen.did} was refused with {visible(code)} and wrote {', '.join(sorted(wrote))}",) if wrote else ()


def _differing(was: Mapping[Any, Any], now: Mapping[Any, Any]) -> set[Any]:
    """The names under which the two hold different things."""
    return {name for name in {*was, *now} if was.get(name) != now.get(name)}


def _waiting_is_in_one_list(seen: Evidence) -> Sequence[str]:
    """A list may hold an id twice, which a set cannot."""
    breaches = []
    for name, reading in seen.after.places.items():
        ids = [member.id for member in reading.members]
        breaches += [f"{visible(job)} is in {name} twice" for job in set(ids) if ids.count(job) > 1 and is_branded(job)]
    return breaches


LAWS: tuple[Law, ...] = (
    shared_laws.EXACTLY_ONE_PLACE,
    Law("a_list_holds_an_id_once", "A list holds an id once.", _waiting_is_in_one_list),
    Law("only_an_active_job_is_locked", "Only an active job is locked.", _only_active_is_locked),
    Law(
        "only_moveToFinished_finishes",
        "Only moveToFinished puts an id into completed or failed.",
        _only_finishing_finishes,
    ),
    Law("wait_is_empty_while_paused", "While the queue is paused, wait is empty.", _wait_is_empty_while_paused),
    Law(
        "starts_grow_only_by_a_pickup",
        "ats, the attempts started, grows only by a pickup, and by one.",
        _starts_grow_only_by_a_pickup,
    ),
    Law(
        "a_refusal_wrote_only_what_its_code_says",
        "A refusal wrote only what its code says.",
        _refusal_wrote_what_its_code_says,
    ),
    shared_laws.MEMBER_HAS_A_ROW,
    shared_laws.ROW_HAS_A_PLACE,
)
