"""What the core machine's verbs share: parameters, the keys that follow from a header, the codes of a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from visualizer.caller import Reply
from visualizer.machine.bench import Bench
from visualizer.machine.core_codes import CODES
from visualizer.machine.host import unlisted
from visualizer.model import Outcome, Parameter, Performed
from visualizer.script import load

# The defaults of the worker and of the sweep (contract section 4).
LOCK_DURATION_MS = 30_000
LOCK_RENEW_MS = 15_000
STALLED_INTERVAL_MS = 30_000
MAX_STALLED = 1

WORKER = Parameter("worker", "worker", "who asks, and then holds the token", default="w1")
TOKEN = Parameter("token", "token", "the token to show", required=True)
LOCK_MS = Parameter("lock_ms", "duration_ms", "lockDuration", default=LOCK_DURATION_MS, minimum=1)
NAME = Parameter("name", "text", "what kind of job it is", default="guess")
ATTEMPTS = Parameter("attempts", "count", "how many runs it has in all", default=3, minimum=0)
PARENT = Parameter("parent", "job", "the job that waits for this one")
POLICY = Parameter("on_failure", "text", "fpof, cpof, idof or rdof: what a failure means to the parent")
LIFO = Parameter("lifo", "flag", "served next instead of last", default=False)
DELAY = Parameter("delay_ms", "duration_ms", "how long until it may run", default=0)
PRIORITY = Parameter("priority", "count", "a lower number is served first", required=True, minimum=1)
ENDING = Parameter("ending", "text", "completed or failed", default="completed")
VALUE = Parameter("value", "text", "the result, or why it failed", default="ok")
FETCH = Parameter("fetch", "flag", "ask for the next job in the same call", default=False)
KEEP = Parameter("keep", "count", "how many finished jobs to keep; -1 all, 0 none", default=-1)
ERROR = Parameter("error", "text", "why the run failed, for the row", default="")
SKIP = Parameter("skip_attempt", "flag", "do not count this run", default=False)
CHILD = Parameter("child", "job", "the child to wait for; without it, any")
STALLS = Parameter("max_stalled", "count", "maxStalledCount", default=MAX_STALLED, minimum=0)
INTERVAL = Parameter("interval_ms", "duration_ms", "stalledInterval", default=STALLED_INTERVAL_MS, minimum=1)
PAIRS = Parameter("pairs", "pairs", "the jobs and their tokens", required=True)
STATE = Parameter("state", "text", "completed or failed", default="failed")
RESET = Parameter("reset", "flag", "count attempts from 0 again", default=False)

POLICIES = ("fpof", "cpof", "idof", "rdof")
# A name in a header, where it is not the key's own type.
TYPES = {"waiting_children": "waiting-children", "stalled_check": "stalled-check"}
OF_THE_JOB = {"lock": b":lock", "dependencies": b":dependencies", "unsuccessful": b":unsuccessful", "row": b""}


def keys_of(at: Bench, script: str, **named: bytes) -> dict[str, bytes]:
    """Every key that the script's header names."""
    keys = {}
    for slot in load(script).header.keys:
        if slot.name in named:
            keys[slot.name] = named[slot.name]
        elif slot.name in OF_THE_JOB:
            keys[slot.name] = at.row() + OF_THE_JOB[slot.name]
        elif slot.name == "metrics":
            keys[slot.name] = at.key("metrics:completed")
        else:
            keys[slot.name] = at.key(TYPES.get(slot.name, slot.name))
    return keys


def packed(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def read_reply(reply: Reply, answers: Mapping[Any, str]) -> Performed:
    """What a reply means: one of the answers, or a code of the closed table."""
    if isinstance(reply, int) and reply in CODES:
        return Performed(Outcome(CODES[reply].name, refused=str(reply)))
    if isinstance(reply, bytes | int) and reply in answers:
        return Performed(Outcome(answers[reply]))
    return unlisted(reply)


def code_names(*numbers: int) -> tuple[str, ...]:
    return tuple(CODES[number].name for number in numbers)


UNLOCK_CODES = code_names(-1, -2, -6, -3)
