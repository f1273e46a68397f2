"""A core queue on an engine, and beside it what its places, rows and locks should hold: compared after every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine

from tests.core_machine.core_walking import CORE, STEP_MS, walker_on
from tests.core_machine.expected_queue import ExpectedQueue, Job
from visualizer.engine import Engine
from visualizer.lesson_clock import START_MS
from visualizer.model import Frame, Observation, Step

COMPARED = (b"delay", b"priority", b"ats", b"atm", b"stc", b"defa")


class WatchedQueue(RuleBasedStateMachine):
    """`tick` lets the step's time pass in what is expected; `do` takes the step and compares. ``seen`` counts what
    happened, over all examples."""

    def __init__(self, engine: Engine, ids: Sequence[bytes], seen: Counter[str]) -> None:
        super().__init__()
        self.ids = ids
        self.seen = seen
        self.expected = ExpectedQueue(START_MS)
        self.frames = 0
        engine.clear_queue()
        # Nothing here goes back, and a reading with dumps takes half as long again.
        self.walker = walker_on(engine, *ids, keep_dumps=False)

    def tick(self) -> None:
        """A step's own time; where a key runs out in it, there will be a frame between steps."""
        ran_out = self.expected.passes(STEP_MS)
        self.frames += ran_out
        self.seen["something ran out just before a step"] += ran_out

    def do(
        self, verb: str, job: bytes | None = None, outcome: str = "", refused: str | None = None, /, **given: Any
    ) -> Frame:
        note(f"{self.frames} {verb} {job!r} {given}")
        frame = self.walker.take(Step(verb, job, given, b"{}")).frame
        assert frame is not None
        self.frames += 1
        assert (frame.outcome.name, frame.outcome.refused) == (outcome, refused)
        assert frame.number == self.frames, "nothing but the clock changed between two steps"
        assert [law.breaches for law in frame.laws if not law.holds] == []
        self.agree(frame.after)
        moved = " moved" if any(move.leaves or move.enters for move in frame.moves) else ""
        self.seen[f"{verb} {outcome}{moved}"] += 1
        self.seen[outcome] += 1
        return frame

    def agree(self, seen: Observation) -> None:
        expected = self.expected
        assert seen.clock_ms == expected.now
        assert seen.memberships == {id: (job.place,) if (job := expected.jobs.get(id)) else () for id in self.ids}
        for place in CORE.places:
            assert [member.id for member in seen.places[place.name].members] == expected.ids(place.name), place.name
        for id in self.ids:
            row, job = seen.rows[id], expected.jobs.get(id)
            told = None if row is None else {name: row.fields[name] for name in COMPARED if name in row.fields}
            assert told == (None if job is None else job.row)
        assert {id: lock.token for id, lock in seen.locks.items()} == expected.locks
        left = {id: lock.ttl_ms for id, lock in seen.locks.items()}
        left |= {name.encode(): lock.ttl_ms for name, lock in seen.side_locks.items()}
        assert left == {key: end - expected.now for key, end in expected.ends.items()}
        assert seen.sides.get("stalled", ()) == tuple(sorted(expected.marks))
        assert seen.sides.get("meta", {}).get(b"paused") == (b"1" if expected.is_paused else None)
        assert int(seen.sides.get("pc", b"0")) == expected.pc

    # Who may do what --------------------------------------------------------------------------------------------------

    @property
    def missing(self) -> list[bytes]:
        return [id for id in self.ids if id not in self.expected.jobs]

    @property
    def known(self) -> list[Job]:
        return list(self.expected.jobs.values())

    def in_place(self, *places: str) -> list[Job]:
        return [job for job in self.known if job.place in places]

    @property
    def held(self) -> list[Job]:
        """Jobs with a worker whose lock runs."""
        return [job for job in self.in_place("active") if job.id in self.expected.locks]

    @property
    def lost(self) -> list[Job]:
        """Active jobs whose lock has run out."""
        return [job for job in self.in_place("active") if job.id not in self.expected.locks]
