"""What the core machine has to say about locks: who holds one, what is left of it, and what a sweep makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile

from visualizer.clock import duration
from visualizer.model import Frame, Step
from visualizer.visible import short_id, visible

# How many ids a sentence names.
SHOWN = 3
# A step that the path or the learner takes, beside what acts by itself meanwhile.
_TAKEN_BY_HAND = ("", "you")
_TIME = "time"


def explain_locks(frame: Frame, earlier: Sequence[Frame]) -> Iterator[str]:
    """Sentences about this frame's locks, marks and actors, the most telling first."""
    yield from _mismatch(frame, earlier)
    yield from _sweep(frame)
    yield from _meanwhile(frame, earlier)
    yield from _renewed(frame)
    yield from _running(frame)


def _mismatch(frame: Frame, earlier: Sequence[Frame]) -> Iterator[str]:
    if frame.outcome.refused not in ("-6", "0") or frame.step is None or frame.step.id is None:
        return
    lock = frame.before.locks.get(frame.step.id)
    if lock is None:
        if frame.outcome.refused == "0":
            yield "There is no lock any more: whoever asks has lost the job."
        return
    whose = next(
        (grant.worker for past in reversed(earlier) for grant in past.performed.grants if grant.token == lock.token), ""
    )
    of = f", the token of {visible(whose, 20)}" if whose else ""
    yield f"The lock holds {visible(lock.token, 24)}{of}."


def _sweep(frame: Frame) -> Iterator[str]:
    if frame.step is None or frame.step.do != "moveStalledJobsToWait":
        return
    if "stalled-check" in frame.before.side_locks:
        left = duration(frame.before.side_locks["stalled-check"].ttl_ms)
        yield f"A sweep has run within the interval, {left} of it are left: this one did nothing."
        return
    limit = int(frame.calls[-1].args[0]) if frame.calls else 0
    for move in frame.moves:
        changes = {change.field: change for change in move.row}
        if b"stc" in changes:
            stalls = visible(changes[b"stc"].after or b"", 12)
            yield (
                f"{short_id(move.id)} has stalled {_times(stalls)}, {limit} allowed. The limit is a count, not a time."
            )
        if b"defa" in changes:
            yield (
                "It is over the limit. The sweep writes no failed: it leaves the failure in defa for the worker that "
                "fetches the job next."
            )
    active = {member.id for member in frame.after.places["active"].members}
    kept = [job for job in _marked(frame.before.sides) if job in active and job in frame.before.locks]
    if kept:
        yield f"Marked before, and left in active since it is locked: {_listed(kept)}."
    marked = _marked(frame.after.sides)
    if marked:
        yield f"Marked now: {_listed(marked)}. A mark means nothing until the next sweep finds it without a lock."
    else:
        yield "Nothing is active any more, so nothing is marked."


def _marked(sides: object) -> tuple[bytes, ...]:
    marked = sides.get("stalled") if isinstance(sides, dict) else None
    return marked if isinstance(marked, tuple) else ()


def _meanwhile(frame: Frame, earlier: Sequence[Frame]) -> Iterator[str]:
    """What acted by itself since the last step: a step of time shows only what is left of it after the last act."""
    if frame.kind != "wait" or frame.step is None or frame.step.actor not in _TAKEN_BY_HAND:
        return
    since = [*takewhile(lambda past: _by_itself(past.step), reversed(earlier))][::-1]
    beats = [actor for actor, _ in groupby(past.step.actor for past in since if past.step) if actor != _TIME]
    if not beats:
        return
    told = " and ".join(f"the {actor} came {_times(str(beats.count(actor)))}" for actor in dict.fromkeys(beats))
    yield f"Meanwhile {told}: ← shows each."
    for past in since:
        actor = past.step.actor if past.step else ""
        if past.outcome.refused == "0" and past.step is not None and past.step.id is not None:
            yield f"The {actor} came too late for {short_id(past.step.id)}."
        for move in past.moves:
            if move.leaves and move.enters:
                yield f"The {actor} took {short_id(move.id)} from {move.leaves[0]} to {move.enters[0]}."


def _by_itself(step: Step | None) -> bool:
    """Whether an actor took that step; what changed between two steps counts as well."""
    return step is None or step.actor not in _TAKEN_BY_HAND


def _renewed(frame: Frame) -> Iterator[str]:
    if frame.step is None or frame.step.do != "extendLocks":
        return
    fresh = [move for move in frame.moves if move.lock_before and move.lock_after]
    if fresh and fresh[0].lock_after:
        left = duration(fresh[0].lock_after.ttl_ms)
        yield f"Renewed for {left}: {_listed([move.id for move in fresh])}."


def _running(frame: Frame) -> Iterator[str]:
    """What is left of the locks of active jobs, while time passes."""
    if frame.kind != "wait":
        return
    for member in frame.after.places["active"].members[:SHOWN]:
        job, lock = short_id(member.id), frame.after.locks.get(member.id)
        if lock is not None and lock.ttl_ms >= 0:
            yield f"The lock of {job} has {duration(lock.ttl_ms)} left."
        elif lock is None and member.id in frame.before.locks:
            yield f"The lock of {job} has run out, and nothing moves by itself: it waits for a sweep."
        elif lock is None:
            yield f"{job} is in active without a lock: it waits for a sweep."


def _times(count: str) -> str:
    return {"1": "once", "2": "twice"}.get(count, f"{count} times")


def _listed(jobs: Sequence[bytes]) -> str:
    more = f" and {len(jobs) - SHOWN} more" if len(jobs) > SHOWN else ""
    return ", ".join(short_id(job) for job in jobs[:SHOWN]) + more
