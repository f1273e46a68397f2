"""Odd but accepted: calls that no careful caller relies on, which the scripts accept, and what they leave behind.

One process makes them, one job's life after the other, in a queue that nobody else touches. It reads before and after
each odd call, so here all laws of the machine are judged, those of a step among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from visualizer.caller import Caller
from visualizer.keyspace import Keyspace
from visualizer.laws import judge
from visualizer.machine.bench import Bench
from visualizer.machine.leased import LEASED
from visualizer.model import Evidence, Observation, Performed, Step
from visualizer.observe import Observer
from visualizer.prove.counts import OddCount
from visualizer.prove.link import Link
from visualizer.prove.worker import HOUR_MS

JOB, GROUP = b"JOB0KHTOWnGLuC", b"PRT0KHTOfMv2X2"
# How often a reap is sent before a lease of a millisecond must have ended.
_REAPS = 200


class Call(Struct, frozen=True):
    """A verb about the one job, what it is given, and the outcome that it has."""

    do: str
    outcome: str
    given: Mapping[str, Any] = {}


class Odd(Struct, frozen=True):
    """An odd call: what leads to it, the call itself, and what it does, in a sentence."""

    name: str
    before: tuple[Call, ...]
    call: Call
    why: str


_ENQUEUE = Call("enqueue", "enqueued")
_CLAIM = Call("claim", "claimed", {"lease_ms": HOUR_MS})
_REAPED = (_ENQUEUE, Call("claim", "claimed", {"lease_ms": 1}), Call("reap", "reaped"))
_RETRIED = (_ENQUEUE, _CLAIM, Call("retry", "scheduled", {"token": 1, "delay_ms": HOUR_MS}))
_BURIED = (_ENQUEUE, _CLAIM, Call("retry", "dead", {"token": 1, "max_attempts": 1}))
_COMPLETE = Call("complete", "completed", {"token": 1})
_EXTEND = Call("extend_lock", "extended", {"token": 1, "lease_ms": HOUR_MS})
_DELAY = {"delay_ms": HOUR_MS}

ODD: tuple[Odd, ...] = (
    Odd(
        "complete a job nobody claimed, with token 0",
        (_ENQUEUE,),
        Call("complete", "completed", {"token": 0}),
        "A new row holds 0 attempts, and 0 matches: a job that never ran counts as completed. No law is broken.",
    ),
    Odd(
        "complete after a reap, before the next claim",
        _REAPED,
        _COMPLETE,
        "A reap leaves the token as it was: a late success counts, as long as nobody has claimed the job again. "
        "No law is broken.",
    ),
    Odd(
        "extend a lease after the reap",
        _REAPED,
        _EXTEND,
        "The token matches, so the id is put into active, and it stays in pending too.",
    ),
    Odd(
        "complete what was extended after the reap",
        (*_REAPED, _EXTEND),
        _COMPLETE,
        "Completion finds the id in active and looks no further: a member without a row stays in pending.",
    ),
    Odd(
        "extend the lease of a scheduled job",
        _RETRIED,
        _EXTEND,
        "The token matches, so the id is put into active, and it stays in schedule too.",
    ),
    Odd(
        "complete after a retry, with the same token",
        _RETRIED,
        _COMPLETE,
        "A retry leaves the token as it was; the row goes, and the id stays in schedule.",
    ),
    Odd(
        "complete a dead job",
        _BURIED,
        _COMPLETE,
        "Dying leaves the token as it was; the row goes, and the id stays in dead.",
    ),
    Odd(
        "retry a dead job with a higher cap",
        _BURIED,
        Call("retry", "scheduled", {"token": 1, "max_attempts": 5, "delay_ms": HOUR_MS}),
        "A retry takes the id out of active only: it is in schedule now, and in dead still.",
    ),
    Odd(
        "delay a waiting job with token 0",
        (_ENQUEUE,),
        Call("delay", "delayed", {"token": 0, **_DELAY}),
        "A delay takes the id out of active only: it is in schedule now, and in pending still.",
    ),
    Odd(
        "remove a job that waits in a lane",
        (Call("lane_enqueue", "enqueued", {"group": GROUP}),),
        Call("remove_job", "removed"),
        "Removal knows the four sets and no lanes: the row goes, and the id stays in its lane.",
    ),
)


class OddCaller:
    """Makes the odd calls one after the other, and counts which laws each of them breaks."""

    def __init__(self, link: Link, space: Keyspace) -> None:
        self._link = link
        self._space = space
        self._caller = Caller(link)
        self._observer = Observer(link, LEASED, space, [JOB])
        self._keys = (
            space.job(JOB),
            space.lane(GROUP),
            *(space.key(place.name) for place in LEASED.places),
            *(space.key(side.name) for side in LEASED.sides),
        )
        self._next = 0
        self._times: Counter[str] = Counter()
        self._accepted: Counter[str] = Counter()
        self._laws: dict[str, Counter[str]] = {odd.name: Counter() for odd in ODD}

    def turn(self) -> None:
        """One job's life, up to the odd call and the reading after it."""
        odd = ODD[self._next % len(ODD)]
        self._next += 1
        self._link.send("DEL", *self._keys)
        if not all(map(self._leads_on, odd.before)):
            return  # scripts that are not as their contract says: then there is no such call to make
        before = self._observer.read()
        performed = self._perform(odd.call)
        after = self._observer.read()
        self._times[odd.name] += 1
        self._accepted[odd.name] += performed.outcome.name == odd.call.outcome
        self._laws[odd.name].update(broken(before, after, odd.call.do, performed))

    def warm_up(self) -> None:
        """Loads the observer's script; what it reads is not counted."""
        self._observer.read()

    @property
    def counted(self) -> tuple[OddCount, ...]:
        return tuple(
            OddCount(odd.name, self._times[odd.name], self._accepted[odd.name], dict(self._laws[odd.name]))
            for odd in ODD
        )

    def _leads_on(self, call: Call) -> bool:
        """Whether a call that leads to the odd one did what it should; a reap is sent until the lease has ended."""
        for _ in range(_REAPS):
            if self._perform(call).outcome.name != call.outcome:
                return False
            if call.do != "reap" or "pending" in self._observer.read().memberships[JOB]:
                return True
        return False

    def _perform(self, call: Call) -> Performed:
        verb = LEASED.verbs[call.do]
        performed = verb.run(Bench(self._caller, self._space, Step(call.do, JOB, call.given, b"payload"), {}))
        self._caller.drain()
        return performed


def broken(before: Observation, after: Observation, did: str, performed: Performed) -> list[str]:
    """The names of the laws that a step on the one job breaks."""
    evidence = Evidence(before, after, before.homes(), after.homes(), did, JOB, performed)
    return [law.name for law in judge(LEASED, evidence) if not law.holds]
