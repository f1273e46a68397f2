"""A proof with as few processes as can be: one of each kind."""

from __future__ import annotations

import pytest

from visualizer.prove import proving


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what is told and of how it ends: most of a short proof is the start of its processes."""
    monkeypatch.setattr(proving, "WORKERS", 1)
    monkeypatch.setattr(proving, "OBSERVERS", dict.fromkeys(proving.OBSERVERS, 1))
