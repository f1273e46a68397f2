"""Which scripts an engine is known to hold: noted as they are loaded, forgotten with the server's cache."""

from __future__ import annotations

import pytest
import redis

from tests.engine.serving import needs_server
from visualizer.engine import Engine, open_engine

SOURCE = "return 7"


def test_a_script_that_is_loaded_is_noted(engine: Engine) -> None:
    engine.send("SCRIPT", "FLUSH")
    assert engine.loaded == set()
    sha1 = engine.send("SCRIPT", "LOAD", SOURCE).decode()
    assert engine.loaded == {sha1}
    assert engine.send("EVALSHA", sha1, 0) == 7
    assert engine.loaded == {sha1}


def test_a_flush_forgets_them(engine: Engine) -> None:
    engine.send("SCRIPT", "LOAD", SOURCE)
    engine.send("SCRIPT", "FLUSH")
    assert engine.loaded == set()


def test_a_server_that_does_not_know_one_is_taken_to_know_none(engine: Engine) -> None:
    sha1 = engine.send("SCRIPT", "LOAD", SOURCE).decode()
    engine.loaded.add("what another caller loaded")
    engine.client.script_flush()
    with pytest.raises(redis.exceptions.NoScriptError):
        engine.send("EVALSHA", sha1, 0)
    assert engine.loaded == set()


def test_another_error_forgets_nothing(engine: Engine) -> None:
    engine.send("SCRIPT", "LOAD", SOURCE)
    with pytest.raises(redis.exceptions.ResponseError):
        engine.send("EVALSHA")
    assert len(engine.loaded) == 1


@needs_server
def test_a_restarted_server_knows_none() -> None:
    engine = open_engine("valkey", queue="cm")
    engine.send("SCRIPT", "LOAD", SOURCE)
    engine.restart()
    assert engine.loaded == set()
    engine.close()
