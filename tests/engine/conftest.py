"""What tests of engines share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis

from tests.engine.refusing import PASSWORD
from tests.engine.serving import tcp_server
from tests.engine.their_server import FOREIGN, Opener
from visualizer.engine import EmbeddedServer, Engine, open_engine, url


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's (pytest's own may not)."""
    made = Path("/tmp") / f"emq-test-{os.getpid()}"
    made.mkdir()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def theirs() -> Iterator[EmbeddedServer]:
    """A server of somebody else's, reached by its URL."""
    server = EmbeddedServer.spawn()
    server.wait()
    yield server
    server.close()


@pytest.fixture
def their_url(theirs: EmbeddedServer) -> str:
    return f"unix://{theirs.socket_path}"


@pytest.fixture
def admin(theirs: EmbeddedServer) -> Iterator[redis.Redis]:
    """Its owner's client, on a server that holds only keys outside the queue."""
    with redis.Redis(unix_socket_path=theirs.socket_path) as client:
        client.flushall()
        client.config_resetstat()
        for key, value in FOREIGN.items():
            client.set(key, value)
        yield client


@pytest.fixture
def opened(their_url: str, admin: redis.Redis) -> Iterator[Opener]:  # noqa: ARG001 - it empties the server
    """Opens engines on that server and closes them with the test."""
    with ExitStack() as closing:

        def open_one(queue: str = "cm", take_over: bool = False) -> Engine:
            engine = open_engine(their_url, queue=queue, take_over=take_over)
            closing.callback(engine.close)
            return engine

        yield open_one


@pytest.fixture(scope="session")
def locked() -> Iterator[int]:
    """The port of a server that wants a password."""
    with tcp_server("--requirepass", PASSWORD) as port:
        yield port


@pytest.fixture
def brief_greeting(monkeypatch: pytest.MonkeyPatch) -> None:
    """For servers that do not speak first, so that the wait for it costs no second."""
    monkeypatch.setattr(url, "GREETING_SECONDS", 0.05)
