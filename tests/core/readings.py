"""Readings built by hand: a queue as it might be, and the evidence for a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.core.walking import GUESS, RIVAL, THIRD
from visualizer.model import Evidence, Grant, Lock, Member, Observation, Outcome, Performed, PlaceReading, Row

CLOCK_MS = 1_000_000
PLACES = ("pending", "active", "schedule", "dead")
STATES = {"pending": b"pending", "active": b"active", "schedule": b"scheduled", "dead": b"dead"}


def row(state: str = "pending", attempts: int = 0, **fields: bytes) -> Row:
    named = {name.encode(): value for name, value in fields.items()}
    return Row({b"state": state.encode(), b"attempts": b"%d" % attempts, **named})


def place(name: str, *members: tuple[bytes, float], count: int | None = None, first: int = 0) -> PlaceReading:
    """A place with these (id, score) in their order, of ``count`` members in all."""
    found = tuple(Member(job, rank, score) for rank, (job, score) in enumerate(members, first))
    return PlaceReading(name, len(found) if count is None else count, found)


def seen(
    *places: PlaceReading,
    rows: Mapping[bytes, Row | None] | None = None,
    captured: tuple[bytes, ...] = (GUESS, RIVAL, THIRD),
    clock_ms: int = CLOCK_MS,
    locks: Mapping[bytes, Lock] | None = None,
    sides: Mapping[str, Any] | None = None,
) -> Observation:
    """A reading of those places (the others empty). Rows that are not given say what their place says."""
    held = {name: PlaceReading(name, 0) for name in PLACES}
    held.update({reading.name: reading for reading in places})
    homes: dict[bytes, list[str]] = {job: [] for job in captured}
    read_rows: dict[bytes, Row | None] = dict.fromkeys(captured)
    for reading in held.values():
        for member in reading.members:
            if member.id in homes:
                homes[member.id].append(reading.name)
            state = STATES.get(reading.name, b"pending")
            read_rows[member.id] = Row({b"state": state, b"attempts": b"0"})
    read_rows.update(rows or {})
    return Observation(
        clock_ms,
        held,
        {job: tuple(places) for job, places in homes.items()},
        read_rows,
        locks or {},
        sides or {},
    )


def evidence(
    before: Observation,
    after: Observation,
    did: str | None = "update_data",
    job: bytes | None = GUESS,
    outcome: str = "updated",
    refused: str | None = None,
    grants: tuple[Grant, ...] = (),
) -> Evidence:
    performed = Performed(Outcome(outcome, refused=refused), grants)
    return Evidence(before, after, before.homes(), after.homes(), did, job, performed)
