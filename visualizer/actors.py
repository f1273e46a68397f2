"""Who acts by itself while a lesson's clock runs: heartbeats and the stalled sweep, each a frame of its own.

Which actors there are, and when each acts next, follows from the frames alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from visualizer.model import Frame, Observation, Outcome, Parameter, Performed, Step, Walk
from visualizer.steps import NamedStep, Stage

# lockRenewTime, stalledInterval and lockDuration (core contract, section 4).
HEARTBEAT_MS, SWEEP_MS, LOCK_MS = 15_000, 30_000, 30_000
SWEEP = "sweep"

_WORKER = Parameter("worker", "text", "whose heartbeat", default="w1")
_EVERY = Parameter("every_ms", "duration_ms", "how often", default=HEARTBEAT_MS, minimum=1)
_LOCK = Parameter("lock_ms", "duration_ms", "lockDuration", default=LOCK_MS, minimum=1)
_SWEEP_EVERY = Parameter("every_ms", "duration_ms", "how often", default=SWEEP_MS, minimum=1)


class Actor(Struct, frozen=True):
    """One that acts by itself. ``worker`` is empty for the sweep; ``next_ms`` is when it acts next."""

    name: str
    worker: str
    every_ms: int
    next_ms: int
    lock_ms: int = LOCK_MS


def acting(frames: Sequence[Frame]) -> dict[str, Actor]:
    """The actors after these frames, by name."""
    actors: dict[str, Actor] = {}
    for frame in frames:
        step = frame.step
        if step is None:
            continue
        worker = str(step.given.get("worker", "w1"))
        heart = f"heartbeat of {worker}"
        now_ms = frame.after.clock_ms
        if step.do == "heartbeat_starts":
            every_ms = int(step.given.get("every_ms", HEARTBEAT_MS))
            lock_ms = int(step.given.get("lock_ms", LOCK_MS))
            actors[heart] = Actor(heart, worker, every_ms, now_ms + every_ms, lock_ms)
        elif step.do in ("heartbeat_stops", "kill_worker"):
            actors.pop(heart, None)
        elif step.do == "sweeps_start":
            every_ms = int(step.given.get("every_ms", SWEEP_MS))
            actors[SWEEP] = Actor(SWEEP, "", every_ms, now_ms + every_ms)
        elif step.do == "sweeps_stop":
            actors.pop(SWEEP, None)
        elif step.actor in actors:
            actor = actors[step.actor]
            actors[step.actor] = replace(actor, next_ms=max(actor.next_ms, now_ms - now_ms % 10) + actor.every_ms)
    return actors


def let_pass(step: Step, walk: Callable[[], Walk], now_ms: Callable[[], int], take: Callable[[Step], Walk]) -> Walk:
    """Takes a ``time_passes`` step; actors whose moment comes meanwhile act first, in the order of their moments."""
    target_ms = now_ms() + int(step.given["ms"])
    for _ in range(1_000):  # more than any lesson lets pass: an end, whatever a lesson says
        due = min(acting(walk().frames).values(), key=lambda actor: actor.next_ms, default=None)
        if due is None or due.next_ms > target_ms:
            break
        if due.next_ms > now_ms():
            take(Step("time_passes", given={"ms": due.next_ms - now_ms()}, label="time", actor="time"))
        for act in _acts(due, walk()):
            take(act)
    left_ms = max(target_ms - now_ms(), 0)
    return take(replace(step, given={**step.given, "ms": left_ms}))


def _acts(actor: Actor, walk: Walk) -> Iterator[Step]:
    if not actor.worker:
        yield Step("moveStalledJobsToWait", given={"interval_ms": actor.every_ms}, label="sweep", actor=actor.name)
        return
    seen = walk.frames[-1].after if walk.frames else walk.opening
    held = list(_held_by(actor.worker, walk, seen))
    for job in held:
        given = {"token": actor.worker, "lock_ms": actor.lock_ms}
        yield Step("extendLock", job, given, label="heartbeat", actor=actor.name)
    if not held:
        yield Step("heartbeat_finds_nothing", label="heartbeat", given={"worker": actor.worker}, actor=actor.name)


def _held_by(worker: str, walk: Walk, seen: Observation) -> Iterator[bytes]:
    """The jobs in active for which the worker believes it holds the lock: its last fetch of them."""
    last: dict[bytes, str] = {}
    for frame in walk.frames:
        for grant in frame.performed.grants:
            last[grant.id] = grant.worker
    for member in seen.places["active"].members:
        if last.get(member.id) == worker:
            yield member.id


def _told(note: str) -> Callable[[Stage], Performed]:
    def run(at: Stage) -> Performed:
        worker = at.step.given.get("worker", "w1")
        return Performed(Outcome(at.step.do, note=note.format(worker=worker)), kind="fault")

    return run


ACTOR_STEPS: dict[str, NamedStep] = {
    name: NamedStep(name, sentence, "fault", parameters, (name,), False, _told(note))
    for name, sentence, parameters, note in (
        (
            "heartbeat_starts",
            "A worker begins to renew its locks by itself.",
            (_WORKER, _EVERY, _LOCK),
            "{worker} renews its locks from now on",
        ),
        ("heartbeat_stops", "A worker renews its locks no more.", (_WORKER,), "{worker} renews its locks no more"),
        (
            "heartbeat_finds_nothing",
            "A heartbeat with no lock to renew.",
            (_WORKER,),
            "the heartbeat of {worker} finds no job to renew",
        ),
        ("sweeps_start", "The stalled sweep begins to run by itself.", (_SWEEP_EVERY,), "the sweep runs from now on"),
        ("sweeps_stop", "The stalled sweep runs no more.", (), "the sweep runs no more"),
    )
}
