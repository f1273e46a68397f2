"""The naive queue: a status flag beside the place, moved by separate commands, one command a frame.

It is what the scripted queue is compared with: each command alone is right, and a crash between two of them is not.
"""

from __future__ import annotations

from visualizer.model import Machine, Outcome, Parameter, Performed
from visualizer.script import ErrorReply, Reply
from visualizer.steps import NamedStep, Stage

_LEASE = Parameter("lease_ms", "duration_ms", "how long the claim lasts", default=30_000, minimum=1)


def _did(reply: Reply, name: str) -> Performed:
    if isinstance(reply, ErrorReply):
        return Performed(Outcome("error", refused=reply.text), kind="commands")
    return Performed(Outcome(name), kind="commands")


def _enqueue(at: Stage) -> Performed:
    wrote = at.command("HSET", "state", "pending", "attempts", 0, "payload", at.step.payload, keys=(at.row(),))
    if isinstance(wrote, ErrorReply):
        return _did(wrote, "")
    return _did(at.command("ZADD", 0, at.id, keys=(at.key("pending"),)), "enqueued")


def _claim_flag(at: Stage) -> Performed:
    return _did(at.command("HSET", "state", "active", keys=(at.row(),)), "flagged")


def _claim_leave(at: Stage) -> Performed:
    return _did(at.command("ZREM", at.id, keys=(at.key("pending"),)), "left")


def _claim_enter(at: Stage) -> Performed:
    # The naive client adds the lease to the last time it knows: the reading before this command.
    ends_at_ms = at.before.clock_ms + int(at.take(_LEASE))
    return _did(at.command("ZADD", ends_at_ms, at.id, keys=(at.key("active"),)), "entered")


def _complete_check(at: Stage) -> Performed:
    return _did(at.command("HGET", "attempts", keys=(at.row(),)), "checked")


def _complete_leave(at: Stage) -> Performed:
    return _did(at.command("ZREM", at.id, keys=(at.key("active"),)), "left")


def _complete_row(at: Stage) -> Performed:
    return _did(at.command("DEL", keys=(at.row(),)), "deleted")


def _complete_count(at: Stage) -> Performed:
    return _did(at.command("HINCRBY", "count", 1, keys=(at.key("metrics:completed"),)), "counted")


def _has_its_places(machine: Machine) -> bool:
    """Whether the machine is one that the naive queue can be compared with."""
    return {"pending", "active"} <= {place.name for place in machine.places}


NAIVE_STEPS: dict[str, NamedStep] = {
    name: NamedStep(name, sentence, "commands", parameters, (outcome, "error"), True, run, fits=_has_its_places)
    for name, sentence, parameters, outcome, run in (
        ("naive_enqueue", "Write the row, then add the id to pending.", (), "enqueued", _enqueue),
        ("naive_claim_flag", "Write the flag: HSET state active.", (), "flagged", _claim_flag),
        ("naive_claim_leave", "Take the id out of pending: ZREM.", (), "left", _claim_leave),
        ("naive_claim_enter", "Put the id into active: ZADD.", (_LEASE,), "entered", _claim_enter),
        ("naive_complete_check", "Read the token: HGET attempts.", (), "checked", _complete_check),
        ("naive_complete_leave", "Take the id out of active: ZREM.", (), "left", _complete_leave),
        ("naive_complete_row", "Delete the row: DEL.", (), "deleted", _complete_row),
        ("naive_complete_count", "Count it: HINCRBY metrics:completed count 1.", (), "counted", _complete_count),
    )
}
