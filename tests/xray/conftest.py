"""Servers of the x-ray's own tests: one for debugger sessions alone, one that many x-rays take for their copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import QUEUE
from tests.xray.looking import own_script, source_for
from visualizer import xray as of_xray
from visualizer.engine import EmbeddedServer, Engine, open_engine
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.xray import Xray


@pytest.fixture(scope="session")
def bare() -> Iterator[EmbeddedServer]:
    """A private server for debugger sessions."""
    server = EmbeddedServer.spawn()
    server.wait()
    yield server
    server.close()


class Lasting(EmbeddedEngine):
    """A private engine that does not end when an x-ray closes it."""

    def close(self) -> str | None:
        return None

    def end(self) -> None:
        super().close()


@pytest.fixture(scope="session")
def lasting() -> Iterator[Lasting]:
    engine = Lasting(EmbeddedServer.spawn(), QUEUE, b"emq:{cm}:")
    yield engine
    engine.end()


@pytest.fixture
def one_copy(lasting: Lasting, monkeypatch: pytest.MonkeyPatch) -> Lasting:
    """Spares the x-rays of a test the start of a server each: all get the same one, and empty it first."""
    monkeypatch.setattr(of_xray, "private_engine", lambda _queue, _base: lasting)
    return lasting


@pytest.fixture(scope="session")
def core_session() -> Iterator[Engine]:
    """A Valkey for lessons of the core machine: their clock changes how the whole server lets expire."""
    engine = open_engine("valkey", queue=QUEUE, spawned=EmbeddedServer.spawn())
    yield engine
    engine.close()


@pytest.fixture
def on_core(core_session: Engine) -> Engine:
    core_session.clear_queue()
    return core_session


@pytest.fixture
def xray_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Opens x-rays of a test's own scripts."""
    opened: list[Xray] = []

    def open_one(source: str) -> Xray:
        script = own_script(source)
        monkeypatch.setattr(of_xray, "load", lambda _: script)
        opened.append(Xray(source_for(script)))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()
