"""Directed cases: one call on a state that the reference has built; reply and state are as the reference has them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis.exceptions import ResponseError

from tests.differential import cases, flow_cases
from tests.differential.ours import our_sources
from tests.differential.record import Case, Path, judge, record_cases
from tests.differential.side import Side
from visualizer.engine import Engine, open_engine
from visualizer.script import ErrorReply

PATHS = [*cases.all_paths(), *flow_cases.all_paths()]

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
def emulated() -> Iterator[Engine]:
    engine = open_engine("fakeredis", queue="cm")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def ours_emulated(emulated: Engine) -> Side:
    """Our scripts on fakeredis, with its own packed arguments and JSON."""

    def answer(words: tuple[bytes | str | int, ...]) -> object:
        try:
            return emulated.send(*words)
        except ResponseError as error:
            return error

    return Side(lambda *commands: list(map(answer, commands)), our_sources())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_ours_do_as_the_reference(path: Path, reference: Side, ours: Side) -> None:
    for case in record_cases(reference, [path]):
        assert judge(ours, case) == "", case.name


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_ours_do_so_on_fakeredis(path: Path, reference: Side, ours_emulated: Side) -> None:
    for case in record_cases(reference, [path]):
        assert judge(ours_emulated, case) == "", case.name


def test_every_code_is_among_the_cases_and_no_error_but_those_meant(recorded_cases: list[Case]) -> None:
    replies = {(case.call.script, case.expected.reply) for case in recorded_cases if type(case.expected.reply) is int}
    codes = {(script, reply) for script, reply in replies if reply < 0}
    assert codes == {(script, code) for code, scripts in CODES.items() for script in scripts}
    erring = [case.name for case in recorded_cases if isinstance(case.expected.reply, ErrorReply)]
    assert len(erring) == len(list(cases.erring()))


def test_every_script_is_among_the_cases(recorded_cases: list[Case], ours: Side) -> None:
    assert {case.call.script for case in recorded_cases} == set(ours.sources)


def test_names_are_told_apart() -> None:
    names = [path.name for path in PATHS]
    assert sorted(names) == sorted(set(names))
