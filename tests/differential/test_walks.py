"""Random walks of a whole queue: the same steps on both sides, compared after each.

Every seed is one walk, the profiles in turn; ``DIFFERENTIAL_SEEDS=600`` takes more of them.
"""

from __future__ import annotations

import os

import pytest

from tests.differential.record import Taken, follow
from tests.differential.side import Side
from tests.differential.walks import LENGTH, PROFILES, record_walk
from visualizer.caller import ErrorReply

SEEDS = int(os.environ.get("DIFFERENTIAL_SEEDS", "50"))


@pytest.mark.parametrize("profile", PROFILES)
def test_ours_walk_as_the_reference(profile: str, reference: Side, ours: Side) -> None:
    for seed in range(list(PROFILES).index(profile), SEEDS, len(PROFILES)):
        assert follow(ours, record_walk(reference, profile, seed)) == "", f"profile {profile!r}, seed {seed}"


@pytest.mark.parametrize("profile", PROFILES)
def test_ours_walk_so_on_fakeredis(profile: str, reference: Side, ours_emulated: Side) -> None:
    assert follow(ours_emulated, record_walk(reference, profile, 0)) == ""


def test_a_walk_is_the_same_every_time(reference: Side) -> None:
    first, again = (record_walk(reference, "mixed", 7) for _ in range(2))
    assert first == again
    assert len(first) == LENGTH


def test_walks_meet_every_script_and_no_error(recorded_walks: list[list[Taken]], ours: Side) -> None:
    met = [taken for walk in recorded_walks for taken in walk]
    assert {getattr(taken.step, "script", None) for taken in met} >= ours.scripts
    assert [taken.expected.reply for taken in met if isinstance(taken.expected.reply, ErrorReply)] == []
