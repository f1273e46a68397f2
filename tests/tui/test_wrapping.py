"""How styled text is broken into rows: nothing is lost, nothing is wider than its row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from visualizer.tui.widgets.lua_panel import tokens_of, wrapped

PIECES = st.lists(st.tuples(st.text("ab ()'_漢", min_size=1, max_size=12), st.sampled_from(["", "call"])), max_size=8)


@given(PIECES, st.integers(2, 20))
def test_nothing_is_lost_and_nothing_is_too_wide(pieces: list[tuple[str, str]], room: int) -> None:
    rows = wrapped(pieces, room)
    told = "".join(text for row in rows for text, _ in row)
    assert "".join(told.split()) == "".join("".join(text for text, _ in pieces).split())
    for row in rows:
        assert cell_len("".join(text for text, _ in row).rstrip()) <= room


@given(PIECES, st.integers(2, 20))
def test_each_piece_keeps_its_look(pieces: list[tuple[str, str]], room: int) -> None:
    looks = [(character, kind) for text, kind in pieces for character in text if not character.isspace()]
    rows = wrapped(pieces, room)
    assert [(char, kind) for row in rows for text, kind in row for char in text if not char.isspace()] == looks


@pytest.mark.parametrize("room", [20, 30, 44])
def test_what_belongs_together_stays_together(room: int) -> None:
    (line,) = tokens_of("  return {id, redis.call('HGET', row, 'payload'), attempts}")
    told = ["".join(text for text, _ in row) for row in wrapped(line, room)]
    assert any("'payload')," in row for row in told)
    assert any(row.rstrip().endswith("attempts}") for row in told)
