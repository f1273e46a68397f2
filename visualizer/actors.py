"""Who acts by itself while a lesson's clock runs: heartbeats and the stalled sweep, each a frame of its own.

Which actors there are, and when each acts next, follows from the frames alone. They act while time passes; what was due
before acts first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from visualizer.model import Frame, Locking, Machine, Observation, Outcome, Parameter, Performed, Step, Walk
from visualizer.steps import NamedStep, Stage

SWEEP = "sweep"
# More than any lesson lets act in one step: an end, whatever a lesson says.
_MOST_ACTS = 1_000

_WORKER = Parameter("worker", "text", "whose heartbeat", default="w1")
_EVERY = Parameter("every_ms", "duration_ms", "how often; without it, as often as its machine's workers do", minimum=1)
_LOCK = Parameter("lock_ms", "duration_ms", "lockDuration; without it, the machine's own", minimum=1)


class Actor(Struct, frozen=True):
    """One that acts by itself. ``worker`` is empty for the sweep; ``next_ms`` is when it acts next."""

    name: str
    worker: str
    every_ms: int
    next_ms: int
    lock_ms: int = 0


def acting(locking: Locking, frames: Sequence[Frame]) -> dict[str, Actor]:
    """The actors after these frames, by name, in the order in which they began."""
    actors: dict[str, Actor] = {}
    for frame in frames:
        step = frame.step
        if step is None:
            continue
        worker = str(_taken(step, _WORKER, ""))
        heart = f"heartbeat of {worker}"
        now_ms = frame.after.clock_ms
        if step.do == "heartbeat_starts":
            every_ms = _taken(step, _EVERY, locking.renew_ms)
            actors[heart] = Actor(heart, worker, every_ms, now_ms + every_ms, _taken(step, _LOCK, locking.lock_ms))
        elif step.do in ("heartbeat_stops", "kill_worker"):
            actors.pop(heart, None)
        elif step.do == "sweeps_start":
            every_ms = _taken(step, _EVERY, locking.sweep_ms)
            actors[SWEEP] = Actor(SWEEP, "", every_ms, now_ms + every_ms)
        elif step.do == "sweeps_stop":
            actors.pop(SWEEP, None)
        elif step.actor in actors:
            # Counted from now: a heartbeat of several jobs is several frames, and one beat.
            actors[step.actor] = replace(actors[step.actor], next_ms=now_ms + actors[step.actor].every_ms)
    return actors


def _taken(step: Step, parameter: Parameter, otherwise: Any) -> Any:
    given = step.given.get(parameter.name, parameter.default)
    return otherwise if given is None else given


def let_pass(
    step: Step, machine: Machine, walk: Callable[[], Walk], now_ms: Callable[[], int], take: Callable[[Step], Walk]
) -> Walk:
    """Takes a ``time_passes`` step; actors whose moment comes meanwhile act first, in the order of their moments and,
    where these are the same, in the order in which they began."""
    locking = machine.locking
    target_ms = now_ms() + int(step.given["ms"])
    for _ in range(_MOST_ACTS if locking else 0):
        assert locking is not None
        due = min(acting(locking, walk().frames).values(), key=lambda actor: actor.next_ms, default=None)
        if due is None or due.next_ms > target_ms:
            break
        wait_ms = due.next_ms - now_ms()
        if wait_ms > 0:
            take(Step("time_passes", given={"ms": wait_ms}, label="time", actor="time"))
            if walk().frames[-1].outcome.name == "interrupted":
                break
        for act in _acts(locking, due, walk()):
            take(act)
    left_ms = max(target_ms - now_ms(), 0)
    return take(replace(step, given={**step.given, "ms": left_ms}))


def _acts(locking: Locking, actor: Actor, walk: Walk) -> Iterator[Step]:
    if not actor.worker:
        yield Step(locking.sweeps, given={"interval_ms": actor.every_ms}, label="sweep", actor=actor.name)
        return
    seen = walk.frames[-1].after if walk.frames else walk.opening
    held = list(_held_by(locking, actor.worker, walk, seen))
    for job in held:
        given = {"token": actor.worker, "lock_ms": actor.lock_ms}
        yield Step(locking.renews, job, given, label="heartbeat", actor=actor.name)
    if not held:
        yield Step("heartbeat_finds_nothing", label="heartbeat", given={"worker": actor.worker}, actor=actor.name)


def _held_by(locking: Locking, worker: str, walk: Walk, seen: Observation) -> Iterator[bytes]:
    """The running jobs for which the worker believes it holds the lock: its last fetch of them."""
    last: dict[bytes, str] = {}
    for frame in walk.frames:
        for grant in frame.performed.grants:
            last[grant.id] = grant.worker
    for member in seen.places[locking.place].members:
        if last.get(member.id) == worker:
            yield member.id


def _told(note: str) -> Callable[[Stage], Performed]:
    def run(at: Stage) -> Performed:
        return Performed(Outcome(at.step.do, note=note.format(worker=_taken(at.step, _WORKER, ""))), kind="fault")

    return run


ACTOR_STEPS: dict[str, NamedStep] = {
    name: NamedStep(
        name,
        sentence,
        "fault",
        parameters,
        (name,),
        False,
        _told(note),
        fits=lambda machine: machine.own_clock and machine.locking is not None,
    )
    for name, sentence, parameters, note in (
        (
            "heartbeat_starts",
            "A worker begins to renew its locks by itself.",
            (_WORKER, _EVERY, _LOCK),
            "the heartbeat of {worker} runs from now on",
        ),
        ("heartbeat_stops", "A worker renews its locks no more.", (_WORKER,), "the heartbeat of {worker} runs no more"),
        (
            "heartbeat_finds_nothing",
            "A heartbeat with no lock to renew.",
            (_WORKER,),
            "the heartbeat of {worker} finds no job to renew",
        ),
        ("sweeps_start", "The stalled sweep begins to run by itself.", (_EVERY,), "the sweep runs from now on"),
        ("sweeps_stop", "The stalled sweep runs no more.", (), "the sweep runs no more"),
    )
}
