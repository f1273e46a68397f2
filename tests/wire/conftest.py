"""What tests of the wire share."""

from __future__ import annotations

import pytest

from tests.core.walking import Tap
from visualizer.engine import Engine


@pytest.fixture
def tap(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Tap:
    return Tap(engine, monkeypatch)
