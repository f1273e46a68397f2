"""The leased machine's claims: the look at the queue's pause, the script, and the tokens that its reply hands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from visualizer.caller import ErrorReply, Reply
from visualizer.machine.bench import Bench
from visualizer.machine.host import unlisted, verb
from visualizer.model import Grant, Outcome, Parameter, Performed, Verb

WORKER = Parameter("worker", "worker", "who claims, and then holds the token", default="w1")
LEASE_MS = Parameter("lease_ms", "duration_ms", "how long the lease runs", default=30_000, minimum=1)
SIZE = Parameter("size", "count", "how many jobs at most", required=True, minimum=1)

_PAUSED = Performed(Outcome("empty", note="the queue is paused: the script was not run"), kind="commands")


def _paused(at: Bench) -> bool:
    """The pause is the caller's to keep: a separate read, before the script. An error counts as not paused."""
    reply = at.command("HGET", b"paused", keys=(at.key("meta"),))
    return reply is not None and not isinstance(reply, ErrorReply)


def _claimed(at: Bench, jobs: Sequence[Sequence[Any]]) -> Performed:
    if not jobs:
        return Performed(Outcome("empty"))
    worker = at.take(WORKER)
    # The token is sent back as decimal text, whatever type the reply gave it.
    return Performed(Outcome("claimed"), grants=tuple(Grant(worker, job[0], b"%d" % job[2]) for job in jobs))


def _claim(at: Bench) -> Performed:
    if _paused(at):
        return _PAUSED
    reply = at.call("leased/claim", _flat_keys(at), _flat_args(at))
    return _claimed(at, [reply] if reply else []) if isinstance(reply, list) else unlisted(reply)


def _claim_batch(at: Bench) -> Performed:
    if _paused(at):
        return _PAUSED
    reply = at.call("leased/claim_batch", _flat_keys(at), {**_flat_args(at), "size": at.take(SIZE)})
    return _claimed(at, reply) if isinstance(reply, list) else unlisted(reply)


def _lane_claim(at: Bench) -> Performed:
    if _paused(at):
        return _PAUSED
    keys = {"ring": at.key("ring"), "active": at.key("active")}
    reply: Reply = at.call("leased/lane_claim", keys, {"base": at.space.base, "lease_ms": at.take(LEASE_MS)})
    return _claimed(at, [reply] if reply else []) if isinstance(reply, list) else unlisted(reply)


def _flat_keys(at: Bench) -> Mapping[str, bytes]:
    return {"pending": at.key("pending"), "active": at.key("active")}


def _flat_args(at: Bench) -> Mapping[str, Any]:
    return {"row_prefix": at.key("job:"), "lease_ms": at.take(LEASE_MS)}


CLAIMS: tuple[Verb, ...] = (
    verb(
        "leased/claim",
        "Hands the job minted first to a worker, for the time of a lease.",
        (("pending", "active"),),
        _claim,
        ("claimed", "empty"),
        (WORKER, LEASE_MS),
        needs_job=False,
    ),
    verb(
        "leased/claim_batch",
        "Hands several jobs to one worker at once, in mint order.",
        (("pending", "active"),),
        _claim_batch,
        ("claimed", "empty"),
        (WORKER, LEASE_MS, SIZE),
        needs_job=False,
    ),
    verb(
        "leased/lane_claim",
        "Serves the group whose turn it is: its first job goes to a worker.",
        (("g:<group>:pending", "active"),),
        _lane_claim,
        ("claimed", "empty"),
        (WORKER, LEASE_MS),
        needs_job=False,
    ),
)
