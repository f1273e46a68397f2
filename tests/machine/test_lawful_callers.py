"""Lawful callers in any order, mixed with calls that must be refused: every law holds, every job is where it should be.

Lawful: a token is used only for the job it was claimed for, only while that lease runs, and never after settling; no
grouped and no claimed job is removed; no id is enqueued again after its removal. A lease is an hour long, or it lapses
at once and its token is never used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, cast

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from tests.machine.expected_queue import Job, lane_of
from tests.machine.watched_queue import WatchedQueue
from visualizer.engine import Engine
from visualizer.ids import Minter

HOUR_MS = 3_600_000

_minter = Minter(1, lambda: 1_767_225_600_000)
JOBS = [_minter.mint("JOB").encode() for _ in range(8)]
GROUPS = [_minter.mint("PRT").encode() for _ in range(2)]
ORDER = _minter.mint("ORD").encode()
WORKERS = ["w1", "w2"]

ADMISSIONS: dict[str, dict[str, Any]] = {
    "enqueue": {},
    "lane_enqueue": {"group": GROUPS[0]},
    "schedule": {"delay_ms": 0},
}
# By whether the sweep recovered any job, and whether it buried any.
SWEPT = {
    (False, False): "none_lapsed",
    (True, False): "recovered",
    (False, True): "dead",
    (True, True): "recovered_and_dead",
}
KIND = "EMQKIND job id must be JOB-namespaced"
# What each verb is given, and how it answers, where the id has no row.
GONE: dict[str, tuple[dict[str, Any], str, str]] = {
    "complete": ({"token": 1}, "gone", "0"),
    "retry": ({"token": 1}, "stale", "EMQSTALE job gone"),
    "extend_lock": ({"token": 1}, "gone", "-1"),
    "delay": ({"token": 1, "delay_ms": HOUR_MS}, "gone", "EMQSTALE job gone"),
    "reprocess": ({}, "gone", "-1"),
    "remove_job": ({}, "gone", "-1"),
    "update_data": ({"payload": b"p"}, "gone", "-1"),
    "update_progress": ({"progress": "75"}, "gone", "-1"),
}


class LawfulCallers(WatchedQueue):
    """One call a step, chosen among those that are possible; `do` checks its answer, the laws, every place and row.

    The choice is made by a random number and not by one rule a call: hypothesis leaves rules out of most examples, and
    a job's life is long.
    """

    def __init__(self, engine: Engine, seen: Counter[str]) -> None:
        super().__init__(engine, JOBS, GROUPS, seen)
        self.calls: list[Callable[[Random], None]] = [
            *[self.admit] * 5,
            *[self.claim] * 6,
            *[self.settle] * 8,
            *[self.come_by] * 4,
            *[self.steer_a_lane] * 2,
            *(self.extend_all, self.reprocess, self.remove, self.update, self.pause, self.rewind),
            *(self.admit_again, self.use_a_wrong_token, self.ask_for_a_missing_job),
        ]

    @initialize(limit=st.integers(1, 2))
    def begin_with_a_full_lane(self, limit: int) -> None:
        self.expected.lane_limit(GROUPS[0], limit)
        self.do("lane_limit", None, "limited", group=GROUPS[0], limit=limit)
        for number, id in enumerate(JOBS[:4]):
            self.admit_one(id, "lane_enqueue" if number else "enqueue", GROUPS[0], due=False)

    @rule(seed=st.integers(0, 2**32))
    def call(self, seed: int) -> None:
        # Hypothesis likes to draw the same number again; what is done next should differ all the same.
        draw = Random(f"{seed} {len(self.snapshots)}")
        draw.choice(self.calls)(draw)

    def some_group(self, draw: Random) -> bytes:
        """Mostly the same one, so that its jobs queue up behind one another."""
        return GROUPS[0] if _often(draw) else GROUPS[1]

    # Lawful calls -----------------------------------------------------------------------------------------------------

    def admit(self, draw: Random) -> None:
        if not self.unborn:
            return
        verb = draw.choice([*ADMISSIONS, "lane_enqueue"])
        self.admit_one(draw.choice(self.unborn), verb, self.some_group(draw), _often(draw))

    def admit_one(self, id: bytes, verb: str, group: bytes, due: bool) -> None:
        if verb == "enqueue":
            self.expected.admit(id, "pending")
            self.do(verb, id, "enqueued")
        elif verb == "lane_enqueue":
            self.expected.admit(id, lane_of(group), group)
            self.do(verb, id, "enqueued", group=group)
        else:
            self.expected.admit(id, "schedule", over=due)
            self.do(verb, id, "scheduled", delay_ms=0 if due else HOUR_MS)

    def claim(self, draw: Random) -> None:
        verbs = ["claim", "claim_batch", "lane_claim", *["lane_claim"] * len(self.expected.ring)]
        verb, worker = draw.choice(verbs), draw.choice(WORKERS)
        lapses = not _often(draw)
        given: dict[str, Any] = {"size": draw.randint(1, 3)} if verb == "claim_batch" else {}
        paused, jobs = self.expected.paused, []
        if not paused:
            jobs = self.expected.lane_claim(worker) if verb == "lane_claim" else self.expected.claim(worker, **given)
        for job in jobs:
            job.over = lapses
            if verb == "lane_claim" and job.group not in self.expected.ring:
                left_waiting = self.expected.in_place(lane_of(job.group or b""))
                self.seen["a full lane leaves the ring"] += bool(left_waiting)
        given |= {"worker": worker, "lease_ms": 1 if lapses else HOUR_MS}
        frame = self.do(verb, None, "claimed" if jobs else "empty", **given)
        ran = ("commands", None) if paused else ("script", f"leased/{verb}")
        assert (frame.kind, frame.performed.script) == ran
        grants = [(grant.worker, grant.id, grant.token) for grant in frame.performed.grants]
        assert grants == [(worker, job.id, b"%d" % job.attempts) for job in jobs]
        if lapses and jobs:
            self.do("wait_until_lapsed", jobs[-1].id, "lapsed")

    def settle(self, draw: Random) -> None:
        if not self.held:
            return
        job, due, max_attempts = draw.choice(self.held), _often(draw), draw.randint(1, 4)
        verb = draw.choice(["complete", "complete", "retry", "delay", "extend_lock"])
        delay_ms = 0 if due else HOUR_MS
        turns = len(self.expected.ring)
        if verb == "complete":
            self.expected.complete(job)
            self.seen["a completed job gives its lane a turn"] += len(self.expected.ring) > turns
            self.do(verb, job.id, "completed", token=job.holder)
        elif verb == "retry":
            self.expected.retry(job, max_attempts, b"timeout", due)
            outcome = "dead" if job.place == "dead" else "scheduled"
            given = {"delay_ms": delay_ms, "max_attempts": max_attempts, "error": "timeout"}
            self.do(verb, job.id, outcome, token=job.holder, **given)
        elif verb == "delay":
            self.expected.delay(job, due)
            self.do(verb, job.id, "delayed", token=job.holder, delay_ms=delay_ms)
        else:
            self.do(verb, job.id, "extended", token=job.holder, lease_ms=2 * HOUR_MS)

    def extend_all(self, draw: Random) -> None:
        pairs: list[dict[str, Any]] = [{"job": job.id, "token": job.holder} for job in self.held]
        wrong: list[dict[str, Any]] = [{"job": id, "token": 1} for id in self.missing[:1]]
        wrong += [{"job": job.id, "token": _wrong_token(job, draw)} for job in self.known[:1]]
        frame = self.do("extend_locks", None, "extended", pairs=[*wrong, *pairs], lease_ms=2 * HOUR_MS)
        assert frame.calls[-1].reply == [pair["job"] for pair in wrong]

    def come_by(self, draw: Random) -> None:
        verbs = ["reap", "sweep_stalled", "sweep_stalled"] if self.in_turn("active") else ["promote", "reap"]
        verb, count, max_stalled = draw.choice(verbs), draw.choice([1, 100]), draw.randint(1, 2)
        if verb == "promote":
            due = self.in_turn("schedule")[:count]
            self.expected.promote(due)
            frame = self.do(verb, None, "promoted", batch=count)
            assert frame.calls[-1].reply == len(due)
        elif verb == "reap":
            lapsed = self.in_turn("active")
            self.expected.reap(lapsed)
            frame = self.do(verb, None, "reaped")
            assert frame.calls[-1].reply == len(lapsed)
        else:
            lapsed = self.in_turn("active")[:count]
            self.expected.sweep(lapsed, max_stalled)
            dead = [job.id for job in lapsed if job.place == "dead"]
            recovered = [job.id for job in lapsed if job.place != "dead"]
            frame = self.do(verb, None, SWEPT[bool(recovered), bool(dead)], max_stalled=max_stalled, limit=count)
            assert frame.calls[-1].reply == [recovered, dead]

    # Operators --------------------------------------------------------------------------------------------------------

    def reprocess(self, draw: Random) -> None:
        dead = self.expected.in_place("dead")
        if dead and _often(draw):
            job = draw.choice(dead)
            self.expected.reprocess(job)
            self.do("reprocess", job.id, "reprocessed")
        elif alive := [job for job in self.known if job.place != "dead"]:
            self.do("reprocess", draw.choice(alive).id, "not_dead", "EMQSTATE not dead")

    def remove(self, draw: Random) -> None:
        removable = [job for job in self.known if job.group is None and job.place != "active"]
        if removable and not self.expected.removed:
            job = draw.choice(removable)
            self.expected.remove(job)
            self.do("remove_job", job.id, "removed")

    def update(self, draw: Random) -> None:
        if self.known:
            verb = draw.choice(["update_data", "update_progress"])
            given = {"payload": b"\x83new"} if verb == "update_data" else {"progress": "75"}
            self.do(verb, draw.choice(self.known).id, "updated", **given)

    def pause(self, draw: Random) -> None:
        if self.expected.paused or not _often(draw):
            self.expected.paused = not self.expected.paused
            verb, outcome = ("queue_pause", "paused") if self.expected.paused else ("queue_resume", "resumed")
            self.do(verb, None, outcome)

    def steer_a_lane(self, draw: Random) -> None:
        verb = draw.choice(["lane_limit", "lane_limit", "lane_pause", "lane_resume", "lane_resume"])
        group = self.some_group(draw)
        if verb == "lane_limit":
            limit = draw.choice([1, 1, 2, 3])
            self.expected.lane_limit(group, limit)
            self.do(verb, None, "limited", group=group, limit=limit)
        elif verb == "lane_pause":
            self.expected.lane_pause(group)
            self.do(verb, None, "paused", group=group)
        else:
            self.expected.lane_resume(group)
            self.do(verb, None, "resumed", group=group)

    # Calls that must be refused ---------------------------------------------------------------------------------------

    def admit_again(self, draw: Random) -> None:
        verb = draw.choice([*ADMISSIONS])
        if self.known and _often(draw):
            self.do(verb, draw.choice(self.known).id, "duplicate", **ADMISSIONS[verb])
        else:
            self.do(verb, ORDER, "kind", KIND, **ADMISSIONS[verb])

    def use_a_wrong_token(self, draw: Random) -> None:
        if not self.known:
            return
        job, verb = draw.choice(self.known), draw.choice(["complete", "retry", "extend_lock", "delay"])
        refused = f"EMQSTALE {verb.removesuffix('_lock')} token mismatch"
        given = {"delay_ms": HOUR_MS} if verb == "delay" else {}
        self.do(verb, job.id, "stale", refused, token=_wrong_token(job, draw), **given)

    def ask_for_a_missing_job(self, draw: Random) -> None:
        if self.missing:
            verb = draw.choice([*GONE])
            given, outcome, refused = GONE[verb]
            self.do(verb, draw.choice(self.missing), outcome, refused, **given)

    # Going back -------------------------------------------------------------------------------------------------------

    def rewind(self, draw: Random) -> None:
        cursor = max(0, len(self.snapshots) - draw.randint(1, 5))
        why = self.walker.why_not_rewind(cursor)
        if why is not None:
            assert re.fullmatch("a time in (active|schedule) has passed since", why)
            self.seen["not rewound"] += 1
            return
        self.walker.rewind(cursor)
        self.seen["rewound"] += cursor + 1 < len(self.snapshots)
        self.expected = self.snapshots[cursor].copy()
        del self.snapshots[cursor + 1 :]
        walk = self.walker.look()
        assert len(walk.frames) == cursor, "the queue reads as it did after that frame"
        self.agree(walk.shown)


def _often(draw: Random) -> bool:
    return draw.random() < 0.7


def _wrong_token(job: Job, draw: Random) -> dict[str, str]:
    held = job.attempts
    return {"text": draw.choice([str(held + 1), str(held - 1), f"0{held}", f"{held}.0", f" {held}", ""])}


def test_lawful_callers_keep_every_law(engine: Engine) -> None:
    seen: Counter[str] = Counter()
    examples = 35 if engine.real else 12
    machine = cast(type[LawfulCallers], lambda: LawfulCallers(engine, seen))
    # A shorter list of seeds would tell nothing more: the calls that failed are printed.
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=60, phases=phases))
    if engine.real:
        assert [each for each in OFTEN.strip().split(", ") if not seen[each]] == [], (
            "a random walk comes to all of these"
        )


OFTEN = """
enqueue enqueued moved, lane_enqueue enqueued moved, schedule scheduled moved, claim claimed moved, claim empty,
claim_batch claimed moved, lane_claim claimed moved, lane_claim empty, a full lane leaves the ring,
complete completed moved, a completed job gives its lane a turn, retry scheduled moved, delay delayed moved,
extend_lock extended, extend_locks extended, promote promoted moved, reap reaped moved,
sweep_stalled recovered moved, reprocess not_dead, remove_job removed moved, update_data updated,
lane_pause paused, lane_resume resumed, lane_limit limited, wait_until_lapsed lapsed, rewound
""".replace("\n", " ")
