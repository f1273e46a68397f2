"""Watching what the scripts issue changes nothing, also where the lesson's clock holds every expiry."""

from __future__ import annotations

from typing import Any

import pytest

from visualizer.cli.playing import failures, play
from visualizer.engine import Engine
from visualizer.lesson import find, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.player import Player

EVERY = load(find("every-transition"), MACHINES, NAMED_STEPS)
LOCKS = load(find("lock-protocol"), MACHINES, NAMED_STEPS)


def dumps(engine: Engine) -> dict[bytes, bytes]:
    client: Any = engine.client
    return {key: client.dump(key) for key in client.scan_iter(match=engine.pattern, count=1000)}


@pytest.mark.parametrize("path", ["completion", "stalled-twice", "parent-and-child"])
def test_a_watched_walk_leaves_the_same_keys_as_an_unwatched_one(engine: Engine, path: str) -> None:
    left = []
    for watch in (False, True):
        player = Player(EVERY, engine, watch=watch)
        player.choose(path)
        assert [told for frame, _ in play(player) for told in failures(frame)] == []
        left.append(dumps(engine))
    assert left[0] == left[1]


@pytest.mark.parametrize("path", [path.name for path in LOCKS.paths])
def test_a_clock_that_is_held_stays_held(valkey: Engine, path: str) -> None:
    # The call goes over the connection that still sees a key whose time has come, and no other.
    player = Player(LOCKS, valkey, watch=True)
    player.choose(path)
    for frame, _ in play(player):
        assert failures(frame) == []
        assert all(call.issued is not None for call in frame.calls if call.command == "EVALSHA")
