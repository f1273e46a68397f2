"""The lesson's clock where the server has its own way: one that is restarted, and one that is not ours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.core_machine.core_walking import (
    BASE,
    GUESS,
    LOCK_MS,
    RIVAL,
    STEP_MS,
    at_ms,
    clock_of,
    left_ms,
    names_on_the_server,
    on_the_server,
    passes,
    picked_up,
    take,
    texts,
    the_lesson,
    walker_on,
)
from tests.engine.serving import needs_server
from visualizer.engine import EmbeddedServer, Engine, open_engine
from visualizer.player import Player

LOCK = GUESS + b":lock"


# A server that was restarted ------------------------------------------------------------------------------------------


@pytest.fixture
def private() -> Iterator[Engine]:
    engine = open_engine("valkey", queue="cm")
    yield engine
    engine.close()


@needs_server
def test_a_lock_survives_a_restart_and_still_runs_by_the_lessons_clock(private: Engine) -> None:
    walker = walker_on(private)
    picked_up(walker, lock_ms=40)
    take(walker, "addParentJob", RIVAL)
    time.sleep(0.06)
    before = on_the_server(private)
    frame = take(walker, "restart_server", None)
    assert frame.outcome.name == "restarted"
    assert frame.moves == ()
    assert on_the_server(private) == before
    assert left_ms(walker) == 40 - 2 * STEP_MS
    time.sleep(0.06)
    assert walker.look().frames[-1] is frame
    assert take(walker, "extendLock", token="w1", lock_ms=40).outcome.name == "extended"
    passes(walker, 40)
    assert take(walker, "moveToFinished", token="w1").outcome.refused == "-2"


@needs_server
def test_a_restart_keeps_what_lies_beside_the_rows(private: Engine) -> None:
    """No script names these keys: they are built from the job's row."""
    walker = walker_on(private)
    take(walker, "addParentJob", RIVAL)
    take(walker, "addStandardJob", parent=RIVAL)
    take(walker, "restart_server", None)
    assert RIVAL + b":dependencies" in names_on_the_server(private)
    take(walker, "moveToActive", None)
    take(walker, "moveToFinished", token="w1")
    assert walker.walk.frames[-1].after.memberships[RIVAL] == ("wait",)
    take(walker, "restart_server", None)
    assert RIVAL + b":processed" in names_on_the_server(private)


@needs_server
def test_an_empty_restart_leaves_the_clock_going(private: Engine) -> None:
    walker = walker_on(private)
    picked_up(walker)
    frame = take(walker, "restart_server", None, keep=False)
    assert names_on_the_server(private) == set()
    assert at_ms(frame.after) == 30
    picked_up(walker, lock_ms=40)
    time.sleep(0.06)
    assert take(walker, "moveToFinished", token="w1").outcome.name == "completed"


# A server by its URL --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs() -> Iterator[EmbeddedServer]:
    server = EmbeddedServer.spawn()
    server.wait()
    yield server
    server.close()


@pytest.fixture
def by_url(theirs: EmbeddedServer) -> Iterator[Engine]:
    engine = open_engine(f"unix://{theirs.socket_path}", queue="cm")
    yield engine
    engine.close()


@needs_server
def test_on_a_server_by_url_the_clock_and_the_locks_are_the_servers(by_url: Engine) -> None:
    walker = walker_on(by_url)
    assert not clock_of(walker).held
    assert walker.walk.opening.epoch_ms == 0
    frame = picked_up(walker)
    client: Any = by_url.client
    assert 0 < client.pttl(BASE + LOCK) <= LOCK_MS
    now_ms = frame.after.clock_ms
    assert abs(now_ms - walker.server_now_ms()) < 60_000
    row = frame.after.rows[GUESS]
    assert row is not None
    assert abs(int(row.fields[b"processedOn"]) - now_ms) < 60_000
    assert client.config_get("import-mode") == {"import-mode": "no"}


@needs_server
def test_on_a_server_by_url_a_lock_runs_out_by_itself(by_url: Engine) -> None:
    walker = walker_on(by_url)
    picked_up(walker, lock_ms=40)
    frame = passes(walker, 60)
    assert left_ms(walker) is None
    assert texts(walker)[0].endswith("passed on the server's clock. Nothing moved.") or frame.moves
    assert take(walker, "moveToFinished", token="w1").outcome.refused == "-2"


@needs_server
def test_on_a_server_by_url_a_rewind_says_whose_clock_it_is(by_url: Engine) -> None:
    player = Player(the_lesson(), by_url)
    player.jump(2)
    player.back()
    _, told = player.rewind()
    assert told == "Replayed from the start, since the server's clock cannot be set back; one frame after it dropped."


@needs_server
def test_on_a_server_by_url_nothing_of_a_flow_is_left_behind(theirs: EmbeddedServer) -> None:
    engine = open_engine(f"unix://{theirs.socket_path}", queue="flow")
    player = Player(the_lesson(), engine)
    player.choose("parent")
    player.jump(4)
    assert all(expected.met for frame in player.walk.frames for expected in frame.expected)
    client: Any = engine.client
    assert client.exists(b"emq:{flow}:" + GUESS + b":processed") == 1
    assert engine.close() is None
    again = open_engine(f"unix://{theirs.socket_path}", queue="flow")
    again.close()
