"""Erlang's external term format, printed: the terms of a payload, and everything that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lessons.writing import read
from visualizer.erlang_term import printed
from visualizer.lesson import find

GUESS = read(find("states-as-locations")).jobs["guess"].payload


def test_a_guess_is_read_as_the_lesson_says() -> None:
    assert printed(GUESS) == '{guess,<<"GAM0KHSgDGgPCa">>,<<"PLR0KCUfUXQup6">>,<<"BLUE RED">>}'


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("61 07", "7"),
        ("62 ff ff ff fe", "-2"),
        ("62 00 01 00 00", "65536"),
        ("6e 05 00 00 00 00 00 01", "4294967296"),
        ("6e 05 01 00 00 00 00 01", "-4294967296"),
        ("77 02 6f 6b", "ok"),
        ("76 00 02 6f 6b", "ok"),
        ("64 00 02 6f 6b", "ok"),
        ("77 02 4f 4b", "'OK'"),
        ("77 00", "''"),
        ("68 00", "{}"),
        ("69 00 00 00 01 61 01", "{1}"),
        ("6a", "[]"),
        ("6b 00 02 01 02", "[1,2]"),
        ("6c 00 00 00 02 61 01 61 02 6a", "[1,2]"),
        ("6c 00 00 00 01 61 01 61 02", "[1|2]"),
        ("6d 00 00 00 00", '<<"">>'),
        ("6d 00 00 00 03 1b 5b 6d", r'<<"\x1b[m">>'),
    ],
)
def test_each_kind_of_term_is_printed(term: str, text: str) -> None:
    assert printed(bytes.fromhex(f"83 {term}")) == text


@pytest.mark.parametrize(
    "data",
    ["", "83", "61 07", "83 61", "83 61 07 00", "83 74 00", "83 68 02 61 01", "83 6d 7f ff ff ff 00", "83 50 00"],
)
def test_what_is_no_such_term_is_left_alone(data: str) -> None:
    assert printed(bytes.fromhex(data)) is None


def test_a_term_that_nests_without_end_is_left_alone() -> None:
    assert printed(b"\x83" + b"h\x01" * 100_000 + b"j") is None
    assert printed(b"\x83l\xff\xff\xff\xff" + b"j" * 10) is None


@given(st.binary(max_size=60))
def test_any_bytes_are_printed_or_left_alone(data: bytes) -> None:
    for each in (data, b"\x83" + data, b"\x83h" + data):
        text = printed(each)
        assert text is None or text.isprintable()


def test_every_cut_of_a_term_is_none() -> None:
    assert [printed(GUESS[:end]) for end in range(len(GUESS))] == [None] * len(GUESS)
