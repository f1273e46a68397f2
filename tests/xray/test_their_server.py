"""A lesson on a server by URL: it is looked into on a copy of our own, and the server sees none of it."""

from __future__ import annotations

import re

import pytest
import redis

from tests.engine.conftest import admin as admin
from tests.engine.conftest import opened as opened
from tests.engine.conftest import their_url as their_url
from tests.engine.conftest import theirs as theirs
from tests.engine.serving import everything, needs_server
from tests.engine.their_server import Opener
from tests.xray.looking import CLAIM, ENQUEUE, player_on, taken
from visualizer.look_inside import source_of
from visualizer.model import Step
from visualizer.script import load
from visualizer.trace import went_another_way
from visualizer.xray import Xray

pytestmark = needs_server

# What looking may send there, and what the reader's own script runs: readings alone.
SENT = {"evalsha", "dump", "pexpiretime", "time", "client|setinfo"}
IN_THE_READER = set(re.findall(r"call\('(\w+)'", load("observe").source.lower()))


def sent_to(admin: redis.Redis) -> set[str]:
    """The commands that the server has run by itself since its counts were reset; those within a script too."""
    counted: dict[str, object] = admin.info("commandstats")
    return {name.removeprefix("cmdstat_") for name in counted}


@pytest.mark.parametrize(
    ("machine", "steps"),
    [
        ("leased", (ENQUEUE, CLAIM, Step("complete", given={"token": "w1"}))),
        ("core", (Step("addDelayedJob", given={"delay_ms": 60_000}), Step("promote"))),
    ],
)
def test_the_server_sees_readings_alone(
    opened: Opener, admin: redis.Redis, machine: str, steps: tuple[Step, ...]
) -> None:
    engine = opened()
    player = player_on(engine, *steps, machine=machine)
    while player.coming is not None:
        for frame in (None, "the step's"):
            shown = taken(player, 1) if frame else None
            before = everything(admin)
            admin.config_resetstat()
            xray = Xray(source_of(player, shown))
            if shown is not None and machine == "core":
                # Its scripts are told the time, so no score is shifted, and none is shown shifted.
                for place, reading in shown.before.places.items():
                    (place_seen,) = [each for each in xray.stops[0].outside.places if each.name == place]
                    assert [score for _, score in place_seen.head] == [member.score for member in reading.members]
            assert xray.to_end().ended
            assert xray._engine is not engine
            assert xray._engine.own
            xray.close()
            seen = sent_to(admin)
            # The copy is asked by EVAL and RESTORE, and its instants are shifted by ZADD.
            assert seen <= SENT | IN_THE_READER | {"config|resetstat"}
            assert shown is not None or "evalsha" in seen, "the coming step's keys are read there"
            assert everything(admin) == before
            if shown is not None:
                assert xray.trace is not None
                assert went_another_way(xray.trace, shown) == ""
