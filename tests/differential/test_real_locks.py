"""Locks of 40 ms that really run out: a server's own expiry does what the other tests do by deleting the key."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.differential.calls import (
    BASE,
    Command,
    Step,
    add,
    complete,
    delay,
    extend,
    fail,
    give_back,
    lock,
    release,
    retry,
    sweep,
    take,
)
from tests.differential.record import difference
from tests.differential.side import Seen, Side

SHORT_MS = 40
DEADLINE_SECONDS = 20.0
FIELDS = {"failedReason": "boom"}
LOCK, CHECK = lock("a"), BASE + "stalled-check"


class Gone(Command, frozen=True):
    """Not a step of its own: wait until the key has run out on both sides."""


def _gone(*keys: str) -> Iterator[Step]:
    return (Gone(("EXISTS", key)) for key in keys)


def _swept(at: int) -> Step:
    return sweep(at, interval_ms=SHORT_MS)


# The contract's path D: stalled twice, then the failure that the sweep has deferred.
STALLED_TWICE = [
    *(add("a"), take("w1:1", lock_ms=SHORT_MS), sweep(20, interval_ms=30_000), sweep(21)),
    *(Command(("DEL", CHECK)), *_gone(LOCK), _swept(60)),
    *(take("w2:1", 70, SHORT_MS), *_gone(CHECK), _swept(80), *_gone(LOCK, CHECK), _swept(120)),
    *(take("w3:1", 150), fail("a", "w3:1", 151)),
]
# Path E: the lock is lost, then it is another's, and the lawful owner finishes.
LOST = [
    *(add("a"), take("w1:1", lock_ms=SHORT_MS), *_gone(LOCK), extend("a", "w1:1"), complete("a", "w1:1", 60)),
    *(
        fail("a", "w1:1", 61, fields=FIELDS),
        delay("a", "w1:1", fields=FIELDS),
        retry("a", "w1:1"),
        give_back("a", "w1:1"),
    ),
    *(
        _swept(70),
        *_gone(CHECK),
        sweep(110),
        take("w2:1", 120),
        complete("a", "w1:1"),
        delay("a", "w1:1", fields=FIELDS),
    ),
    *(extend("a", "w1:1"), release("a", "w1:1"), complete("a", "w2:1", 140), complete("a", "w2:1", 141)),
]


@pytest.mark.parametrize("steps", [STALLED_TWICE, LOST], ids=["stalled twice", "a lost lock"])
def test_a_lock_that_runs_out_is_one_that_is_gone(steps: list[Step], reference: Side, ours: Side) -> None:
    sides = (reference, ours)
    for side in sides:
        side.put({})
    for number, step in enumerate(steps):
        if isinstance(step, Gone):
            _wait(step, sides)
            continue
        expected, seen = (side.run(step) for side in sides)
        assert difference(step, _lockless(expected), _lockless(seen)) == "", f"step {number}"


def _wait(gone: Gone, sides: tuple[Side, Side]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while any(side.run(gone).reply for side in sides):
        assert time.monotonic() < deadline, f"it has not run out: {gone.words}"
        time.sleep(0.002)


def _lockless(seen: Seen) -> Seen:
    """Without the keys that may run out on one side a moment before they do on the other; the replies tell of them."""
    return Seen(
        seen.reply, {name: held for name, held in seen.state.items() if name not in ("a:lock", "stalled-check")}
    )
