"""What a core script's name and width promise, and that its shared steps are shared."""

from __future__ import annotations

import pytest

from visualizer.resources import lua_folder
from visualizer.script import all_names, load

COLUMNS = 76
PLACES = {
    *("wait", "paused", "delayed", "prioritized", "active", "completed", "failed", "waiting-children"),
    *("nothing", "gone"),
}
NAMES = [name for name in all_names() if name.startswith("core/")]


def test_there_are_eighteen() -> None:
    assert len(NAMES) == 18


@pytest.mark.parametrize("name", NAMES)
def test_the_name_ends_with_the_number_of_keys(name: str) -> None:
    assert int(name.rpartition("-")[2]) == len(load(name).header.keys)


@pytest.mark.parametrize("name", NAMES)
def test_moves_name_places(name: str) -> None:
    """``wait, prioritized -> active | …``: from any of these to any of those."""
    moves = load(name).header.moves
    edges = [] if moves == "none" else moves.split(" | ")
    for edge in edges:
        sources, _, targets = edge.partition(" -> ")
        assert {*sources.split(", "), *targets.split(", ")} <= PLACES


def test_scripts_fit_their_panel() -> None:
    too_wide = [
        f"{path.name}:{number}"
        for path in (lua_folder() / "core").rglob("*.lua")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > COLUMNS
    ]
    assert too_wide == []


def test_every_step_is_used_and_says_what_it_is() -> None:
    used = {step for name in NAMES for _, _, step in load(name).shared}
    steps = list((lua_folder() / "core" / "steps").glob("*.lua"))
    assert {path.stem for path in steps} == used
    assert all(path.read_text(encoding="utf-8").startswith("-- ") for path in steps)
