"""What tests of engines share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's (pytest's own may not)."""
    made = Path("/tmp") / f"emq-test-{os.getpid()}"
    made.mkdir()
    yield made
    shutil.rmtree(made)
