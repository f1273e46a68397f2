"""What a lesson announces, met and unmet, one of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.readings import place, row, seen
from tests.core.walking import GUESS, RIVAL
from visualizer.expect import judge
from visualizer.model import Expect, Expectation, LawResult, Observation, Outcome
from visualizer.move import moves_between

PENDING = seen(place("pending", (GUESS, 0)))
ACTIVE = seen(place("active", (GUESS, 5)), rows={GUESS: row("active", 1, bytes=b"\xff")})
EMPTY = seen()


def judged(
    expect: Expect,
    before: Observation = PENDING,
    after: Observation = ACTIVE,
    outcome: Outcome | None = None,
    broken: tuple[str, ...] = (),
) -> dict[str, Expectation]:
    laws = (*[LawResult(name, "", ("broken",)) for name in broken], LawResult("holds", "", ()))
    found = judge(expect, GUESS, outcome or Outcome("claimed"), moves_between(before, after), laws, before, after)
    return {each.what: each for each in found}


def test_what_is_met() -> None:
    expect = Expect(
        leaves=("pending",), enters=("active",), outcome="claimed", row={"state": "active"}, breaks=("a", "b")
    )
    found = judged(expect, broken=("b", "a"))
    assert list(found) == ["leaves", "enters", "outcome", "refused", "row", "breaks"]
    assert all(each.met for each in found.values())


@pytest.mark.parametrize(
    ("what", "expect", "got"),
    [
        ("leaves", {"leaves": ()}, ["pending"]),
        ("leaves", {"leaves": ("dead",)}, ["pending"]),
        ("enters", {"enters": ()}, ["active"]),
        ("enters", {"enters": ("active", "dead")}, ["active"]),
        ("outcome", {"outcome": "empty"}, "claimed"),
        ("refused", {"refused": "EMQSTALE"}, None),
        ("row", {"row": {"state": "pending"}}, {"state": "active"}),
        ("row", {"row": {"state": "active", "missing": "1"}}, {"state": "active", "missing": None}),
        ("row", {"row": {"bytes": "ÿ"}}, {"bytes": "\\xff"}),
        ("row", {"row": "gone"}, "changed"),
        ("row", {"row": "unchanged"}, "changed"),
        ("row", {"row": "none"}, "changed"),
        ("breaks", {"breaks": ("a",)}, []),
    ],
)
def test_what_is_not_met(what: str, expect: dict[str, Any], got: Any) -> None:
    given = {"leaves": ("pending",), "enters": ("active",), **expect}
    found = judged(Expect(**given))
    assert (found[what].met, found[what].got) == (False, got)
    assert all(each.met for name, each in found.items() if name != what)


def test_a_law_that_breaks_unannounced_is_not_met() -> None:
    found = judged(Expect(leaves=("pending",), enters=("active",)), broken=("a",))
    assert (found["breaks"].met, found["breaks"].got) == (False, ["a"])


def test_a_refusal_that_is_not_announced_is_not_met() -> None:
    stale = Outcome("stale", refused="EMQSTALE complete token mismatch")
    assert not judged(Expect(), PENDING, PENDING, stale)["refused"].met
    assert judged(Expect(refused="EMQSTALE complete token mismatch"), PENDING, PENDING, stale)["refused"].met
    assert not judged(Expect(refused="EMQSTALE"), PENDING, PENDING, stale)["refused"].met, "the text is the whole text"


@pytest.mark.parametrize(
    ("before", "after", "met", "got"),
    [
        (PENDING, EMPTY, {"gone", "none"}, "gone"),
        (EMPTY, EMPTY, {"none", "unchanged"}, "none"),
        (PENDING, PENDING, {"unchanged"}, "unchanged"),
        (PENDING, ACTIVE, set(), "changed"),
        (EMPTY, PENDING, set(), "changed"),
    ],
)
def test_a_row_in_one_word(before: Observation, after: Observation, met: set[str], got: str) -> None:
    for word in ("gone", "none", "unchanged"):
        found = judged(Expect(row=word), before, after)["row"]
        assert (found.met, found.got) == (word in met, got)


def test_absent_places_mean_none() -> None:
    found = judged(Expect(), PENDING, PENDING)
    assert (found["leaves"].wanted, found["leaves"].met, found["enters"].met) == ([], True, True)
    assert "outcome" not in found
    assert "row" not in found


def test_only_the_steps_own_job_counts() -> None:
    before = seen(place("pending", (GUESS, 0), (RIVAL, 0)))
    after = seen(place("pending", (GUESS, 0)), place("active", (RIVAL, 5)))
    found = judged(Expect(), before, after)
    assert found["leaves"].met
    assert found["enters"].met
