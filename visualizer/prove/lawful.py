"""A lawful worker: it drives jobs through the verbs of the leased machine, and makes calls that must be refused.

A token is used only for the job it was claimed for, while its lease runs, and never after settling: a lease is an hour
long, or ends at once and its token is thrown away, so that no deadline is raced. Only a job that nobody can have
claimed is removed, and its id is never used again. So for each call it is known beforehand which answers are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from visualizer.caller import Caller, Server
from visualizer.ids import Minter
from visualizer.keyspace import Keyspace
from visualizer.machine.bench import Bench
from visualizer.machine.leased_verbs import VERBS
from visualizer.model import Grant, Outcome, Step
from visualizer.prove.numbers import Draw
from visualizer.prove.worker import HELD_AT_MOST, HOUR_MS, PAYLOAD, Worker
from visualizer.visible import visible

# So many stalls that the sweep buries nothing: a dead job is given back by the worker that buried it.
NEVER_DEAD = 1_000_000

_EITHER = ("enqueued", "duplicate")
_SCHEDULED = ("scheduled", "duplicate")
_CLAIMED = ("claimed", "empty")
# What each verb is given, and how it has to answer, where the id has no row.
_MISSING: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("complete", {"token": 1}, "gone"),
    ("retry", {"token": 1}, "stale"),
    ("extend_lock", {"token": 1}, "gone"),
    ("delay", {"token": 1, "delay_ms": 0}, "gone"),
    ("reprocess", {}, "gone"),
    ("remove_job", {}, "gone"),
    ("update_data", {"payload": PAYLOAD}, "gone"),
    ("update_progress", {"progress": "1"}, "gone"),
)
_TOKEN_VERBS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("complete", {}),
    ("retry", {}),
    ("extend_lock", {}),
    ("delay", {"delay_ms": 0}),
)


class LawfulWorker(Worker):
    """One worker on the scripted queue, and what it has counted.

    ``ids`` are the jobs that all workers share, ``group`` the lane they may wait in. ``number`` tells workers apart.
    """

    def __init__(
        self,
        server: Server,
        space: Keyspace,
        ids: Sequence[bytes],
        group: bytes,
        draws: Iterator[Draw],
        number: int,
        clock_ms: Callable[[], int],
    ) -> None:
        super().__init__(draws)
        self._caller = Caller(server)
        self._space = space
        # Nothing is ever put into that queue.
        self._empty = Keyspace(f"{space.queue}-empty", "job:")
        self._ids = tuple(ids)
        self._group = group
        self._minter = Minter(number, clock_ms)
        self._missing = self._minter.mint("JOB").encode()
        self._order = self._minter.mint("ORD").encode()
        self._held: dict[bytes, bytes] = {}
        self._buried: list[bytes] = []
        self._admissions: tuple[tuple[str, dict[str, Any]], ...] = (
            ("enqueue", {}),
            ("schedule", {"delay_ms": 0}),
            ("lane_enqueue", {"group": group}),
        )
        self.acts = (
            *[self._admit] * 5,
            *[self._claim] * 5,
            *[self._settle] * 7,
            *[self._claim_and_die] * 2,
            *[self._come_by] * 5,
            *(self._reprocess, self._reprocess, self._shelve_and_remove, self._pause),
            *[self._wrong_token] * 2,
            *(self._wrong_kind, self._duplicate, self._missing_id, self._nothing_to_claim, self._not_dead),
        )

    # Calls ------------------------------------------------------------------------------------------------------------

    def _do(
        self, verb: str, job: bytes | None, right: Sequence[str], space: Keyspace | None = None, /, **given: Any
    ) -> tuple[Grant, ...]:
        """Runs a verb; any outcome but the ``right`` ones is counted as wrong. Answers the tokens it handed out."""
        step = Step(verb, job, given, PAYLOAD)
        performed = VERBS[verb].run(Bench(self._caller, space or self._space, step, {}))
        calls = self._caller.drain()
        self._verbs[verb] += 1
        if performed.outcome.name not in right:
            self._note_wrong(_wrong_answer(verb, job, performed.outcome, right))
        elif performed.grants:
            reply = calls[-1].reply
            for granted in reply if verb == "claim_batch" else [reply]:
                if granted[1] != PAYLOAD:
                    self._note_wrong(f"{verb} handed out {visible(granted[0])} without its payload")
        return performed.grants

    def _refuse(
        self, kind: str, verb: str, job: bytes | None, outcome: str, space: Keyspace | None = None, /, **given: Any
    ) -> None:
        """A call that has to be refused: counted by its kind where it was, as wrong where it was not."""
        wrong = self._wrong
        self._do(verb, job, (outcome,), space, **given)
        if self._wrong == wrong:
            self._refused[kind] += 1

    def _hold(self, grants: Sequence[Grant]) -> None:
        self._held.update((grant.id, grant.token) for grant in grants)

    # What a lawful caller does ----------------------------------------------------------------------------------------

    def _admit(self, draw: Draw) -> None:
        verb = draw.pick(("enqueue", "enqueue", "schedule", "lane_enqueue"))
        job = draw.pick(self._ids)
        if verb == "schedule":
            self._do(verb, job, _SCHEDULED, delay_ms=draw.pick((0, 2)))
        elif verb == "enqueue":
            self._do(verb, job, _EITHER)
        else:
            self._do(verb, job, _EITHER, group=self._group)

    def _claim(self, draw: Draw) -> None:
        if len(self._held) >= HELD_AT_MOST:
            self._settle(draw)
            return
        verb = draw.pick(("claim", "claim", "claim_batch", "lane_claim"))
        given = {"size": 2} if verb == "claim_batch" else {}
        self._hold(self._do(verb, None, _CLAIMED, lease_ms=HOUR_MS, **given))

    def _claim_and_die(self, draw: Draw) -> None:
        """A worker that dies: its lease ends at once, and nobody uses its token again."""
        self._died += bool(self._do(draw.pick(("claim", "lane_claim")), None, _CLAIMED, lease_ms=1))

    def _settle(self, draw: Draw) -> None:
        if not self._held:
            self._come_by(draw)
            return
        job = draw.pick(tuple(self._held))
        token = self._held[job]
        verb = draw.pick(
            ("complete", "complete", "retry", "bury", "delay", "extend_lock", "extend_locks", "update_data", "progress")
        )
        if verb == "complete":
            del self._held[job]
            self._do(verb, job, ("completed",), token=token)
            self._completed += 1
        elif verb == "retry":
            del self._held[job]
            self._do(verb, job, ("scheduled",), token=token, delay_ms=draw.pick((0, 2)), max_attempts=NEVER_DEAD)
        elif verb == "bury":
            del self._held[job]
            self._do("retry", job, ("dead",), token=token, max_attempts=1)
            self._buried.append(job)
        elif verb == "delay":
            del self._held[job]
            self._do(verb, job, ("delayed",), token=token, delay_ms=draw.pick((0, 2)))
        elif verb == "extend_lock":
            self._do(verb, job, ("extended",), token=token, lease_ms=HOUR_MS)
        elif verb == "extend_locks":
            pairs = [{"job": held, "token": token} for held, token in self._held.items()]
            self._do(verb, None, ("extended",), pairs=pairs, lease_ms=HOUR_MS)
        elif verb == "update_data":
            self._do(verb, job, ("updated",), payload=PAYLOAD)
        else:
            self._do("update_progress", job, ("updated",), progress="75")

    def _come_by(self, draw: Draw) -> None:
        """What runs beside the workers: somebody promotes, reaps, and sweeps."""
        verb = draw.pick(("promote", "reap", "reap", "sweep_stalled"))
        if verb == "promote":
            self._do(verb, None, ("promoted",))
        elif verb == "reap":
            self._do(verb, None, ("reaped",))
        else:
            self._do(verb, None, ("none_lapsed", "recovered"), max_stalled=NEVER_DEAD)

    def _reprocess(self, draw: Draw) -> None:
        if self._buried:
            self._do("reprocess", self._buried.pop(0), ("reprocessed",))
        else:
            self._come_by(draw)

    def _shelve_and_remove(self, _draw: Draw) -> None:
        """A new job that is due in an hour, so that nobody can claim it before it is removed."""
        job = self._minter.mint("JOB").encode()
        self._do("schedule", job, ("scheduled",), delay_ms=HOUR_MS)
        self._do("remove_job", job, ("removed",))

    def _pause(self, draw: Draw) -> None:
        if draw.pick((True, False)):
            self._do("lane_pause", None, ("paused",), group=self._group)
            self._do("lane_resume", None, ("resumed",), group=self._group)
        else:
            self._do("queue_pause", None, ("paused",))
            self._do("queue_resume", None, ("resumed",))

    # Calls that have to be refused ------------------------------------------------------------------------------------

    def _wrong_token(self, draw: Draw) -> None:
        if not self._held:
            self._missing_id(draw)
            return
        job = draw.pick(tuple(self._held))
        held = int(self._held[job])
        verb, given = draw.pick(_TOKEN_VERBS)
        text = draw.pick((str(held + 1), str(held - 1), f"0{held}", f" {held}", ""))
        self._refuse("wrong token", verb, job, "stale", token={"text": text}, **given)

    def _wrong_kind(self, draw: Draw) -> None:
        verb, given = draw.pick(self._admissions)
        self._refuse("wrong kind", verb, self._order, "kind", **given)

    def _duplicate(self, draw: Draw) -> None:
        """A job that this worker holds has a row for certain."""
        if not self._held:
            self._wrong_kind(draw)
            return
        verb, given = draw.pick(self._admissions)
        self._refuse("duplicate", verb, draw.pick(tuple(self._held)), "duplicate", **given)

    def _missing_id(self, draw: Draw) -> None:
        verb, given, outcome = draw.pick(_MISSING)
        self._refuse("missing id", verb, self._missing, outcome, **given)

    def _nothing_to_claim(self, draw: Draw) -> None:
        verb = draw.pick(("claim", "claim_batch", "lane_claim"))
        given = {"size": 2} if verb == "claim_batch" else {}
        self._refuse("empty queue", verb, None, "empty", self._empty, **given)

    def _not_dead(self, draw: Draw) -> None:
        if self._held:
            self._refuse("not dead", "reprocess", draw.pick(tuple(self._held)), "not_dead")
        else:
            self._missing_id(draw)


def _wrong_answer(verb: str, job: bytes | None, outcome: Outcome, right: Sequence[str]) -> str:
    about = f" {visible(job)}" if job is not None else ""
    said = f" ({visible(outcome.refused, 80)})" if outcome.refused else ""
    return f"{verb}{about} was answered {outcome.name}{said}, and not {' or '.join(right)}"
