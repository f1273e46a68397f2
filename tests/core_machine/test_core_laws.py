"""Every law of the core machine has evidence that it refuses, in words, and evidence close to that which it passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import Struct

from tests.core_machine.core_walking import CORE, GUESS, IDS, RIVAL, THIRD
from visualizer.laws import judge
from visualizer.model import Evidence, Grant, Lock, Member, Observation, Outcome, Performed, PlaceReading, Row

LISTS = {place.name for place in CORE.places if place.kind == "list"}


def row(**fields: str) -> Row:
    return Row({name.encode(): value.encode() for name, value in {"name": "guess", **fields}.items()})


def seen(
    rows: Mapping[bytes, Row | None] | None = None,
    locks: Mapping[bytes, bytes] | None = None,
    sides: Mapping[str, Any] | None = None,
    **places: tuple[bytes, ...],
) -> Observation:
    """A reading of these places (``waiting_children`` is waiting-children); who is in one has a row."""
    held = {place.name: PlaceReading(place.name, 0) for place in CORE.places}
    homes: dict[bytes, tuple[str, ...]] = dict.fromkeys(IDS, ())
    found: dict[bytes, Row | None] = dict.fromkeys(IDS)
    for written, ids in places.items():
        name = written.replace("_", "-")
        score = None if name in LISTS else 1.0
        held[name] = PlaceReading(name, len(ids), tuple(Member(job, rank, score) for rank, job in enumerate(ids)))
        for job in dict.fromkeys(ids):
            homes[job] = (*homes.get(job, ()), name)
            found[job] = row()
    found.update(rows or {})
    tokens = {job: Lock(token, 1_000, 5) for job, token in (locks or {}).items()}
    return Observation(0, held, homes, found, tokens, sides or {})


class Case(Struct, frozen=True):
    """Evidence, and the breaches that exactly one law finds in it (none: every law holds)."""

    shows: str
    before: Observation
    after: Observation
    breaches: tuple[str, ...] = ()
    did: str | None = "getState"
    refused: str | None = None
    grants: tuple[Grant, ...] = ()
    id: bytes | None = GUESS

    @property
    def evidence(self) -> Evidence:
        performed = Performed(Outcome("told", refused=self.refused), self.grants)
        homes = self.before.homes(), self.after.homes()
        return Evidence(self.before, self.after, *homes, self.did, self.id, performed)


EMPTY = seen()
WAITS, RUNS = seen(wait=(GUESS,)), seen(active=(GUESS,), locks={GUESS: b"w1:1"})
GRANT = (Grant("w1", GUESS, b"w1:1"),)
PAUSED = {"meta": {b"paused": b"1"}}
STARTED = {GUESS: row(ats="1")}

BROKEN: dict[str, tuple[Case, ...]] = {
    "the_id_is_in_exactly_one_place": (
        Case(
            "two places",
            WAITS,
            seen(wait=(GUESS,), delayed=(GUESS,)),
            ("JOB0KHTOWnGLuC is in wait and delayed",),
        ),
    ),
    "a_list_holds_an_id_once": (
        Case("twice in wait", WAITS, seen(wait=(GUESS, GUESS)), ("JOB0KHTOWnGLuC is in wait twice",)),
        Case("twice in active", WAITS, seen(active=(GUESS, RIVAL, GUESS)), ("JOB0KHTOWnGLuC is in active twice",)),
    ),
    "only_an_active_job_is_locked": (
        Case(
            "a waiting job is locked",
            WAITS,
            seen(wait=(GUESS,), locks={GUESS: b"w1:1"}),
            ("JOB0KHTOWnGLuC is locked and not in active",),
        ),
        Case(
            "a lock without a job",
            EMPTY,
            seen(locks={RIVAL: b"w1:1"}),
            ("JOB0KHTOYgD5Um is locked and not in active",),
        ),
    ),
    "only_moveToFinished_finishes": (
        Case(
            "the sweep fails a job",
            RUNS,
            seen(failed=(GUESS,)),
            ("JOB0KHTOWnGLuC entered failed by moveStalledJobsToWait",),
            did="moveStalledJobsToWait",
        ),
        Case(
            "somebody else completes one",
            RUNS,
            seen(completed=(GUESS,)),
            ("JOB0KHTOWnGLuC entered completed by another client",),
            did=None,
        ),
    ),
    "wait_is_empty_while_paused": (
        Case(
            "a job waits",
            seen(sides=PAUSED),
            seen(wait=(GUESS, RIVAL), sides=PAUSED),
            ("the queue is paused and wait holds 2",),
        ),
    ),
    "starts_grow_only_by_a_pickup": (
        Case(
            "a start that nobody made",
            seen(wait=(GUESS,)),
            seen(wait=(GUESS,), rows=STARTED),
            ("JOB0KHTOWnGLuC went from 0 to 1 starts",),
        ),
        Case(
            "a pickup that counts nothing",
            WAITS,
            RUNS,
            ("JOB0KHTOWnGLuC went from 0 to 0 starts",),
            did="moveToActive",
            grants=GRANT,
        ),
        Case(
            "a pickup that counts two",
            WAITS,
            seen(active=(GUESS,), rows={GUESS: row(ats="2")}),
            ("JOB0KHTOWnGLuC went from 0 to 2 starts",),
            did="moveToActive",
            grants=GRANT,
        ),
        Case(
            "a pickup of another job",
            WAITS,
            seen(active=(GUESS,), rows=STARTED),
            ("JOB0KHTOWnGLuC went from 0 to 1 starts",),
            did="moveToActive",
            grants=(Grant("w1", RIVAL, b"w1:1"),),
        ),
        Case(
            "no number",
            seen(wait=(GUESS,), rows=STARTED),
            seen(wait=(GUESS,), rows={GUESS: row(ats="\x1b[2J")}),
            ("JOB0KHTOWnGLuC went from 1 to 0 starts",),
        ),
    ),
    "a_refusal_wrote_only_what_its_code_says": (
        Case(
            "-6 gives the lock away",
            RUNS,
            seen(active=(GUESS,)),
            ("moveToFinished was refused with -6 and wrote the lock of JOB0KHTOWnGLuC",),
            did="moveToFinished",
            refused="-6",
        ),
        Case(
            "-3 moves another job",
            seen(wait=(GUESS, RIVAL)),
            seen(wait=(GUESS,), delayed=(RIVAL,)),
            ("moveToDelayed was refused with -3 and wrote place delayed, place wait",),
            did="moveToDelayed",
            refused="-3",
        ),
        Case(
            "-3 writes another job's row",
            seen(wait=(GUESS, RIVAL)),
            seen(wait=(GUESS, RIVAL), rows={RIVAL: row(failedReason="boom")}),
            ("moveToDelayed was refused with -3 and wrote the row of JOB0KHTOYgD5Um",),
            did="moveToDelayed",
            refused="-3",
        ),
        Case(
            "-3 of a script that does not look in active",
            WAITS,
            seen(wait=(GUESS,), rows={GUESS: row(delay="0")}),
            ("promote was refused with -3 and wrote the row of JOB0KHTOWnGLuC",),
            did="promote",
            refused="-3",
        ),
        Case(
            "-5 burns a number",
            seen(sides={"id": b"1"}),
            seen(sides={"id": b"2"}),
            ("addStandardJob was refused with -5 and wrote the key id",),
            did="addStandardJob",
            refused="-5",
        ),
        Case(
            "-7 stores the job",
            seen(sides={"id": b"1"}),
            seen(wait=(GUESS,), sides={"id": b"2"}),
            ("addStandardJob was refused with -7 and wrote place wait, the row of JOB0KHTOWnGLuC",),
            did="addStandardJob",
            refused="-7",
        ),
        Case(
            "a refused retry promotes, and moves its own job too",
            seen(active=(GUESS,), delayed=(RIVAL,)),
            seen(wait=(GUESS, RIVAL)),
            ("retryJob was refused with -2 and wrote place active",),
            did="retryJob",
            refused="-2",
        ),
        Case(
            "a heartbeat that is refused takes the lock",
            RUNS,
            seen(active=(GUESS,), locks={GUESS: b"w2:1"}),
            ("extendLock was refused with 0 and wrote the lock of JOB0KHTOWnGLuC",),
            did="extendLock",
            refused="0",
        ),
    ),
    "every_member_has_a_row": (
        Case(
            "a ghost in wait",
            EMPTY,
            seen(wait=(GUESS,), rows={GUESS: None}),
            ("JOB0KHTOWnGLuC is in wait and has no row",),
        ),
    ),
    "every_row_has_a_place": (),  # it is never broken alone: see below
}

LAWFUL = (
    Case("nothing is there", EMPTY, EMPTY),
    Case("a foreign member twice in a list", EMPTY, seen(wait=(b"x", b"x"), rows={b"x": None})),
    Case("a pickup", WAITS, seen(active=(GUESS,), rows=STARTED, locks={GUESS: b"w1:1"}), grants=GRANT),
    Case("an end", RUNS, seen(completed=(GUESS,)), did="moveToFinished"),
    Case("an end that stays", seen(failed=(GUESS,)), seen(failed=(GUESS,)), did="getState"),
    Case("paused, and all in paused", WAITS, seen(paused=(GUESS,), sides=PAUSED), did="pause"),
    Case("starts are taken back", seen(failed=(GUESS,), rows=STARTED), WAITS, did="reprocessJob"),
    Case(
        "-3, the lock and the mark are gone and fields are written",
        seen(wait=(GUESS,), active=(RIVAL,), sides={"stalled": (GUESS, RIVAL)}),
        seen(wait=(GUESS,), active=(RIVAL,), sides={"stalled": (RIVAL,)}, rows={GUESS: row(failedReason="boom")}),
        did="moveToFinished",
        refused="-3",
    ),
    Case(
        "-7, a number is burnt", seen(sides={"id": b"1"}), seen(sides={"id": b"2"}), did="addDelayedJob", refused="-7"
    ),
    *(
        Case(
            f"{code}, others were promoted before",
            seen(active=(GUESS,), delayed=(RIVAL, THIRD)),
            seen(
                active=(GUESS,), wait=(RIVAL,), prioritized=(THIRD,), rows={RIVAL: row(delay="0")}, sides={"pc": b"1"}
            ),
            did="retryJob",
            refused=code,
        )
        for code in ("-1", "-2", "-6", "-3")
    ),
)


def broken(case: Case) -> dict[str, tuple[str, ...]]:
    return {law.name: law.breaches for law in judge(CORE, case.evidence) if not law.holds}


def test_every_law_is_broken_here() -> None:
    assert list(BROKEN) == [law.name for law in CORE.laws]


@pytest.mark.parametrize(
    ("law", "case"),
    [(law, case) for law, cases in BROKEN.items() for case in cases],
    ids=lambda each: getattr(each, "shows", None),
)
def test_what_breaks_a_law_is_told_in_words(law: str, case: Case) -> None:
    assert broken(case) == {law: case.breaches}


@pytest.mark.parametrize("case", LAWFUL, ids=lambda case: case.shows)
def test_what_is_lawful_breaks_none(case: Case) -> None:
    assert broken(case) == {}


def test_a_row_without_a_place_breaks_two_laws() -> None:
    assert broken(Case("nowhere", WAITS, seen(rows={GUESS: row()}))) == {
        "the_id_is_in_exactly_one_place": ("JOB0KHTOWnGLuC has a row and is in no place",),
        "every_row_has_a_place": ("JOB0KHTOWnGLuC has a row that no place points to",),
    }
