"""Structural sharing of observations: what stayed equal is held once, so that a long walk costs what changed."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from visualizer.model import Observation

Value = TypeVar("Value")


def shared(earlier: Observation, later: Observation) -> Observation:
    """The later observation, holding the earlier one's values wherever they are equal: frames share what stayed."""
    places = {name: _kept(earlier.places.get(name), reading) for name, reading in later.places.items()}
    rows = {job: _kept(earlier.rows.get(job), row) for job, row in later.rows.items()}
    return replace(
        later,
        places=places,
        rows=rows,
        memberships=_kept(earlier.memberships, later.memberships),
        sides=_kept(earlier.sides, later.sides),
    )


def _kept(earlier: Value | None, later: Value) -> Value:
    """The earlier of two equal values."""
    return earlier if earlier is not None and earlier == later else later
