"""A Valkey of its own for the core machine: a lesson's clock changes how the whole server lets expire."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import QUEUE
from visualizer.engine import EmbeddedServer, Engine, open_engine


@pytest.fixture(scope="session")
def valkey_session() -> Iterator[Engine]:
    engine = open_engine("valkey", queue=QUEUE, spawned=EmbeddedServer.spawn())
    yield engine
    engine.close()
