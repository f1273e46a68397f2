"""Where each job of a leased queue should be, kept beside the real one by the contract's rules for lawful callers."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field

WAKE_TOKENS = 64
STATES = {"pending": b"pending", "active": b"active", "schedule": b"scheduled", "dead": b"dead"}


def lane_of(group: bytes) -> str:
    return f"g:{group.decode()}:pending"


@dataclass
class Job:
    """One job that has a row. ``over`` says that its time in ``active`` or ``schedule`` has come for certain."""

    id: bytes
    place: str
    attempts: int = 0
    group: bytes | None = None
    stalled: int = 0
    over: bool = False
    last_error: bytes | None = None
    holder: str = ""

    @property
    def row(self) -> dict[bytes, bytes]:
        """The fields of its row that a verb may change, as they should read."""
        fields = {b"state": STATES.get(self.place, b"pending"), b"attempts": b"%d" % self.attempts}
        if self.group is not None:
            fields[b"group"] = self.group
        if self.stalled:
            fields[b"stalled"] = b"%d" % self.stalled
        if self.last_error is not None:
            fields[b"last_error"] = self.last_error
        return fields


@dataclass
class ExpectedQueue:
    """All of the queue. Ids are minted in the order of their bytes, so the smallest waits in front."""

    jobs: dict[bytes, Job] = field(default_factory=dict)
    removed: set[bytes] = field(default_factory=set)
    paused: bool = False
    ring: list[bytes] = field(default_factory=list)
    wake: int = 0
    groups_paused: set[bytes] = field(default_factory=set)
    limits: dict[bytes, int] = field(default_factory=dict)
    in_flight: dict[bytes, int] = field(default_factory=dict)
    completed: int = 0
    failed: int = 0

    def copy(self) -> ExpectedQueue:
        return copy.deepcopy(self)

    def in_place(self, place: str) -> list[Job]:
        return sorted((job for job in self.jobs.values() if job.place == place), key=lambda job: job.id)

    # Verbs, each as its contract has it -------------------------------------------------------------------------------

    def admit(self, id: bytes, place: str, group: bytes | None = None, over: bool = False) -> None:
        self.jobs[id] = Job(id, place, group=group, over=over)
        if group is not None:
            self._give_turn(group, self.in_flight.get(group, 0))

    def claim(self, worker: str, size: int = 1) -> list[Job]:
        return [self._grant(job, worker) for job in self.in_place("pending")[:size]]

    def lane_claim(self, worker: str) -> list[Job]:
        if not self.ring:
            return []
        group = self.ring.pop(0)
        self.ring.append(group)
        waiting = self.in_place(lane_of(group))
        if not waiting:
            self._leave_ring(group)
            return []
        job = self._grant(waiting[0], worker)
        self.in_flight[group] = self.in_flight.get(group, 0) + 1
        if self._at_limit(group, self.in_flight[group]) or len(waiting) == 1:
            self._leave_ring(group)
        return [job]

    def complete(self, job: Job) -> None:
        self._settle(job)
        del self.jobs[job.id]
        self.completed += 1

    def retry(self, job: Job, max_attempts: int, error: bytes, over: bool) -> None:
        self._settle(job)
        job.last_error = error
        if job.attempts >= max_attempts:
            job.place = "dead"
            self.failed += 1
        else:
            job.place, job.over = "schedule", over

    def delay(self, job: Job, over: bool) -> None:
        job.place, job.over = "schedule", over

    def promote(self, due: Iterable[Job]) -> None:
        for job in due:
            self._line_up(job, self.in_flight.get(job.group or b"", 0))

    def reap(self, lapsed: Iterable[Job]) -> None:
        for job in lapsed:
            self._line_up(job, self._release(job.group) if job.group else 0)

    def sweep(self, lapsed: Iterable[Job], max_stalled: int) -> None:
        for job in lapsed:
            job.stalled += 1
            if job.group:
                self._release(job.group)
            if job.stalled >= max_stalled:
                job.place, job.last_error = "dead", b"stalled"
                self.failed += 1
            else:
                self._line_up(job, self.in_flight.get(job.group or b"", 0))

    def reprocess(self, job: Job) -> None:
        job.place, job.last_error = "pending", None

    def remove(self, job: Job) -> None:
        del self.jobs[job.id]
        self.removed.add(job.id)

    def lane_pause(self, group: bytes) -> None:
        self.groups_paused.add(group)
        self._leave_ring(group)

    def lane_resume(self, group: bytes) -> None:
        self.groups_paused.discard(group)
        if self.in_place(lane_of(group)):
            self._give_turn(group, self.in_flight.get(group, 0))

    def lane_limit(self, group: bytes, limit: int) -> None:
        self.limits[group] = limit
        running = self.in_flight.get(group, 0)
        if running >= limit:
            self._leave_ring(group)
        elif self.in_place(lane_of(group)):
            self._give_turn(group, running)

    # What they share --------------------------------------------------------------------------------------------------

    def _grant(self, job: Job, worker: str) -> Job:
        job.place, job.holder, job.over = "active", worker, False
        job.attempts += 1
        return job

    def _settle(self, job: Job) -> None:
        if job.group is not None:
            running = self._release(job.group)
            if self.in_place(lane_of(job.group)):
                self._give_turn(job.group, running)

    def _line_up(self, job: Job, running: int) -> None:
        job.place = "pending" if job.group is None else lane_of(job.group)
        if job.group is not None:
            self._give_turn(job.group, running)

    def _release(self, group: bytes) -> int:
        running = self.in_flight.get(group, 0) - 1
        if running > 0:
            self.in_flight[group] = running
        else:
            self.in_flight.pop(group, None)
        return running

    def _at_limit(self, group: bytes, running: int) -> bool:
        return group in self.limits and running >= self.limits[group]

    def _give_turn(self, group: bytes, running: int) -> None:
        if group in self.groups_paused or self._at_limit(group, running) or group in self.ring:
            return
        self.ring.append(group)
        self.wake = min(self.wake + 1, WAKE_TOKENS)

    def _leave_ring(self, group: bytes) -> None:
        if group in self.ring:
            self.ring.remove(group)
