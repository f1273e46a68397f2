"""Engines for tests: every test that takes ``engine`` runs on an embedded Valkey and on fakeredis."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import settings

from visualizer.caller import Caller
from visualizer.engine import EmbeddedServer, Engine, open_engine
from visualizer.keyspace import Keyspace
from visualizer.machine.bench import Bench
from visualizer.model import Step

QUEUE = "cm"

# A shell starts what runs in its background with SIGINT ignored, and every program of a test would inherit that: none
# of them could be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Whatever the shell says: else every run would rewrite the asserts of every test file, and every program that a test
# starts would compile all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Every run tries the same examples; `pytest --hypothesis-profile=searching` tries new ones. No example has a deadline,
# since machines are noisy.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.register_profile("searching", deadline=None, print_blob=True)
settings.load_profile("repeatable")


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: they are not looked through again and again for what nobody uses."""
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(scope="session")
def valkey_session() -> Iterator[Engine]:
    """One private Valkey for the whole run; tests get it with an empty queue."""
    engine = open_engine("valkey", queue=QUEUE, spawned=EmbeddedServer.spawn())
    yield engine
    engine.close()


@pytest.fixture
def valkey(valkey_session: Engine) -> Engine:
    valkey_session.clear_queue()
    return valkey_session


@pytest.fixture
def fake() -> Iterator[Engine]:
    engine = open_engine("fakeredis", queue=QUEUE)
    yield engine
    engine.close()


@pytest.fixture(params=["valkey", "fakeredis"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue("valkey" if request.param == "valkey" else "fake")
    return found


def bench_for(engine: Engine, queue: str, step: Step, tokens: Mapping[tuple[str, bytes], bytes] | None = None) -> Bench:
    """A bench on an engine, for a test that runs one verb."""
    return Bench(Caller(engine), Keyspace(queue, "job:"), step, tokens or {})


@pytest.fixture
def url_engine() -> Iterator[Engine]:
    """An engine on a server that is not ours."""
    server = EmbeddedServer.spawn()
    server.wait()
    engine = open_engine(f"unix://{server.socket_path}", queue="cm")
    yield engine
    engine.close()
    server.close()
