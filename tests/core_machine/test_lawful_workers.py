"""Lawful workers in any order, mixed with calls that must be refused: every law holds, every job is where it should be.

Lawful: a token is used only for the job it was got for and while that lock runs; a job with a deferred failure is ended
as failed; no id is added again while another parent has it. The time is the lesson's, so nothing waits for real.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, cast

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from tests.core_machine.core_walking import BASE, LOCK_MS, RENEW_MS, SWEEP_MS
from tests.core_machine.expected_queue import Job
from tests.core_machine.watched_queue import WatchedQueue
from visualizer.engine import Engine
from visualizer.ids import Minter

_minter = Minter(1, lambda: 1_767_225_600_000)
JOBS = [_minter.mint("JOB").encode() for _ in range(6)]
WORKERS = ["w1", "w2"]
# The scripts that verify a lock, and a token that nobody got.
UNLOCKING = ("moveToFinished", "moveToDelayed", "retryJob", "moveJobFromActiveToWait")
WRONG = {"text": "w9:9"}


class LawfulWorkers(WatchedQueue):
    """One call a step, chosen among those that are possible, as the leased machine's test does it."""

    def __init__(self, engine: Engine, seen: Counter[str]) -> None:
        super().__init__(engine, JOBS, seen)
        self.calls: list[Callable[[Random], None]] = [
            *[self.add] * 5,
            *[self.pick_up] * 6,
            *[self.settle] * 8,
            *[self.let_time_pass] * 6,
            *[self.sweep] * 4,
            *[self.heartbeat] * 4,
            *[self.operate] * 3,
            *[self.come_too_late] * 2,
            *[self.use_a_wrong_token] * 2,
            *(self.pause, self.ask_for_what_is_not_there),
        ]

    @rule(seed=st.integers(0, 2**32))
    def call(self, seed: int) -> None:
        # Hypothesis likes to draw the same number again; what is done next should differ all the same.
        draw = Random(f"{seed} {self.frames}")
        draw.choice(self.calls)(draw)

    def still(self, possible: Callable[[], list[Job]]) -> bool:
        """Lets the step's time pass; where it left nothing to do, the step only asks where a job is."""
        self.tick()
        if possible():
            return True
        job = self.expected.jobs.get(JOBS[0])
        place = "unknown" if job is None else job.place
        self.do("getState", JOBS[0], "waiting" if place in ("wait", "paused") else place)
        return False

    # Lawful calls -----------------------------------------------------------------------------------------------------

    def add(self, draw: Random) -> None:
        if not self.missing:
            return
        id, verb = draw.choice(self.missing), draw.choice(["addStandardJob", "addDelayedJob", "addPrioritizedJob"])
        self.tick()
        if verb == "addStandardJob":
            self.expected.add(id)
            self.do(verb, id, "added")
        elif verb == "addDelayedJob":
            delay = draw.choice([0, 50, 5_000, 60_000])
            self.expected.add_delayed(id, delay)
            self.do(verb, id, "added", delay_ms=delay)
        else:
            priority = draw.choice([1, 2, 2, 5])
            self.expected.add_prioritized(id, priority)
            self.do(verb, id, "added", priority=priority)

    def pick_up(self, draw: Random) -> None:
        worker, lock_ms = draw.choice(WORKERS), draw.choice([LOCK_MS, 200])
        token = b"%b:%d" % (worker.encode(), 1 + self.fetches(worker))
        self.tick()
        delayed = len(self.expected.ids("delayed"))
        job = self.expected.pick_up(worker, token, lock_ms)
        self.seen["a pickup promotes"] += len(self.expected.ids("delayed")) < delayed
        frame = self.do("moveToActive", None, "picked_up" if job else "nothing", worker=worker, lock_ms=lock_ms)
        grants = [(grant.worker, grant.id, grant.token) for grant in frame.performed.grants]
        assert grants == ([(worker, job.id, token)] if job else [])

    def settle(self, draw: Random) -> None:
        if not self.held or not self.still(lambda: self.held):
            return
        job = draw.choice(self.held)
        verb = "fail" if job.defa else draw.choice(["complete", "fetch", "fail", "back off", "retry", "give back"])
        getattr(self, f"_{verb.replace(' ', '_')}")(job, draw)

    def _complete(self, job: Job, _: Random) -> None:
        self.expected.finish(job, "completed")
        self.do("moveToFinished", job.id, "completed", token=job.worker)

    def _fail(self, job: Job, _: Random) -> None:
        self.expected.finish(job, "failed")
        self.do("moveToFinished", job.id, "failed", token=job.worker, ending="failed", value="boom")

    def _fetch(self, job: Job, _: Random) -> None:
        worker, token = job.worker, self.expected.locks[job.id]
        self.expected.finish(job, "completed")
        fetched = self.expected.pick_up(worker, token, LOCK_MS)
        frame = self.do("moveToFinished", job.id, "completed", token=worker, fetch=True)
        assert [grant.id for grant in frame.performed.grants] == ([fetched.id] if fetched else [])
        self.seen["an end fetches the next"] += fetched is not None

    def _back_off(self, job: Job, draw: Random) -> None:
        delay = draw.choice([0, 200, 5_000])
        self.expected.back_off(job, delay)
        self.do("moveToDelayed", job.id, "delayed", token=job.worker, delay_ms=delay, error="boom")

    def _retry(self, job: Job, _: Random) -> None:
        self.expected.retry(job)
        self.do("retryJob", job.id, "retried", token=job.worker, error="boom")

    def _give_back(self, job: Job, _: Random) -> None:
        self.expected.give_back(job)
        self.do("moveJobFromActiveToWait", job.id, "given_back", token=job.worker)

    def heartbeat(self, draw: Random) -> None:
        if not self.held or not self.still(lambda: self.held):
            return
        marked = [job for job in self.held if job.id in self.expected.marks]
        job, lock_ms = draw.choice(marked or self.held), draw.choice([LOCK_MS, LOCK_MS, 777])
        self.seen["a heartbeat takes the mark away"] += job.id in self.expected.marks
        self.expected.extend(job, lock_ms)
        self.do("extendLock", job.id, "extended", token=job.worker, lock_ms=lock_ms)

    def let_time_pass(self, draw: Random) -> None:
        ms = draw.choice([1, 190, 5_000, RENEW_MS, LOCK_MS - 10, LOCK_MS])
        ran_out = self.expected.passes(ms)
        self.seen["something ran out as time passed"] += ran_out
        self.do("time_passes", None, "passed", ms=ms)

    def sweep(self, draw: Random) -> None:
        max_stalled, interval_ms = draw.choice([0, 1, 1]), draw.choice([SWEEP_MS, 100])
        self.tick()
        throttled = b"stalled-check" in self.expected.ends
        taken = self.expected.sweep(interval_ms, max_stalled)
        for job in [self.expected.jobs[id] for id in taken]:
            self.seen["a failure is deferred"] += job.defa
        given = {"max_stalled": max_stalled, "interval_ms": interval_ms}
        if len(taken) > 1:
            self._in_the_servers_order(taken)
        frame = self.do("moveStalledJobsToWait", None, "recovered" if taken else "none_recovered", **given)
        assert sorted(frame.calls[-1].reply) == sorted(taken)
        self.seen["a sweep is throttled"] += throttled

    def _in_the_servers_order(self, taken: list[bytes]) -> None:
        """Several are taken back in the order of a set, which is the server's own: it is read, not guessed."""
        line = self.expected.ids("paused" if self.expected.is_paused else "wait")
        marks = self.walker._engine.client.eval("return redis.call('SMEMBERS', KEYS[1])", 1, BASE + b"stalled")
        marked = [id for id in marks if id in taken]
        line[-len(taken) :] = marked

    # Operators --------------------------------------------------------------------------------------------------------

    def operate(self, draw: Random) -> None:
        if not self.known:
            return
        job = draw.choice(self.in_place("delayed", "completed", "failed") or self.known)
        self.tick()
        if job.place == "delayed":
            self.expected.promote(job)
            self.do("promote", job.id, "promoted")
        elif job.place in ("completed", "failed"):
            state = job.place
            self.expected.reprocess(job)
            self.do("reprocessJob", job.id, "reprocessed", state=state)
        elif draw.random() < 0.5:
            self.do("promote", job.id, "JobNotInState", "-3")
        else:
            self.do("reprocessJob", job.id, "JobNotInState", "-3")

    def pause(self, draw: Random) -> None:
        self.tick()
        if self.expected.is_paused or draw.random() < 0.3:
            self.expected.resume()
            self.do("resume", None, "resumed")
        else:
            self.expected.pause()
            self.do("pause", None, "paused")

    # Calls that must be refused, or do nothing ------------------------------------------------------------------------

    def come_too_late(self, draw: Random) -> None:
        """A worker whose lock has run out."""
        if not self.lost or not self.still(lambda: self.lost):
            return
        job, verb = draw.choice(self.lost), draw.choice([*UNLOCKING, "extendLock"])
        if verb == "extendLock":
            self.do(verb, job.id, "not_the_holder", "0", token=job.worker)
            return
        self._promotes_first(verb)
        self.do(verb, job.id, "JobLockNotExist", "-2", token=job.worker)

    def use_a_wrong_token(self, draw: Random) -> None:
        if not self.held or not self.still(lambda: self.held):
            return
        job, verb = draw.choice(self.held), draw.choice([*UNLOCKING, "extendLock", "releaseLock"])
        if verb in ("extendLock", "releaseLock"):
            self.do(verb, job.id, "not_the_holder", "0", token=WRONG)
            return
        self._promotes_first(verb)
        self.do(verb, job.id, "JobLockMismatch", "-6", token=WRONG)

    def ask_for_what_is_not_there(self, draw: Random) -> None:
        self.tick()
        if self.missing and draw.random() < 0.5:
            verb = draw.choice([*UNLOCKING, "reprocessJob"])
            given: dict[str, Any] = {} if verb == "reprocessJob" else {"token": WRONG}
            self._promotes_first(verb)
            self.do(verb, draw.choice(self.missing), "JobNotExist", "-1", **given)
        elif self.known:
            self.do("addStandardJob", draw.choice(self.known).id, "added")
        else:
            self.do("getState", JOBS[0], "unknown")

    def _promotes_first(self, verb: str) -> None:
        """One of the scripts promotes what is due before it looks at anything."""
        if verb == "retryJob":
            self.expected.promote_due()

    def fetches(self, worker: str) -> int:
        """The number of the worker's newest token among those it got last for each job."""
        last: dict[bytes, bytes] = {}
        for frame in self.walker.walk.frames:
            for grant in frame.performed.grants:
                if grant.worker == worker:
                    last[grant.id] = grant.token
        return max((int(token.rpartition(b":")[2]) for token in last.values()), default=0)


