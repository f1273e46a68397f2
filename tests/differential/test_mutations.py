"""The test of the test: each planted mistake is told apart from the reference, by what it does and not by an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.differential.mutations import Mutation, all_mutations
from tests.differential.ours import mutated_sources
from tests.differential.record import Case, Taken, follow, judge
from tests.differential.side import Exchange, Side

MUTATIONS = all_mutations()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_planted_mistake_is_caught(
    mutation: Mutation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    databases: tuple[Exchange, Exchange],
    ours: Side,
    recorded_cases: list[Case],
    recorded_walks: list[list[Taken]],
) -> None:
    sources = mutated_sources(mutation, tmp_path, monkeypatch)
    mistaken = Side(databases[1], sources)
    difference = _first_difference(mistaken, _changed(ours.sources, sources), recorded_cases, recorded_walks)
    assert difference, "no case and no walk is different with this mistake"
    assert "ErrorReply" not in difference, "it is caught for an error, which any test would see"


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def _first_difference(side: Side, scripts: set[str], cases: list[Case], walks: list[list[Taken]]) -> str:
    told = (judge(side, case) for case in cases if case.call.script in scripts)
    return next(filter(None, told), "") or next(filter(None, (follow(side, walk) for walk in walks)), "")


def test_the_list_is_long_enough_and_names_each_once() -> None:
    names = [str(mutation) for mutation in MUTATIONS]
    assert len(names) >= 34
    assert sorted(names) == sorted(set(names))
