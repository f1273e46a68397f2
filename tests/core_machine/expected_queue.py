"""Where each job of a core queue should be, kept beside the real one by the contract's rules for lawful workers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

DEFERRED = b"job stalled more than allowable limit"


@dataclass
class Job:
    """One job. The counters are the row's: attempts started and made, stalls; ``defa`` is a deferred failure."""

    id: bytes
    place: str
    delay: int = 0
    priority: int = 0
    ats: int = 0
    atm: int = 0
    stc: int = 0
    defa: bool = False
    worker: str = ""

    @property
    def row(self) -> dict[bytes, bytes]:
        """The fields of its row that a verb may change, as they should read; a counter only where it counted."""
        fields = {b"delay": b"%d" % self.delay, b"priority": b"%d" % self.priority}
        fields |= {name: b"%d" % count for name, count in self._counters.items() if count}
        return fields | ({b"defa": DEFERRED} if self.defa else {})

    @property
    def _counters(self) -> dict[bytes, int]:
        return {b"ats": self.ats, b"atm": self.atm, b"stc": self.stc}


@dataclass
class ExpectedQueue:
    """All of the queue. Lists are written left to right; ``scores`` order the ids of the sorted sets. Times are the
    lesson's, in ms; ``locks`` are the tokens, ``ends`` when the keys of that name run out."""

    now: int
    jobs: dict[bytes, Job] = field(default_factory=dict)
    wait: list[bytes] = field(default_factory=list)
    paused: list[bytes] = field(default_factory=list)
    active: list[bytes] = field(default_factory=list)
    scores: dict[str, dict[bytes, tuple[int, int]]] = field(default_factory=dict)
    locks: dict[bytes, bytes] = field(default_factory=dict)
    ends: dict[bytes, int] = field(default_factory=dict)
    marks: set[bytes] = field(default_factory=set)
    is_paused: bool = False
    pc: int = 0

    def zset(self, name: str) -> dict[bytes, tuple[int, int]]:
        return self.scores.setdefault(name, {})

    def ids(self, place: str) -> list[bytes]:
        """The ids of a place in its order."""
        if place in ("wait", "paused", "active"):
            found: list[bytes] = getattr(self, place)
            return found
        return sorted(self.zset(place), key=lambda id: (self.zset(place)[id], id))

    def passes(self, ms: int) -> bool:
        """Lets time pass; whether a key ran out."""
        self.now += ms
        over = [key for key, end in self.ends.items() if end <= self.now]
        for key in over:
            del self.ends[key]
            self.locks.pop(key, None)
        return bool(over)

    # Verbs, each as its contract has it -------------------------------------------------------------------------------

    def add(self, id: bytes) -> None:
        self.jobs[id] = Job(id, "")
        self._line_up(self.jobs[id])

    def add_delayed(self, id: bytes, delay: int) -> None:
        self.jobs[id] = Job(id, "", delay=delay)
        self._delay(self.jobs[id], delay)

    def add_prioritized(self, id: bytes, priority: int) -> None:
        self.jobs[id] = Job(id, "", priority=priority)
        self._line_up(self.jobs[id])

    def pick_up(self, worker: str, token: bytes, lock_ms: int) -> Job | None:
        self.promote_due()
        if self.is_paused:
            return None
        if self.wait:
            job = self.jobs[self.wait.pop()]
        elif waiting := self.ids("prioritized"):
            job = self.jobs[waiting[0]]
            del self.zset("prioritized")[job.id]
        else:
            self.pc = 0
            return None
        self.active.insert(0, job.id)
        job.place, job.worker = "active", worker
        job.ats += 1
        self.locks[job.id], self.ends[job.id] = token, self.now + lock_ms
        return job

    def finish(self, job: Job, ending: str) -> None:
        self._leave_active(job)
        job.atm += 1
        job.defa = job.defa and ending == "completed"
        self._score(job, ending, self.now, 0)

    def back_off(self, job: Job, delay: int) -> None:
        self._leave_active(job)
        job.atm += 1
        job.delay = delay
        self._delay(job, delay)

    def retry(self, job: Job) -> None:
        self.promote_due()
        self._leave_active(job)
        job.atm += 1
        self._line_up(job)

    def give_back(self, job: Job) -> None:
        self._leave_active(job)
        if job.priority:
            self._score(job, "prioritized", job.priority, 0)
        else:
            self._line_up(job, right=True)

    def extend(self, job: Job, lock_ms: int) -> None:
        self.ends[job.id] = self.now + lock_ms
        self.marks.discard(job.id)

    def sweep(self, interval_ms: int, max_stalled: int) -> list[bytes]:
        """The ids taken back, in no order that is promised."""
        if b"stalled-check" in self.ends:
            return []
        self.ends[b"stalled-check"] = self.now + interval_ms
        taken = [id for id in self.marks if id in self.active and id not in self.locks]
        for id in taken:
            self.active.remove(id)
            self.jobs[id].stc += 1
            self.jobs[id].defa = self.jobs[id].defa or self.jobs[id].stc > max_stalled
            self._line_up(self.jobs[id], right=True, as_plain=True)
        self.marks = set(self.active)
        return taken

    def promote(self, job: Job) -> None:
        del self.zset("delayed")[job.id]
        job.delay = 0
        self._line_up(job)

    def reprocess(self, job: Job) -> None:
        del self.zset(job.place)[job.id]
        self._line_up(job, as_plain=True)

    def pause(self) -> None:
        self.is_paused = True
        self._rename("wait", "paused")

    def resume(self) -> None:
        self.is_paused = False
        self._rename("paused", "wait")

    def promote_due(self) -> None:
        due = [id for id in self.ids("delayed") if self.zset("delayed")[id][0] <= self.now]
        for id in due:
            self.promote(self.jobs[id])

    # What they share --------------------------------------------------------------------------------------------------

    def _line_up(self, job: Job, *, right: bool = False, as_plain: bool = False) -> None:
        if job.priority and not as_plain:
            self.pc += 1
            self._score(job, "prioritized", job.priority, self.pc)
            return
        job.place = "paused" if self.is_paused else "wait"
        line: list[bytes] = getattr(self, job.place)
        line.insert(len(line) if right else 0, job.id)

    def _delay(self, job: Job, delay: int) -> None:
        due = self.now + max(delay, 0)
        slots: Iterable[int] = (slot for at, slot in self.zset("delayed").values() if at == due)
        self._score(job, "delayed", due, max(slots, default=-1) + 1)

    def _score(self, job: Job, place: str, first: int, second: int) -> None:
        job.place = place
        self.zset(place)[job.id] = (first, second)

    def _leave_active(self, job: Job) -> None:
        self.active.remove(job.id)
        self.locks.pop(job.id)
        self.ends.pop(job.id)
        self.marks.discard(job.id)

    def _rename(self, source: str, destination: str) -> None:
        moved: list[bytes] = getattr(self, source)
        if moved:
            setattr(self, destination, moved)
            setattr(self, source, [])
            for id in moved:
                self.jobs[id].place = destination
