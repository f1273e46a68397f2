"""The empty queue that every test of the leased machine starts with, on each engine in turn."""

from __future__ import annotations

import pytest

from tests.leased.queue_under_test import QueueUnderTest
from visualizer.engine import Engine


@pytest.fixture
def queue(engine: Engine) -> QueueUnderTest:
    return QueueUnderTest(engine)
