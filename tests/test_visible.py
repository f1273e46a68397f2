"""Data made visible: every character there is, every hostile string, cuts, lengths, and exact JSON."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from tests.hostile import HOSTILE, NAMES, ONE_MEBIBYTE
from visualizer import visible as visible_module
from visualizer.visible import json_bytes, short_id, visible, visible_size

UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Mc", "Me"}
UNSAFE_RANGES = [(0x1F1E6, 0x1F1FF), (0x1F3FB, 0x1F3FF), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)]

data = st.one_of(st.binary(max_size=60), st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")))


def is_safe(text: str) -> bool:
    """Whether a screen can show the text as it is: printable characters of one or two cells that stand alone."""
    return text.isprintable() and all(
        unicodedata.category(character) not in UNSAFE_CATEGORIES
        and get_character_cell_size(character) in (1, 2)
        and not any(first <= ord(character) <= last for first, last in UNSAFE_RANGES)
        for character in set(text)
    )


# What becomes of single characters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_data", "shown"),
    [
        (b"plain text, 'quoted' [red]", "plain text, 'quoted' [red]"),
        (b"\n\r\t", r"\n\r\t"),
        (b"\x00\x07\x1b\x7f", r"\x00\x07\x1b\x7f"),
        (b"\x9b31m", r"\x9b31m"),
        ("\x9b31m".encode(), r"\x9b31m"),
        (b"\x83h\x04w\x05guess", r"\x83h\x04w\x05guess"),
        (b"\x9c\xff\x00", r"\x9c\xff\x00"),
        ("a\u202eb".encode(), r"a\u{202e}b"),
        ("e\u0301".encode(), r"e\u{301}"),
        ("\u2028\u2029".encode(), r"\u{2028}\u{2029}"),
        ("\u26a0\ufe0f".encode(), r"⚠\u{fe0f}"),
        ("\U0001f1e9\U0001f1ea".encode(), r"\u{1f1e9}\u{1f1ea}"),
        ("\U0001f44b\U0001f3fd".encode(), r"👋\u{1f3fd}"),
        ("\u1100\u1161".encode(), r"ᄀ\u{1161}"),
        ("\u115f".encode(), r"\u{115f}"),
        ("a\u00a0b".encode(), r"a\u{a0}b"),
        ("\ue000\u0378".encode(), r"\u{e000}\u{378}"),
        (b"\xed\xa0\xbd", r"\xed\xa0\xbd"),
        ("naïve 日本語 🔒".encode(), "naïve 日本語 🔒"),
        (rb"C:\new \x1b", r"C:\new \x1b"),
        ("\udc83\ud83d", r"\x83\u{d83d}"),
        ("text\x1b", r"text\x1b"),
        (b"", ""),
    ],
)
def test_data_is_shown_as_described(given_data: bytes | str, shown: str) -> None:
    assert visible(given_data) == shown


def test_every_character_there_is_becomes_safe() -> None:
    # Beyond U+34000 only tags, selectors and private use exist: one block of each stands for the rest.
    for start in (*range(0, 0x34000, 0x1000), 0x50000, 0xE0000, 0xF0000, 0x10F000):
        assert is_safe(visible("".join(map(chr, range(start, start + 0x1000))))), hex(start)


def test_every_unsafe_character_is_escaped_and_no_letter_is() -> None:
    for code_point in range(0x3000):
        character = chr(code_point)
        escaped = visible(character) != character
        if unicodedata.category(character) in UNSAFE_CATEGORIES:
            assert escaped, hex(code_point)
        elif unicodedata.category(character) in {"Lu", "Ll", "Nd", "Sm", "Ps", "Pe"}:
            assert not escaped, hex(code_point)


def test_marks_are_escaped_whatever_the_table_of_widths_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visible_module, "_unit", visible_module._unit.__wrapped__)
    monkeypatch.setattr(visible_module, "get_character_cell_size", lambda _: 1)
    assert visible("e\u0301\u093f\u20e3\ufe0f") == r"e\u{301}\u{93f}\u{20e3}\u{fe0f}"


# Whole strings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "hostile"), HOSTILE, ids=NAMES)
def test_hostile_strings_become_safe(name: str, hostile: bytes) -> None:
    as_text = hostile.decode("utf-8", "surrogateescape")
    assert is_safe(visible(hostile)), name
    assert visible(hostile) == visible(as_text)
    assert is_safe(visible_size(hostile))
    for cells in (0, 1, 2, 3, 7, 12, 40):
        for shown in (visible(hostile, cells), visible_size(hostile, cells), short_id(hostile, cells)):
            assert is_safe(shown)
            assert cell_len(shown) <= cells
        assert visible(hostile, cells) == visible(as_text, cells)
        assert short_id(hostile, cells) == short_id(as_text, cells)


def test_the_corpus_names_each_string_once() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert len({hostile for _, hostile in HOSTILE}) == len(HOSTILE)
    assert max(len(hostile) for _, hostile in HOSTILE) == ONE_MEBIBYTE


@given(data)
def test_any_bytes_become_safe_and_as_wide_as_their_characters(any_bytes: bytes) -> None:
    shown = visible(any_bytes)
    assert is_safe(shown)
    assert cell_len(shown) == sum(map(get_character_cell_size, shown))


@given(data)
def test_what_is_visible_stays_as_it_is(any_bytes: bytes) -> None:
    assert visible(visible(any_bytes)) == visible(any_bytes)


# Cuts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_data", "limit", "shown"),
    [
        (b"abcdef", 6, "abcdef"),
        (b"abcdef", 5, "abcd…"),
        (b"abcdef", 1, "…"),
        (b"abcdef", 0, ""),
        (b"abcdef", -3, ""),
        (b"ab\x1bcd", 6, r"ab…"),
        (b"ab\x1bcd", 7, r"ab\x1b…"),
        (b"ab\x1bcd", 8, r"ab\x1bcd"),
        ("日本語".encode(), 6, "日本語"),
        ("日本語".encode(), 5, "日本…"),
        ("日本語".encode(), 4, "日…"),
    ],
)
def test_a_cut_ends_in_an_ellipsis_and_splits_no_escape(given_data: bytes, limit: int, shown: str) -> None:
    assert visible(given_data, limit) == shown


@given(data, st.integers(0, 40))
def test_a_limit_only_ever_cuts(any_bytes: bytes, limit: int) -> None:
    whole, cut = visible(any_bytes), visible(any_bytes, limit)
    assert cell_len(cut) <= limit
    assert (cut == whole) == (cell_len(whole) <= limit)
    assert cut == whole or (whole.startswith(cut[:-1]) and cut[-1:] in ("…", ""))


class Counted(bytes):
    """Bytes that know the longest piece anyone decoded."""

    longest = 0

    def __getitem__(self, index: object) -> bytes:  # type: ignore[override]  # only slices are taken here
        assert isinstance(index, slice)
        return Counted(bytes(self)[index])

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        Counted.longest = max(Counted.longest, len(self))
        return super().decode(encoding, errors)


def test_a_cut_looks_at_no_more_than_it_shows() -> None:
    long = Counted(b"\x83x" * ONE_MEBIBYTE)
    assert visible(long, 20) == r"\x83x\x83x\x83x\x83…"
    assert short_id(long, 20) == r"\x83x\x83x…x\x83x"
    assert Counted.longest <= 84


# Lengths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_data", "limit", "shown"),
    [
        (b"whole", None, "whole"),
        (b"whole", 5, "whole"),
        ("日本".encode(), 4, "日本"),
        (b"", None, "(0 B)"),
        (b"", 5, "(0 B)"),
        (b"", 4, ""),
        (b"\x83h", None, r"\x83h (2 B)"),
        (b"\x83h", 11, r"\x83h (2 B)"),
        (b"\x83h", 10, r"… (2 B)"),
        (b"a" * 41, 40, "a" * 32 + "… (41 B)"),
        (b"a" * 41, 9, "a… (41 B)"),
        (b"a" * 41, 8, "… (41 B)"),
        (b"a" * 41, 7, "aaaaaa…"),
        (rb"\x1b", None, r"\x1b"),
        (b"\x1b", None, r"\x1b (1 B)"),
    ],
)
def test_the_length_is_told_where_the_text_does_not_tell_it(given_data: bytes, limit: int | None, shown: str) -> None:
    assert visible_size(given_data, limit) == shown


def test_a_mebibyte_is_shown_cut_with_its_length() -> None:
    assert visible_size(b"\x83" + bytes(ONE_MEBIBYTE - 1), 24) == r"\x83\x00… (1,048,576 B)"


@given(data, st.integers(0, 60))
def test_a_length_fits_the_limit_too(any_bytes: bytes, limit: int) -> None:
    assert cell_len(visible_size(any_bytes, limit)) <= limit
    assert visible_size(any_bytes).endswith(f"({len(any_bytes)} B)") or visible_size(any_bytes).encode() == any_bytes


# Ids ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_id", "width", "shown"),
    [
        (b"JOB0KHTOWnGLuC", 14, "JOB0KHTOWnGLuC"),
        (b"JOB0KHTOWnGLuC", 13, "JOB0KHTO…GLuC"),
        (b"JOB0KHTOWnGLuC", 12, "JOB0KHTO…LuC"),
        (b"JOB0KHTOWnGLuC", 9, "JOB0KH…uC"),
        (b"JOB0KHTOWnGLuC", 3, "JO…"),
        (b"JOB0KHTOWnGLuC", 1, "…"),
        (b"JOB0KHTOWnGLuC", 0, ""),
        ("JOB0KHTOWnGLuC", 12, "JOB0KHTO…LuC"),
        (b"0:1000", 12, "0:1000"),
        (b"", 12, ""),
        (b"JOB0KHTOWnGLuC" * 2 + b"\x1b", 14, r"JOB0KHTOW…\x1b"),
        (b"\x1b[2J\x1b[2J", 12, r"\x1b[2J…[2J"),
        ("日本語日本語日本語".encode(), 12, "日本語日…語"),
    ],
)
def test_an_id_is_cut_in_the_middle(given_id: bytes | str, width: int, shown: str) -> None:
    assert short_id(given_id, width) == shown


def test_an_id_has_twelve_cells_unless_told() -> None:
    assert short_id(b"JOB0KHTOWnGLuC") == "JOB0KHTO…LuC"


@given(data, st.integers(0, 40))
def test_a_short_id_is_safe_and_never_wider(any_bytes: bytes, width: int) -> None:
    shown = short_id(any_bytes, width)
    assert is_safe(shown)
    assert cell_len(shown) <= width
    assert (shown == visible(any_bytes)) == (cell_len(visible(any_bytes)) <= width)


# JSON ---------------------------------------------------------------------------------------------------------------


def bytes_of(value: str | dict[str, str]) -> bytes:
    return value.encode() if isinstance(value, str) else bytes.fromhex(value["hex"])


def test_bytes_are_text_in_json_where_they_can_be() -> None:
    assert json_bytes("naïve\x1b".encode()) == "naïve\x1b"
    assert json_bytes(b"") == ""
    assert json_bytes(b"\x83h\x04") == {"hex": "836804"}


@pytest.mark.parametrize(("name", "hostile"), HOSTILE, ids=NAMES)
def test_hostile_bytes_come_back_from_json_exactly(name: str, hostile: bytes) -> None:
    line = json.dumps([name, json_bytes(hostile)])
    assert line.isascii()
    assert line.isprintable()
    assert bytes_of(json.loads(line)[1]) == hostile


@given(data)
def test_any_bytes_come_back_from_json_exactly(any_bytes: bytes) -> None:
    assert bytes_of(json.loads(json.dumps(json_bytes(any_bytes)))) == any_bytes
