"""Each side feature that the list names is really left out, and nothing else differs on its path."""

from __future__ import annotations

import pytest

from tests.differential.left_out import ALWAYS, LEFT_OUT, LeftOut
from tests.differential.side import Side


@pytest.mark.parametrize("left_out", LEFT_OUT, ids=lambda left_out: left_out.feature)
def test_the_reference_has_it_and_ours_have_not(left_out: LeftOut, reference: Side, ours: Side) -> None:
    for side in (reference, ours):
        side.put({})
    for step in left_out.steps:
        theirs, own = (side.run(step, everything=True) for side in (reference, ours))
    keys = {*theirs.state, *own.state}
    differing = {key for key in keys if theirs.state.get(key) != own.state.get(key)}
    if theirs.reply != own.reply:
        differing.add("reply")
    assert differing - left_out.shows <= ALWAYS
    assert differing >= left_out.shows
