"""A lesson told in lines whose engine fails: each failure is told, and one key starts again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from tests.engine.serving import needs_server
from tests.shell.conftest import TWO_PATHS, Server, Shell, Told, after, begins
from visualizer.engine import Engine
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.player import Player

pytestmark = needs_server

OWNER = b"emq:{small}:visualizer:owner"


@pytest.fixture
def on_last(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has the key for the newest frame do these things first, one each time it is pressed."""

    def arranged(*deeds: Callable[[Player], object]) -> None:
        ordinary, coming = Player.last, iter(deeds)

        def last(player: Player) -> object:
            next(coming, lambda _: None)(player)
            return ordinary(player)

        monkeypatch.setattr(Player, "last", last)

    return arranged


def kill(engine: Engine) -> None:
    assert isinstance(engine, EmbeddedEngine)
    os.kill(engine.server.pid, signal.SIGKILL)


# The private server --------------------------------------------------------------------------------------------------


def test_a_private_server_that_died_is_told_and_another_is_started(told: Told, on_last: Callable[..., None]) -> None:
    used: list[Engine] = []

    def killed(player: Player) -> None:
        used.append(player.engine)
        kill(player.engine)

    on_last(killed, lambda player: used.append(player.engine))
    lines = told("p", "again", "n", "e", "n", "b", "r", "n", "e", spec="valkey")
    assert begins(after(lines, "step", 2), "What ran before can still be looked at; r starts the path again.")
    assert "before the first step" in after(lines, "back"), "the frames are kept"
    again = after(lines, "restart")
    assert begins(again, "REAL Valkey")
    assert "path again: again" in again, "the same path"
    assert "next, step 1 of 2 · enqueue" in again
    assert begins(after(lines, "step", 3), "JOB0KHTOWnGLuC enters pending.")
    first, second = used
    assert first is not second
    assert isinstance(first, EmbeddedEngine)
    assert not os.path.exists(first.server.folder)


def test_a_restart_that_finds_the_server_dead_opens_another_at_once(told: Told, on_last: Callable[..., None]) -> None:
    on_last(lambda player: kill(player.engine))
    lines = told("n", "e", "r", "n", "i", spec="valkey")
    assert "next, step 1 of 3 · enqueue" in after(lines, "restart")
    assert begins(after(lines, "step", 2), "JOB0KHTOWnGLuC enters pending.")
    assert begins(after(lines, "wire"), "inside 1 EXISTS "), "what scripts issue is watched there too"


# The throw-away one ---------------------------------------------------------------------------------------------------


@pytest.fixture
def thrown_away(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Engine]]:
    """The throw-away engines that were made."""
    made: list[Engine] = []
    throwaway = EmbeddedEngine.throwaway

    def kept(engine: EmbeddedEngine) -> Engine:
        made.append(throwaway(engine))
        return made[-1]

    monkeypatch.setattr(EmbeddedEngine, "throwaway", kept)
    yield made
    assert all(not os.path.exists(engine.server.folder) for engine in made if isinstance(engine, EmbeddedEngine))


def test_a_throw_away_engine_that_died_is_told_as_such_and_the_next_question_has_another(
    told: Told, on_last: Callable[..., None], thrown_away: list[Engine]
) -> None:
    on_last(lambda _: kill(thrown_away[-1]))
    lines = told("n", "s", "dead", "e", "s", "dead", "t", "claim", "n", spec="valkey")
    failed = after(lines, "state", 2)
    assert begins(failed, "The throw-away Valkey ")
    assert not begins(failed, "What ran before"), "the lesson's engine has not failed"
    assert any("leaves pending, enters active." in line for line in after(lines, "transition"))
    assert "step 2 of 3 · claim" in after(lines, "step", 2)
    assert len(thrown_away) == 2


# A server by URL ------------------------------------------------------------------------------------------------------


def test_a_queue_that_was_lost_is_opened_again_when_it_is_free(
    shell: Shell, lesson_file: Callable[[str], str], server: Server, on_last: Callable[..., None]
) -> None:
    on_last(
        lambda _: server.client.set(OWNER, b"another", px=600_000),
        lambda _: server.client.flushall(),
    )
    keys = ("n", "e", "n", "b", "r", "e", "r", "n", "q")
    ended = shell(lesson_file(TWO_PATHS), "--plain", "--engine", server.url, lines="".join(f"{key}\n" for key in keys))
    assert ended.code == 0
    lost = after(ended.lines, "step", 2)
    assert begins(lost, "The queue small on the server at ")
    assert begins(lost, "What ran before can still be looked at; r starts the path again.")
    assert "before the first step" in after(ended.lines, "back")
    refused = after(ended.lines, "restart")
    assert begins(refused, "Another visualizer has the queue small")
    assert "step 1 of 3 · enqueue" in after(ended.lines, "last", 2), "what was walked is still there"
    assert "next, step 1 of 3 · enqueue" in after(ended.lines, "restart", 2)
    assert begins(after(ended.lines, "step", 3), "JOB0KHTOWnGLuC enters pending.")
    assert ended.complaint.startswith("Keys may have been left in the queue small")
    assert ended.complaint.count("\n") == 1
    assert server.names() == set()
