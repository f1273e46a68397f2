"""Directed cases: one call on a state that the reference has built; reply and state are as the reference has them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import attrgetter

import pytest

from tests.differential import cases, flow_cases
from tests.differential.record import Case, judge
from tests.differential.side import Side
from visualizer.caller import ErrorReply

PATHS = [path.name for path in (*cases.all_paths(), *flow_cases.all_paths())]

UNLOCKING = (
    "moveToFinished-14",
    "moveToDelayed-8",
    "retryJob-11",
    "moveToWaitingChildren-7",
    "moveJobFromActiveToWait-9",
)
ADDING = ("addStandardJob-9", "addDelayedJob-6", "addPrioritizedJob-9", "addParentJob-6")
# Which script answers which code; -8, -10 and -11 belong to scripts that have no counterpart here.
CODES = {
    -1: (*UNLOCKING, "reprocessJob-8"),
    -2: UNLOCKING,
    -3: (
        "moveToFinished-14",
        "moveToDelayed-8",
        "retryJob-11",
        "moveToWaitingChildren-7",
        "promote-9",
        "reprocessJob-8",
    ),
    -4: ("moveToFinished-14",),
    -5: ADDING,
    -6: UNLOCKING,
    -7: ADDING,
    -9: ("moveToFinished-14", "moveToWaitingChildren-7"),
}


@pytest.fixture(scope="module")
def cases_of(recorded_cases: list[Case]) -> Mapping[str, list[Case]]:
    return {path: list(of) for path, of in groupby(recorded_cases, attrgetter("path"))}


@pytest.mark.parametrize("path", PATHS)
def test_ours_do_as_the_reference(path: str, cases_of: Mapping[str, list[Case]], ours: Side) -> None:
    for case in cases_of[path]:
        assert judge(ours, case) == "", case


@pytest.mark.parametrize("path", PATHS)
def test_ours_do_so_on_fakeredis(path: str, cases_of: Mapping[str, list[Case]], ours_emulated: Side) -> None:
    for case in cases_of[path]:
        assert judge(ours_emulated, case) == "", case


def test_every_code_is_among_the_cases_and_no_error_but_those_meant(recorded_cases: list[Case]) -> None:
    replies = {(case.call.script, case.expected.reply) for case in recorded_cases if type(case.expected.reply) is int}
    codes = {(script, reply) for script, reply in replies if reply < 0}
    assert codes == {(script, code) for code, scripts in CODES.items() for script in scripts}
    erring = [str(case) for case in recorded_cases if isinstance(case.expected.reply, ErrorReply)]
    assert len(erring) == len(list(cases.erring()))


def test_every_script_is_among_the_cases(recorded_cases: list[Case], ours: Side) -> None:
    assert {case.call.script for case in recorded_cases} == ours.scripts


def test_names_are_told_apart() -> None:
    assert sorted(PATHS) == sorted(set(PATHS))
