"""The lock of an active job and the actors around it, as a front end draws them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from visualizer.actors import HEARTBEAT_MS, LOCK_MS, SWEEP, SWEEP_MS, acting
from visualizer.clock import duration
from visualizer.model import Frame, Observation


class LockView(Struct, frozen=True):
    """One lock: who holds it by which token, and how much of what it was taken for is left. Milliseconds."""

    id: bytes
    token: bytes
    left_ms: int
    of_ms: int


class ActorView(Struct, frozen=True):
    """One line about who acts by itself: ``renew`` or ``sweep``, and what it does."""

    name: str
    told: str
    acts: bool


def locks_of(seen: Observation, frames: Sequence[Frame]) -> tuple[LockView, ...]:
    """The locks of the jobs in active; ``of_ms`` is the lockDuration of the call that took or renewed each."""
    views = []
    for member in seen.places["active"].members:
        lock = seen.locks.get(member.id)
        if lock is not None:
            views.append(LockView(member.id, lock.token, lock.ttl_ms, _duration_of(member.id, frames)))
    return tuple(views)


def _duration_of(job: bytes, frames: Sequence[Frame]) -> int:
    for frame in reversed(frames):
        granted = any(grant.id == job for grant in frame.performed.grants)
        renewed = frame.step is not None and frame.step.do == "extendLock" and frame.step.id == job
        if frame.step is not None and (granted or renewed):
            return int(frame.step.given.get("lock_ms", LOCK_MS))
    return LOCK_MS


def actors_of(seen: Observation, frames: Sequence[Frame]) -> tuple[ActorView, ...]:
    """A line for each worker's heartbeat and one for the sweep, whether they act or not."""
    actors = acting(frames)
    hearts = [actor for name, actor in actors.items() if name != SWEEP]
    views = [
        ActorView(
            "renew",
            f"{actor.worker} every {_seconds(actor.every_ms)} · in {duration(actor.next_ms - seen.clock_ms)}",
            True,
        )
        for actor in hearts
    ]
    if not hearts:
        views.append(ActorView("renew", f"every {_seconds(HEARTBEAT_MS)} · off", False))
    sweep = actors.get(SWEEP)
    if sweep is None:
        views.append(ActorView("sweep", f"every {_seconds(SWEEP_MS)} · by hand", False))
    else:
        views.append(
            ActorView("sweep", f"every {_seconds(sweep.every_ms)} · in {duration(sweep.next_ms - seen.clock_ms)}", True)
        )
    return tuple(views)


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"
