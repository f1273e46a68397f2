"""A leased queue on an engine, and beside it the places and rows that it should hold: compared after every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine

from tests.machine.expected_queue import ExpectedQueue, Job
from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.machine import MACHINES
from visualizer.model import Frame, Observation, Step
from visualizer.walk import Walker

LEASED = MACHINES["leased"]


class WatchedQueue(RuleBasedStateMachine):
    """``do`` takes a step and compares. ``snapshots[n]`` is what was expected after the n-th frame.

    ``seen`` counts what happened, over all examples.
    """

    def __init__(self, engine: Engine, ids: Sequence[bytes], groups: Sequence[bytes], seen: Counter[str]) -> None:
        super().__init__()
        self.ids = ids
        self.seen = seen
        self.expected = ExpectedQueue()
        self.snapshots = [self.expected.copy()]
        engine.clear_queue()
        self.walker = Walker(engine, LEASED, Keyspace(engine.queue, LEASED.row_prefix), ids, groups=groups)

    # Taking a step and comparing --------------------------------------------------------------------------------------

    def do(
        self, verb: str, job: bytes | None = None, outcome: str = "", refused: str | None = None, /, **given: Any
    ) -> Frame:
        note(f"{len(self.snapshots)} {verb} {job!r} {given}")
        frame = self.walker.take(Step(verb, job, given, b"payload")).frame
        assert frame is not None
        assert (frame.outcome.name, frame.outcome.refused) == (outcome, refused)
        assert frame.number == len(self.snapshots), "nothing changed between two steps"
        assert [law.breaches for law in frame.laws if not law.holds] == []
        self.agree(frame.after)
        self.snapshots.append(self.expected.copy())
        moved = " moved" if any(move.leaves or move.enters for move in frame.moves) else ""
        self.seen[f"{verb} {outcome}{moved}"] += 1
        return frame

    def agree(self, seen: Observation) -> None:
        expected = self.expected
        places = {id: (job.place,) for id, job in expected.jobs.items()}
        assert seen.memberships == {id: places.get(id, ()) for id in self.ids}
        for id in self.ids:
            row, job = seen.rows[id], expected.jobs.get(id)
            told = None if row is None else {f: v for f, v in row.fields.items() if f not in (b"payload", b"progress")}
            assert told == (None if job is None else job.row)
        sides: dict[str, Any] = {
            "ring": tuple(expected.ring),
            "wake": (b"1",) * expected.wake,
            "paused": tuple(sorted(expected.groups_paused)),
            "glimit": {group: b"%d" % limit for group, limit in expected.limits.items()},
            "gactive": {group: b"%d" % running for group, running in expected.in_flight.items()},
            "meta": {b"paused": b"1"} if expected.paused else {},
            "metrics:completed": {b"count": b"%d" % expected.completed} if expected.completed else {},
            "metrics:failed": {b"count": b"%d" % expected.failed} if expected.failed else {},
        }
        assert seen.sides == {name: held for name, held in sides.items() if held}

    # Who may do what --------------------------------------------------------------------------------------------------

    @property
    def unborn(self) -> list[bytes]:
        """Ids that a lawful caller may enqueue: with no row, and never removed."""
        return [id for id in self.ids if id not in self.expected.jobs and id not in self.expected.removed]

    @property
    def missing(self) -> list[bytes]:
        return [id for id in self.ids if id not in self.expected.jobs]

    @property
    def known(self) -> list[Job]:
        return list(self.expected.jobs.values())

    @property
    def held(self) -> list[Job]:
        """Jobs with a worker whose lease runs."""
        return [job for job in self.expected.in_place("active") if not job.over]

    def in_turn(self, place: str) -> list[Job]:
        """The jobs whose time in that place has come, in the order of their scores."""
        seen = self.walker.walk.shown
        over = [job for job in self.expected.in_place(place) if job.over]
        return sorted(over, key=lambda job: (seen.score(place, job.id) or 0, job.id))
