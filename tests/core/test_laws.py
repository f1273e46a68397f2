"""Every law has evidence that it refuses, in words, and evidence close to that which it lets pass."""

from __future__ import annotations

import pytest
from msgspec import Struct

from tests.core.readings import CLOCK_MS, evidence, place, row, seen
from tests.core.walking import GROUP, GUESS, LANE, LEASED, RIVAL, THIRD
from visualizer.ids import Minter, encode, parse
from visualizer.laws import judge
from visualizer.model import Evidence, Grant, Observation, Row

minter = Minter(5, lambda: 1_767_225_600_000)
MANY = [minter.mint("JOB").encode() for _ in range(60)]
NOW, LATER = CLOCK_MS, CLOCK_MS + 5_000
EMPTY = seen()
PENDING = seen(place("pending", (GUESS, 0)))
ACTIVE = seen(place("active", (GUESS, LATER)), rows={GUESS: row("active", 1)})
NO_NUMBER = Row({b"state": b"active", b"attempts": b"x"})
LAPSED = seen(place("active", (GUESS, NOW - 9)))
FOREIGN = b"0:1000"


class Case(Struct, frozen=True):
    """Evidence, and the breaches that exactly one law finds in it (none: every law holds)."""

    shows: str
    given: Evidence
    breaches: tuple[str, ...] = ()


def after(reading: Observation, before: Observation | None = None) -> Evidence:
    """That reading, after a step that did nothing to it."""
    return evidence(before or reading, reading)


def claimed(before: Observation, reading: Observation, *ids: bytes, outcome: str = "claimed") -> Evidence:
    return evidence(before, reading, "claim", None, outcome, grants=tuple(Grant("w1", job, b"1") for job in ids))


