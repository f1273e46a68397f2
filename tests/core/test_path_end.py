"""What a path's end names, step by step: ways, refusals, bytes, and scripts that had to be loaded."""

from __future__ import annotations

import re

import pytest

from tests.lessons.writing import read
from visualizer.engine import Engine
from visualizer.lesson import find
from visualizer.path_end import showed
from visualizer.player import Player


def shown_of(engine: Engine, lesson: str, path: str) -> list[tuple[str, str]]:
    player = Player(read(find(lesson), 0.01), engine, keep_dumps=False)
    player.choose(path)
    return list(showed(player.jump(len(player.path.steps)).frames))


def test_who_is_refused_and_who_is_not(engine: Engine) -> None:
    told = shown_of(engine, "read-decide-write", "fencing-token")
    assert told == [
        ("enqueue", "nothing → pending"),
        ("claim", "pending → active"),
        ("reap", "active → pending"),
        ("claim", "pending → active"),
        ("w1 completes", "refused: EMQSTALE"),
        ("w2 completes", "active → nothing"),
    ]


def test_bytes(engine: Engine) -> None:
    told = dict(shown_of(engine, "evalsha-and-noscript", "bytes"))
    counted = [int(told[name].removesuffix(" bytes").replace(",", "")) for name in ("20 × EVAL", "20 × EVALSHA")]
    assert counted[0] > 5 * counted[1] > 0


@pytest.mark.parametrize(
    ("path", "name", "pattern"),
    [
        ("flush", "after the flush", "nothing → pending, after NOSCRIPT"),
        ("wrong-sha", "wrong SHA-1", "refused: NOSCRIPT"),
        ("wrong-sha", "changed on the way", "the caller stopped"),
        ("wrong-sha", "the true text", "after NOSCRIPT"),
    ],
)
def test_a_cache_that_does_not_know_the_script(engine: Engine, path: str, name: str, pattern: str) -> None:
    assert re.fullmatch(pattern, dict(shown_of(engine, "evalsha-and-noscript", path))[name])


def test_a_code_that_is_a_number_is_told_in_words(engine: Engine) -> None:
    told = shown_of(engine, "lock-protocol", "finish-twice")
    refused = [what for _, what in told if "refused" in what]
    assert refused
    assert not any(re.search(r"refused: -?\d", what) for what in refused)
