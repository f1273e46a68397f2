"""Places, prose and long lines as plain text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from tests.shell.conftest import SMALL
from visualizer.engine import open_engine
from visualizer.lesson import all_lessons, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.plain import PlainLesson, folded, unmarked
from visualizer.player import Player

LINE = "wire   EVALSHA d491b31… 2 keys 2 args → [JOB0KHTOWnGLuC, well-known, 1]"


# Long lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [14, 20, 33, 60, len(LINE) - 1])
def test_a_long_line_is_broken_between_words_and_none_is_lost(columns: int) -> None:
    parts = list(folded(LINE, columns, 7))
    assert len(parts) > 1
    assert all(len(part) <= columns for part in parts)
    assert all(part.startswith(" " * min(7, columns // 2)) for part in parts[1:])
    if columns > 25:
        assert " ".join(parts).split() == LINE.split()


def test_a_line_that_fits_and_a_line_without_a_terminal_stay_as_they_are() -> None:
    assert list(folded("  two  spaces", 13, 7)) == ["  two  spaces"]
    assert list(folded(LINE, None, 7)) == [LINE]
    assert list(folded("", 10)) == [""]


def test_a_word_that_no_line_can_hold_is_broken() -> None:
    assert list(folded("a" * 25, 10)) == ["a" * 10, "a" * 10, "a" * 5]


class Pressed:
    """Keys that were pressed already."""

    def __init__(self, *keys: str) -> None:
        self._keys = iter(keys)

    def press(self) -> str | None:
        return next(self._keys, None)

    def line(self) -> str | None:
        return next(self._keys, None)


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_line_of_a_lesson_is_wider_than_the_terminal(lesson_file: Callable[[str], str], columns: int) -> None:
    told: list[str] = []
    lesson = load(lesson_file(SMALL), MACHINES, NAMED_STEPS)
    with contextlib.closing(open_engine("fakeredis", queue="small")) as engine:
        keys = Pressed("n", "n", "n", "p", "nly", "t", "retry, below the cap", "question_mark", "v")
        PlainLesson(
            Player(lesson, engine), keys, told.append, lambda _: lesson, lambda _: engine, lambda: columns
        ).run()
    assert max(map(len, told)) <= columns
    wires = [at for at, line in enumerate(told) if line.startswith("wire   EVALSHA")]
    assert wires
    if columns == 40:
        assert all(told[at + 1].startswith(" " * 7) for at in wires)


# Prose ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "lines"),
    [
        ("One **bold**, _slanted_ and `code` word.", ["One bold, slanted and code word."]),
        ("One\nline.\n\nAnother.", ["One line.", "", "Another."]),
        ("Before:\n\n- `one`\n- **two**\n\nAfter.", ["Before:", "", "- one", "- two", "", "After."]),
        ("1. one\n2. two", ["1. one", "2. two"]),
        ("# Head\n\nText.", ["Head", "", "Text."]),
        ("2 * 3 * 4 and emq:{q}:g_a_b", ["2 * 3 * 4 and emq:{q}:g_a_b"]),
        (r"\*\*not bold\*\*", ["**not bold**"]),
        ("", []),
    ],
)
def test_marks_are_taken_off(markdown: str, lines: list[str]) -> None:
    assert unmarked(markdown) == lines


@pytest.mark.parametrize("file", all_lessons(), ids=lambda file: file.stem)
def test_no_mark_of_our_lessons_is_left(file: str) -> None:
    lesson = load(file, MACHINES, NAMED_STEPS)
    texts = [lesson.intro, *(text for path in lesson.paths for step in path.steps for text in (step.say, step.ask))]
    for text in texts:
        for line in unmarked(text):
            assert "**" not in line
            assert "`" not in line