BROKEN: dict[str, tuple[Case, ...]] = {
    "the_id_is_in_exactly_one_place": (
        Case(
            "two places",
            after(seen(place("pending", (GUESS, 0)), place(LANE, (GUESS, 0)), rows={GUESS: row()})),
            (f"JOB0KHTOWnGLuC is in pending and {LANE}",),
        ),
    ),
    "the_row_state_follows_the_place": (
        Case(
            "another state",
            after(seen(place("pending", (GUESS, 0)), rows={GUESS: row("active")})),
            ("JOB0KHTOWnGLuC is in pending, its row says active",),
        ),
        Case(
            "the place's name is not the state's",
            after(seen(place("schedule", (GUESS, LATER)), rows={GUESS: row("schedule")})),
            ("JOB0KHTOWnGLuC is in schedule, its row says schedule",),
        ),
        Case(
            "a lane is pending too",
            after(seen(place(LANE, (GUESS, 0)), rows={GUESS: row("dead", group=GROUP)})),
            (f"JOB0KHTOWnGLuC is in {LANE}, its row says dead",),
        ),
        Case(
            "no state at all",
            after(seen(place("dead", (GUESS, 0)), rows={GUESS: row("\x1b")})),
            ("JOB0KHTOWnGLuC is in dead, its row says \\x1b",),
        ),
    ),
    "pending_scores_are_zero": (
        Case("pending", after(seen(place("pending", (GUESS, 1)))), ("JOB0KHTOWnGLuC has score 1 in pending",)),
        Case("a lane", after(seen(place(LANE, (GUESS, -0.5)))), (f"JOB0KHTOWnGLuC has score -0.5 in {LANE}",)),
    ),
    "pending_dead_and_lanes_are_in_mint_order": tuple(
        Case(
            name,
            after(seen(place(name, (RIVAL, 0), (GUESS, 0)))),
            ("JOB0KHTOWnGLuC was minted before JOB0KHTOYgD5Um, which is ahead of it",),
        )
        for name in ("pending", "dead", LANE)
    ),
    "deadlines_are_in_order": (
        Case(
            "by their scores",
            after(seen(place("active", (GUESS, LATER), (RIVAL, LATER - 1)))),
            ("JOB0KHTOYgD5Um in active is due before the id ahead of it",),
        ),
        Case(
            "equal ones by minting",
            after(seen(place("schedule", (RIVAL, LATER), (GUESS, LATER)))),
            ("JOB0KHTOWnGLuC in schedule is due before the id ahead of it",),
        ),
    ),
    "an_active_score_was_in_the_future": (
        Case(
            "the very moment is the past",
            after(seen(place("active", (GUESS, NOW))), EMPTY),
            ("JOB0KHTOWnGLuC got a lease that had already ended",),
        ),
        Case(
            "a lease shortened into the past",
            after(seen(place("active", (GUESS, NOW - 1))), seen(place("active", (GUESS, LATER)))),
            ("JOB0KHTOWnGLuC got a lease that had already ended",),
        ),
    ),
    "attempts_grow_only_by_a_claim": (
        Case(
            "without a claim",
            after(seen(place("active", (GUESS, LATER)), rows={GUESS: row("active", 2)}), ACTIVE),
            ("JOB0KHTOWnGLuC went from 1 to 2 attempts",),
        ),
        Case(
            "backwards",
            after(seen(place("active", (GUESS, LATER)), rows={GUESS: row("active", 0)}), ACTIVE),
            ("JOB0KHTOWnGLuC went from 1 to 0 attempts",),
        ),
        Case(
            "by two",
            claimed(PENDING, seen(place("active", (GUESS, LATER)), rows={GUESS: row("active", 2)}), GUESS),
            ("JOB0KHTOWnGLuC went from 0 to 2 attempts",),
        ),
        Case(
            "a claim that counted nothing",
            claimed(PENDING, seen(place("active", (GUESS, LATER)), rows={GUESS: row("active", 0)}), GUESS),
            ("JOB0KHTOWnGLuC went from 0 to 0 attempts",),
        ),
        Case("another job's claim", claimed(PENDING, ACTIVE, RIVAL), ("JOB0KHTOWnGLuC went from 0 to 1 attempts",)),
        Case("a new row that does not begin at 0", after(ACTIVE, EMPTY), ("JOB0KHTOWnGLuC went from 0 to 1 attempts",)),
        Case(
            "no number",
            after(
                seen(place("active", (GUESS, LATER)), rows={GUESS: Row({b"state": b"active", b"attempts": b"x"})}),
                ACTIVE,
            ),
            ("JOB0KHTOWnGLuC went from 1 to no number attempts",),
        ),
    ),
    "a_refusal_wrote_nothing": (
        Case(
            "a row",
            evidence(
                PENDING,
                seen(place("pending", (GUESS, 0)), rows={GUESS: row(progress=b"1")}),
                "complete",
                refused="EMQSTALE",
            ),
            ("complete was refused, yet what was read before and after differs",),
        ),
        Case(
            "a counter beside",
            evidence(PENDING, seen(place("pending", (GUESS, 0)), sides={"ring": (GROUP,)}), "complete", refused="0"),
            ("complete was refused, yet what was read before and after differs",),
        ),
    ),
    "a_completed_job_left_nothing": (
        Case(
            "a row",
            evidence(
                seen(place("active", (GUESS, LATER)), rows={GUESS: row("active", 1)}),
                ACTIVE,
                "complete",
                outcome="completed",
            ),
            ("JOB0KHTOWnGLuC was completed and is still in active", "JOB0KHTOWnGLuC was completed and still has a row"),
        ),
    ),
    "every_member_has_a_row": (
        Case(
            "none",
            after(seen(place("dead", (GUESS, 0)), rows={GUESS: None})),
            ("JOB0KHTOWnGLuC is in dead and has no row",),
        ),
    ),
    "every_row_has_a_place": (),
}

