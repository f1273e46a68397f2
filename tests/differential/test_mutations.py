"""The test of the test: each planted mistake is told apart from the reference, by what it does and not by an error."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from tests.differential.mutations import Mutation, all_mutations
from tests.differential.ours import mutated_sources
from tests.differential.record import Case, Taken, follow, judge
from tests.differential.side import Side

MUTATIONS = all_mutations()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_planted_mistake_is_caught(
    mutation: Mutation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ours: Side,
    recorded_cases: list[Case],
    recorded_walks: list[list[Taken]],
) -> None:
    changed = mutated_sources(mutation, tmp_path, monkeypatch)
    with ours.having(changed):
        by_cases = (judge(ours, case) for case in recorded_cases if case.call.script in changed)
        by_walks = (follow(ours, walk) for walk in recorded_walks)
        difference = next(filter(None, chain(by_cases, by_walks)), "")
    assert difference, "no case and no walk is different with this mistake"
    assert "ErrorReply" not in difference, "it is caught for an error, which any test would see"


def test_the_list_is_long_enough_and_names_each_once() -> None:
    names = [str(mutation) for mutation in MUTATIONS]
    assert len(names) >= 34
    assert sorted(names) == sorted(set(names))
