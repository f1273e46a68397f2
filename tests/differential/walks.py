"""Seeded random walks of a whole queue: each next step is drawn from what the reference holds after the last.

A job is mostly one that the step can succeed on, a token mostly the right one; the rest are the refusals. Steps that a
feature of `left_out` would answer are not drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.differential.calls import (
    RULES,
    TOKEN,
    Parent,
    Step,
    add,
    add_delayed,
    add_parent,
    add_prioritized,
    complete,
    concurrency,
    delay,
    expire_lock,
    extend,
    extend_all,
    fail,
    give_back,
    next_interval,
    park,
    pause,
    promote,
    release,
    reprocess,
    resume,
    retry,
    state,
    sweep,
    take,
)
from tests.differential.record import Taken
from tests.differential.side import Side, State

LENGTH = 120
CUSTOM = tuple(f"c{number}" for number in range(7))
FIELDS = {"failedReason": "boom", "stacktrace": '["line 1"]'}

# How often each step is drawn, and by how many milliseconds time goes on before a step.
MIXED: Mapping[str, int] = {
    "add": 10,
    "add_delayed": 7,
    "add_prioritized": 7,
    "add_parent": 4,
    "add_child": 8,
    "take": 30,
    "complete": 12,
    "fail": 7,
    "delay": 6,
    "retry": 6,
    "park": 5,
    "give_back": 4,
    "sweep": 5,
    "expire": 2,
    "interval": 4,
    "extend": 3,
    "extend_all": 1,
    "release": 1,
    "pause": 1,
    "resume": 3,
    "promote": 4,
    "reprocess": 4,
    "state": 2,
    "concurrency": 1,
}
STALLS = {**MIXED, "complete": 4, "fail": 3, "sweep": 18, "expire": 12, "interval": 14, "extend": 8, "pause": 2}
PROFILES: Mapping[str, tuple[Mapping[str, int], tuple[int, ...]]] = {
    "mixed": (MIXED, (0, 1, 1, 5, 20, 400)),
    "same millisecond": ({**MIXED, "add_delayed": 20, "delay": 14, "promote": 8}, (0, 0, 0, 0, 0, 0, 0, 1)),
    "stalls": (STALLS, (0, 1, 5, 20)),
}


def record_walk(reference: Side, profile: str, seed: int) -> list[Taken]:
    """The walk of that profile and seed; the same on every machine."""
    reference.put({})
    walker = _Walker(profile, seed)
    walk: list[Taken] = []
    held: State = {}
    while len(walk) < LENGTH:
        step = walker.step(held)
        seen = reference.run(step)
        walk.append(Taken(step, seen))
        held = seen.state
    return walk


class _Walker:
    """Draws steps. ``held`` is what the queue held when the step is drawn."""

    def __init__(self, profile: str, seed: int) -> None:
        self._draw = Random(f"{profile} {seed}")
        weights, self._passing = PROFILES[profile]
        self._kinds, self._weights = list(weights), list(weights.values())
        self._at = 0
        self._held: State = {}

    def step(self, held: State) -> Step:
        self._held = held
        self._at += self._draw.choice(self._passing)
        (kind,) = self._draw.choices(self._kinds, self._weights)
        drawn: Step = getattr(self, f"_{kind}")()
        return drawn

    # What the queue holds ---------------------------------------------------------------------------------------------

    def _members(self, place: str) -> list[str]:
        held = self._held.get(place)
        if held is None:
            return []
        return [(member if isinstance(member, bytes) else member[0]).decode() for member in held.value]

    def _rows(self) -> list[str]:
        return [name for name, held in self._held.items() if held.kind == "hash" and b"name" in held.value]

    def _fields(self, job: str) -> Mapping[bytes, bytes]:
        return self._held[job].value if job in self._rows() else {}

    def _job(self, *places: str) -> str:
        """Mostly a job of one of the places, else any that has a row, or nobody."""
        members = [member for place in places for member in self._members(place)]
        if members and self._chance(85):
            return self._draw.choice(members)
        return self._draw.choice([*self._rows(), "nobody"])

    def _held_job(self) -> str:
        """Mostly a job that a worker holds by a lock."""
        locked = [job for job in self._members("active") if f"{job}:lock" in self._held]
        return self._draw.choice(locked) if locked and self._chance(75) else self._job("active")

    def _token(self, job: str) -> str:
        """Mostly the token that the job's lock holds."""
        lock = self._held.get(f"{job}:lock")
        right = lock.value.decode() if lock else TOKEN
        return self._draw.choices((right, "w9:9", "0"), (80, 10, 10))[0]

    def _chance(self, percent: int) -> bool:
        return self._draw.random() * 100 < percent

    # Adding -----------------------------------------------------------------------------------------------------------

    def _new(self) -> str:
        return self._draw.choice(CUSTOM) if self._chance(40) else ""

    def _add(self) -> Step:
        options: dict[str, Any] = {"attempts": 3} if self._chance(80) else {}
        if self._chance(15):
            options["lifo"] = True
        return add(self._new(), self._at, options=options)

    def _add_delayed(self) -> Step:
        priority = self._priority() if self._chance(20) else 0
        return add_delayed(self._new(), self._draw.choice((0, 1, 1, 5, 5, 30, 500)), self._at, priority=priority)

    def _add_prioritized(self) -> Step:
        return add_prioritized(self._new(), self._priority(), self._at)

    def _add_parent(self) -> Step:
        more: dict[str, Any] = {"delay": self._draw.choice((5, 40))} if self._chance(25) else {}
        if self._chance(25):
            more["priority"] = self._priority()
        return add_parent(self._new(), self._at, **more)

    def _add_child(self) -> Step:
        parent = self._job("waiting-children", "active", "delayed")
        job = self._new()
        # An id again under the parent that it has, or where it has none, is left out.
        if self._fields(job) and self._fields(job).get(b"parentKey", b"").decode() in ("", f"emq:{{cm}}:{parent}"):
            job = ""
        named = Parent(parent, self._draw.choice([(), *((rule,) for rule in RULES)]))
        kind = self._draw.choice((add, add, add_delayed, add_prioritized, add_parent))
        return kind(job, at=self._at, parent=named)

    def _priority(self) -> int:
        return self._draw.choice((1, 2, 2, 7))

    # A worker ---------------------------------------------------------------------------------------------------------

    def _take(self) -> Step:
        token = "0" if self._chance(5) else f"w{self._draw.randint(1, 4)}:1"
        return take(token, self._at)

    def _complete(self) -> Step:
        return self._end(complete)

    def _fail(self) -> Step:
        return self._end(fail)

    def _end(self, end: Callable[..., Step]) -> Step:
        job = self._held_job()
        more: dict[str, Any] = {"fields": FIELDS} if self._chance(30) else {}
        if self._chance(15):
            more["keep"] = 0
        return end(job, self._token(job), self._at, fetch=self._chance(40), **more)

    def _delay(self) -> Step:
        job = self._held_job()
        fields = FIELDS if self._chance(50) else None
        return delay(
            job, self._token(job), self._at, self._draw.choice((0, 1, 5, 5, 30, 500)), self._chance(20), fields
        )

    def _retry(self) -> Step:
        job = self._held_job()
        push = self._draw.choice(("LPUSH", "RPUSH"))
        return retry(job, self._token(job), self._at, push, FIELDS if self._chance(50) else None)

    def _park(self) -> Step:
        parents = [job for job in self._members("active") if f"{job}:dependencies" in self._held]
        job = self._draw.choice(parents) if parents else self._held_job()
        return park(job, self._token(job), self._at)

    def _give_back(self) -> Step:
        job = self._held_job()
        return give_back(job, self._token(job))

    # Locks and the sweep ----------------------------------------------------------------------------------------------

    def _sweep(self) -> Step:
        return sweep(self._at, self._draw.choice((0, 1, 1, 2)))

    def _expire(self) -> Step:
        return expire_lock(self._held_job())

    def _interval(self) -> Step:
        return next_interval()

    def _extend(self) -> Step:
        job = self._held_job()
        return extend(job, self._token(job), self._draw.choice((30_000, 60_000)))

    def _extend_all(self) -> Step:
        jobs = [self._held_job() for _ in range(self._draw.randint(0, 3))]
        return extend_all([(job, self._token(job)) for job in jobs], 60_000)

    def _release(self) -> Step:
        job = self._held_job()
        return release(job, self._token(job))

    # An operator ------------------------------------------------------------------------------------------------------

    def _pause(self) -> Step:
        return pause()

    def _resume(self) -> Step:
        return resume()

    def _promote(self) -> Step:
        return promote(self._job("delayed"))

    def _reprocess(self) -> Step:
        ending = self._draw.choice(("failed", "completed"))
        job = self._job(ending)
        if b"parentKey" in self._fields(job):  # a child that runs again is left out
            return state(job)
        push = self._draw.choice(("LPUSH", "RPUSH"))
        return reprocess(job, ending, push, self._chance(30), self._chance(30))

    def _state(self) -> Step:
        return state(self._draw.choice([*self._rows(), "nobody"]))

    def _concurrency(self) -> Step:
        return concurrency(self._draw.choice((None, None, 1, 3)))