HOLD = (
    Case("nothing there", after(EMPTY)),
    Case(
        "a job in each place",
        after(
            seen(
                place("pending", (GUESS, 0), (RIVAL, 0)),
                place("schedule", (MANY[0], 1), (THIRD, 1)),
                place("dead", (MANY[1], 0), (MANY[2], 0)),
                place(LANE, (MANY[3], 0)),
            )
        ),
    ),
    Case(
        "a lapsed lease is no new one",
        after(LAPSED, LAPSED),
    ),
    Case("a first claim", claimed(PENDING, ACTIVE, GUESS)),
    Case("a claim whose reply was lost", claimed(PENDING, ACTIVE, outcome="reply_lost")),
    Case("between two steps others may claim", evidence(PENDING, ACTIVE, None, None, "changed")),
    Case(
        "a foreign member is no job",
        after(
            seen(
                place("pending", (FOREIGN, 7), (GUESS, 0)),
                place("active", (FOREIGN, 0)),
                rows={FOREIGN: None},
            )
        ),
    ),
    Case(
        "a job nobody captured may come into view with an old lease",
        after(
            seen(
                place("active", *((job, 5) for job in MANY[20:40])), rows={job: row("active", 3) for job in MANY[20:40]}
            ),
            seen(place("active", *((job, 5) for job in MANY[:20]), count=40)),
        ),
    ),
    Case("a completed job is gone", evidence(ACTIVE, EMPTY, "complete", outcome="completed")),
    Case(
        "a refusal that wrote nothing",
        evidence(
            ACTIVE,
            seen(
                place("active", (GUESS, LATER)),
                rows={GUESS: row("active", 1)},
                clock_ms=NOW + 3,
            ),
            "complete",
            outcome="stale",
            refused="EMQSTALE complete token mismatch",
        ),
    ),
)


def breaches(given: Evidence) -> dict[str, tuple[str, ...]]:
    return {law.name: law.breaches for law in judge(LEASED, given) if not law.holds}


@pytest.mark.parametrize(
    ("law", "case"),
    [(law, case) for law, cases in BROKEN.items() for case in cases],
    ids=lambda part: getattr(part, "shows", part),
)
def test_what_breaks_a_law(law: str, case: Case) -> None:
    assert breaches(case.given) == {law: case.breaches}


@pytest.mark.parametrize("case", HOLD, ids=lambda case: case.shows)
def test_what_breaks_none(case: Case) -> None:
    assert breaches(case.given) == {}


def test_a_row_without_a_place_breaks_three_laws() -> None:
    assert breaches(after(seen(rows={GUESS: row("active")}))) == {
        "the_id_is_in_exactly_one_place": ("JOB0KHTOWnGLuC has a row and is in no place",),
        "the_row_state_follows_the_place": ("JOB0KHTOWnGLuC is in no place, its row says active",),
        "every_row_has_a_place": ("JOB0KHTOWnGLuC has a row that no place points to",),
    }


def test_every_law_has_a_broken_example() -> None:
    assert list(BROKEN) == [law.name for law in LEASED.laws]
    assert [law for law, cases in BROKEN.items() if not cases] == ["every_row_has_a_place"], "it is in the test above"


def test_a_result_has_the_laws_name_and_sentence_in_the_machines_order() -> None:
    results = judge(LEASED, after(EMPTY))
    assert [(each.name, each.sentence, each.holds) for each in results] == [
        (law.name, law.sentence, True) for law in LEASED.laws
    ]
    assert all(law.sentence.endswith(".") for law in LEASED.laws)


def test_mint_order_is_by_the_moment_of_minting_and_not_by_bytes() -> None:
    """Ids of two kinds: by their bytes the order would be right, by the moment of minting it is not."""
    late_job = encode("JOB", parse(RIVAL.decode()).value).encode()
    early_order = encode("ORD", parse(GUESS.decode()).value).encode()
    assert late_job < early_order
    given = after(seen(place("dead", (late_job, 0), (early_order, 0)), captured=(late_job, early_order)))
    assert list(breaches(given)) == ["pending_dead_and_lanes_are_in_mint_order"]


def test_laws_are_judged_on_captured_ids_where_not_everything_is_in_view() -> None:
    full = place("dead", *((job, 0) for job in MANY[:40]), count=60)
    reading = seen(full, rows={GUESS: row("active"), RIVAL: None})
    assert breaches(after(reading))["every_row_has_a_place"] == ("JOB0KHTOWnGLuC has a row that no place points to",)
