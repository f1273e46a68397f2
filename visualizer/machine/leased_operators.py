"""The leased machine's verbs for who operates the queue: jobs and their rows by hand, and the queue's pause."""

from __future__ import annotations

from visualizer.machine.bench import Bench
from visualizer.machine.host import Replies, verb
from visualizer.model import Parameter, Performed, Verb

_DEDUP_ID = Parameter("dedup_id", "text", "the deduplication id to free with it", default="")
_PAYLOAD = Parameter("payload", "payload", "what the worker gets from now on", required=True)
_PROGRESS = Parameter("progress", "text", "how far the job is", required=True)

_GONE = {-1: "gone"}

_REMOVED = Replies({1: "removed"}, _GONE, {"EMQLOCK": "locked"})
_REPROCESSED = Replies({1: "reprocessed"}, _GONE, {"EMQSTATE": "not_dead"})
_UPDATED = Replies({1: "updated"}, _GONE)
_PAUSED = Replies({1: "paused"})
_RESUMED = Replies({1: "resumed"})


def _remove_job(at: Bench) -> Performed:
    dedup_id = at.take(_DEDUP_ID)
    keys = {"row": at.row(), **at.keys("pending", "active", "schedule", "dead"), "dedup": at.key(f"de:{dedup_id}")}
    return _REMOVED.read(at.call("leased/remove_job", keys, {"id": at.id, "dedup_id": dedup_id}))


def _reprocess(at: Bench) -> Performed:
    keys = {"row": at.row(), **at.keys("dead", "pending")}
    return _REPROCESSED.read(at.call("leased/reprocess", keys, {"id": at.id}))


def _update_data(at: Bench) -> Performed:
    return _UPDATED.read(at.call("leased/update_data", {"row": at.row()}, {"payload": at.take(_PAYLOAD)}))


def _update_progress(at: Bench) -> Performed:
    args = {"progress": at.take(_PROGRESS), "id": at.id, "base": at.space.base}
    return _UPDATED.read(at.call("leased/update_progress", {"row": at.row()}, args))


def _queue_pause(at: Bench) -> Performed:
    return _PAUSED.read(at.call("leased/queue_pause", at.keys("meta"), {}))


def _queue_resume(at: Bench) -> Performed:
    return _RESUMED.read(at.call("leased/queue_resume", at.keys("meta"), {}))


OPERATOR_VERBS: tuple[Verb, ...] = (
    verb(
        "leased/remove_job",
        "Removes a job from wherever it is, unless it is locked.",
        (("pending", None), ("active", None), ("schedule", None), ("dead", None)),
        _remove_job,
        _REMOVED.names,
        (_DEDUP_ID,),
    ),
    verb(
        "leased/reprocess",
        "Gives a dead job another life; its attempts go on counting.",
        (("dead", "pending"),),
        _reprocess,
        _REPROCESSED.names,
    ),
    verb(
        "leased/update_data",
        "Replaces a job's payload, wherever the job is.",
        (),
        _update_data,
        _UPDATED.names,
        (_PAYLOAD,),
    ),
    verb(
        "leased/update_progress",
        "Notes how far a job has come, and tells whoever listens.",
        (),
        _update_progress,
        _UPDATED.names,
        (_PROGRESS,),
    ),
    verb(
        "leased/queue_pause",
        "Pauses the whole queue: callers look here before they claim.",
        (),
        _queue_pause,
        _PAUSED.names,
        needs_job=False,
    ),
    verb(
        "leased/queue_resume",
        "Ends the queue's pause.",
        (),
        _queue_resume,
        _RESUMED.names,
        needs_job=False,
    ),
)