def test_lawful_workers_keep_every_law(engine: Engine) -> None:
    seen: Counter[str] = Counter()
    examples = 80 if engine.real else 12
    machine = cast(type[LawfulWorkers], lambda: LawfulWorkers(engine, seen))
    # A shorter list of seeds would tell nothing more: the calls that failed are printed.
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=60, phases=phases))
    if engine.real:
        assert [each for each in OFTEN.strip().split(", ") if not seen[each]] == [], (
            "a random walk comes to all of these"
        )


OFTEN = """
addStandardJob added moved, addDelayedJob added moved, addPrioritizedJob added moved, addStandardJob added,
moveToActive picked_up moved, moveToActive nothing, a pickup promotes, moveToFinished completed moved,
moveToFinished failed moved, an end fetches the next, moveToDelayed delayed moved, retryJob retried moved,
moveJobFromActiveToWait given_back moved, extendLock extended, a heartbeat takes the mark away,
moveStalledJobsToWait recovered moved, moveStalledJobsToWait none_recovered, a sweep is throttled,
promote promoted moved, promote JobNotInState,
reprocessJob reprocessed moved, reprocessJob JobNotInState, pause paused moved, resume resumed moved,
JobNotExist, JobLockNotExist, JobLockMismatch, not_the_holder,
something ran out as time passed
""".replace("\n", " ")
