"""What the reference does beside moving jobs and ours do not: the one list, with a path that shows each.

Beyond it there are the reference's other 33 scripts (schedulers, cleaning, counting, changing a job that waits), of
which none has a counterpart here.
"""

from __future__ import annotations

from msgspec import Struct

from tests.differential.calls import (
    BASE,
    Command,
    Parent,
    Step,
    add,
    add_parent,
    complete,
    expire_lock,
    next_interval,
    reprocess,
    sweep,
    take,
)

# Written by the reference alone: no comparison looks at them. Beside these every `metrics:` key.
IGNORED_KEYS = frozenset({"events", "marker"})
IGNORED_META = frozenset({b"opts.maxLenEvents"})
# What differs on every path, since nearly every script of the reference writes it.
ALWAYS = frozenset({*IGNORED_KEYS, "meta"})

ELSEWHERE = "emq:{other}:"


class LeftOut(Struct, frozen=True):
    """One side feature, what differs after the last step (keys, or the reply), and the steps."""

    feature: str
    shows: frozenset[str]
    steps: tuple[Step, ...]


def _left_out(feature: str, shows: str, *steps: Step) -> LeftOut:
    return LeftOut(feature, frozenset(shows.split()), steps)


_CHILD = add("k", parent=Parent("P"))
_TAKEN = (add("a"), take())

LEFT_OUT = (
    _left_out("a stream of events, with a limit to its length", "events meta", add("a")),
    _left_out("a marker that wakes workers which wait for it", "marker", add("a")),
    _left_out("counts a minute", "metrics:completed", *_TAKEN, complete("a", maxMetricsSize=9)),
    _left_out("a rate limit", "limiter", add("a"), take(limiter={"max": 1, "duration": 9000})),
    _left_out("the worker's name in the row", "reply a", add("a"), take(name="w")),
    _left_out("deduplication", "de:d a", add("a", de={"id": "d"}, side_keys=(None, BASE + "de:d"))),
    _left_out("the key of a repeating job", "a", add("a", side_keys=("r", None))),
    _left_out(
        "no limit to the stalls of a repeating job",
        "a",
        *(add("a", repeat={"every": 1000}), take(), sweep(), expire_lock("a"), next_interval(), sweep(max_stalled=0)),
    ),
    _left_out(
        "keeping only so many finished jobs",
        "completed a",
        *(*_TAKEN, add("b"), take("w2"), complete("a"), complete("b", "w2", at=21, keep={"count": 1})),
    ),
    _left_out(
        "keeping finished jobs only for so long",
        "completed a",
        *(*_TAKEN, add("b"), take("w2"), complete("a"), complete("b", "w2", at=9000, keep={"count": -1, "age": 5})),
    ),
    _left_out("ids that begin with 0: and are no jobs", "reply active 0:1 0:1:lock", add("0:1"), take()),
    _left_out(
        "a finished child that runs again is pending again",
        "P:dependencies P:processed",
        *(add_parent("P"), _CHILD, take(), complete("k"), reprocess("k", "completed")),
    ),
    _left_out("an id again gets the parent that it names", "k P:dependencies", add("k"), add_parent("P"), _CHILD),
    _left_out(
        "a parent in another queue",
        f"{ELSEWHERE}wait {ELSEWHERE}waiting-children {ELSEWHERE}events {ELSEWHERE}marker",
        Command(("HSET", ELSEWHERE + "P", "name", "job")),
        Command(("ZADD", ELSEWHERE + "waiting-children", 1, "P")),
        *(add("k", parent=Parent("P", base=ELSEWHERE)), take(), complete("k")),
    ),
)
