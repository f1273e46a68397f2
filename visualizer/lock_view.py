"""The lock of an active job and the actors around it, as a front end draws them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from visualizer.actors import SWEEP, acting
from visualizer.clock import duration
from visualizer.model import Frame, Lock, Machine, Observation


class LockView(Struct, frozen=True):
    """A running job's lock: by which token it is held (None: it has no lock), and how much of what it was taken for is
    left. Milliseconds; ``left_ms`` is -1 where it has no end."""

    id: bytes
    token: bytes | None
    left_ms: int = 0
    of_ms: int = 0


class ActorView(Struct, frozen=True):
    """One line about who acts by itself: ``renew`` or ``sweep``, and what it does."""

    name: str
    told: str
    acts: bool


def locks_of(machine: Machine, seen: Observation, frames: Sequence[Frame]) -> tuple[LockView, ...]:
    """The running jobs and their locks, that of the last step's own job first. None where jobs run without a lock.

    ``of_ms`` is what a lock had left when it was taken or renewed.
    """
    if machine.locking is None:
        return ()
    views = []
    for member in seen.places[machine.locking.place].members:
        lock = seen.locks.get(member.id)
        if lock is None:
            views.append(LockView(member.id, None))
        else:
            views.append(LockView(member.id, lock.token, lock.ttl_ms, _taken_for(member.id, lock, frames)))
    own = frames[-1].step.id if frames and frames[-1].step else None
    return tuple(sorted(views, key=lambda view: view.id != own))


def _taken_for(job: bytes, lock: Lock, frames: Sequence[Frame]) -> int:
    """What a lock had left in the first reading that shows it as it is now, in ms."""
    of_ms = lock.ttl_ms
    for frame in reversed(frames):
        for seen in (frame.after, frame.before):
            was = seen.locks.get(job)
            if was is None or (was.token, was.expires_at_ms) != (lock.token, lock.expires_at_ms):
                return of_ms
            of_ms = was.ttl_ms
    return of_ms


def actors_of(machine: Machine, seen: Observation, frames: Sequence[Frame]) -> tuple[ActorView, ...]:
    """A line for each worker's heartbeat and one for the sweep, whether they act or not; none where there are no such
    actors."""
    locking = machine.locking
    if locking is None:
        return ()
    actors = acting(locking, frames)
    hearts = [actor for name, actor in actors.items() if name != SWEEP]
    views = [
        ActorView(
            "renew",
            f"{actor.worker}, {_seconds(actor.every_ms)}: in {duration(actor.next_ms - seen.clock_ms)}",
            True,
        )
        for actor in hearts
    ]
    if not hearts:
        views.append(ActorView("renew", f"every {_seconds(locking.renew_ms)} · off", False))
    sweep = actors.get(SWEEP)
    if sweep is None:
        views.append(ActorView("sweep", f"every {_seconds(locking.sweep_ms)} · by hand", False))
    else:
        views.append(
            ActorView("sweep", f"{_seconds(sweep.every_ms)}: in {duration(sweep.next_ms - seen.clock_ms)}", True)
        )
    return tuple(views)


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"
