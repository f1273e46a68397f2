"""The naive queue: a status flag beside the place, moved by separate commands, one command a frame.

It is what the scripted queue is compared with: each command alone is right, and a crash between two of them is not.
A completion is the commands of the script `complete`, a reap those of `reap`, in the same order. Whether a command is
sent is decided by what the same caller read before, however long ago: a naive caller has nothing else to go by.
"""

from __future__ import annotations

from collections.abc import Callable

from visualizer.caller import ErrorReply, Reply
from visualizer.model import Frame, Machine, Outcome, Parameter, Performed
from visualizer.steps import NamedStep, Stage
from visualizer.visible import visible

_LEASE = Parameter("lease_ms", "duration_ms", "how long the claim lasts", default=30_000, minimum=1)
_TOKEN = Parameter("token", "token", "what the worker compares the row with; without it, it only looks for the row")

Run = Callable[[Stage], Performed]


def _did(reply: Reply, name: str, note: str = "") -> Performed:
    if isinstance(reply, ErrorReply):
        return Performed(Outcome("error", refused=reply.text), kind="commands")
    return Performed(Outcome(name, note=note), kind="commands")


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


def _read_before(at: Stage, do: str) -> Frame | None:
    """What this caller read for this job: its own last step of that name, None where it took none."""
    for past in reversed(at.earlier):
        step = past.step
        if step is not None and (step.do, step.id, step.turn) == (do, at.step.id, at.step.turn):
            return past
    return None


def _removed(at: Stage, place: str) -> Performed:
    """Takes the id out of a place, and tells what the answer says: whether it was there."""
    reply = at.command("ZREM", at.id, keys=(at.key(place),))
    return _did(reply, "left" if reply else "not_there")


def _skipped(why: str) -> Performed:
    return Performed(Outcome("skipped", note=why, sent=False), kind="commands")


# Completing -----------------------------------------------------------------------------------------------------------


def _complete_check(at: Stage) -> Performed:
    token = None if at.take(_TOKEN) is None else at.token()
    read = at.command("HGET", "attempts", keys=(at.row(),))
    if read is None:
        return _did(read, "gone", "it read no attempts, so the worker will send nothing more")
    if token is None or not isinstance(read, bytes):
        return _did(read, "checked")
    both = f"the worker holds {visible(token, 12)} and read {visible(read, 12)}"
    if token != read:
        return _did(read, "other_token", f"{both}, so it will send nothing more")
    return _did(read, "checked", f"{both}, and goes by that from here on")


def _if_checked(run: Run) -> Run:
    """A command that a worker sends only where its check found nothing against it."""

    def decided(at: Stage) -> Performed:
        check = _read_before(at, "naive_complete_check")
        if check is not None and check.outcome.name != "checked":
            return _skipped("the worker's check told it to stop, so it sends nothing")
        return run(at)

    return decided


def _complete_pending(at: Stage) -> Performed:
    left = _read_before(at, "naive_complete_leave")
    if left is not None and left.outcome.name == "left":
        return _skipped("the worker's ZREM found the id in active, so it does not look in pending and sends nothing")
    return _removed(at, "pending")


def _complete_row(at: Stage) -> Performed:
    return _did(at.command("DEL", keys=(at.row(),)), "deleted")


def _complete_count(at: Stage) -> Performed:
    return _did(at.command("HINCRBY", "count", 1, keys=(at.key("metrics:completed"),)), "counted")


# Reaping --------------------------------------------------------------------------------------------------------------


def _reap_scan(at: Stage) -> Performed:
    # Like the naive claim, it goes by the last time it knows.
    lapsed = at.command("ZRANGEBYSCORE", "-inf", at.before.clock_ms, keys=(at.key("active"),))
    if isinstance(lapsed, list) and at.id in lapsed:
        return _did(lapsed, "found", "the reaper has read that this lease is over, and goes by that from here on")
    return _did(lapsed, "found_nothing", "the reaper did not find the job, so it will send nothing for it")


def _if_found(run: Run) -> Run:
    """A command that a reaper sends only for an id that its scan listed."""

    def decided(at: Stage) -> Performed:
        scan = _read_before(at, "naive_reap_scan")
        if scan is not None and scan.outcome.name != "found":
            return _skipped("the reaper's scan did not list the job, so it sends nothing")
        return run(at)

    return decided


def _reap_enter(at: Stage) -> Performed:
    return _did(at.command("ZADD", 0, at.id, keys=(at.key("pending"),)), "entered")


def _reap_flag(at: Stage) -> Performed:
    return _did(at.command("HSET", "state", "pending", keys=(at.row(),)), "flagged")


def _has_its_places(machine: Machine) -> bool:
    """Whether the machine is one that the naive queue can be compared with."""
    return {"pending", "active"} <= {place.name for place in machine.places}


_LEFT = ("left", "not_there")

NAIVE_STEPS: dict[str, NamedStep] = {
    name: NamedStep(name, sentence, "commands", parameters, (*outcomes, "error"), True, run, fits=_has_its_places)
    for name, sentence, parameters, outcomes, run in (
        ("naive_enqueue", "Write the row, then add the id to pending.", (), ("enqueued",), _enqueue),
        ("naive_claim_flag", "Write the flag: HSET state active.", (), ("flagged",), _claim_flag),
        ("naive_claim_leave", "Take the id out of pending: ZREM.", (), ("left",), _claim_leave),
        ("naive_claim_enter", "Put the id into active: ZADD.", (_LEASE,), ("entered",), _claim_enter),
        (
            "naive_complete_check",
            "Read the token: HGET attempts.",
            (_TOKEN,),
            ("checked", "other_token", "gone"),
            _complete_check,
        ),
        (
            "naive_complete_leave",
            "Take the id out of active: ZREM.",
            (),
            (*_LEFT, "skipped"),
            _if_checked(lambda at: _removed(at, "active")),
        ),
        (
            "naive_complete_pending",
            "Where it was not in active, take the id out of pending: ZREM.",
            (),
            (*_LEFT, "skipped"),
            _if_checked(_complete_pending),
        ),
        ("naive_complete_row", "Delete the row: DEL.", (), ("deleted", "skipped"), _if_checked(_complete_row)),
        (
            "naive_complete_count",
            "Count it: HINCRBY metrics:completed count 1.",
            (),
            ("counted", "skipped"),
            _if_checked(_complete_count),
        ),
        (
            "naive_reap_scan",
            "Read which leases are over: ZRANGEBYSCORE active.",
            (),
            ("found", "found_nothing"),
            _reap_scan,
        ),
        (
            "naive_reap_leave",
            "Take the id out of active: ZREM.",
            (),
            (*_LEFT, "skipped"),
            _if_found(lambda at: _removed(at, "active")),
        ),
        ("naive_reap_enter", "Put the id into pending: ZADD.", (), ("entered", "skipped"), _if_found(_reap_enter)),
        ("naive_reap_flag", "Write the flag: HSET state pending.", (), ("flagged", "skipped"), _if_found(_reap_flag)),
    )
}
