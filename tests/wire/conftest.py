"""What tests of the wire share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.walking import Tap
from visualizer.engine import EmbeddedServer, Engine, open_engine


@pytest.fixture
def tap(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Tap:
    return Tap(engine, monkeypatch)


@pytest.fixture
def url_engine() -> Iterator[Engine]:
    """An engine on a server that is not ours."""
    server = EmbeddedServer.spawn()
    server.wait()
    engine = open_engine(f"unix://{server.socket_path}", queue="cm")
    yield engine
    engine.close()
    server.close()
