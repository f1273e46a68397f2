"""The core machine's verbs: one for each script, two for the one that pauses and resumes."""

from __future__ import annotations

from msgspec.structs import replace

from visualizer.machine import core_runs as runs
from visualizer.machine.core_calls import (
    ATTEMPTS,
    CHILD,
    DELAY,
    ENDING,
    ERROR,
    FETCH,
    INTERVAL,
    KEEP,
    LIFO,
    LOCK_MS,
    NAME,
    PAIRS,
    PARENT,
    POLICY,
    PRIORITY,
    RESET,
    SKIP,
    STALLS,
    STATE,
    TOKEN,
    UNLOCK_CODES,
    VALUE,
    WORKER,
    code_names,
)
from visualizer.machine.host import verb
from visualizer.model import Verb

ADD = (NAME, ATTEMPTS, PARENT, POLICY)
ADDED = ("added", *code_names(-5, -7))
SERVED = ("wait", "active"), ("prioritized", "active"), ("delayed", "active")

VERBS: dict[str, Verb] = {
    made.name: made
    for made in (
        verb(
            "core/addStandardJob-9",
            "Adds a job that may run now.",
            ((None, "wait"), (None, "paused")),
            runs.add_standard,
            ADDED,
            (*ADD, LIFO),
        ),
        verb(
            "core/addDelayedJob-6",
            "Adds a job that may run later.",
            ((None, "delayed"),),
            runs.add_delayed,
            ADDED,
            (*ADD, DELAY),
        ),
        verb(
            "core/addPrioritizedJob-9",
            "Adds a job with a priority.",
            ((None, "prioritized"),),
            runs.add_prioritized,
            ADDED,
            (*ADD, PRIORITY),
        ),
        verb(
            "core/addParentJob-6",
            "Adds a job that waits for its children.",
            ((None, "waiting-children"),),
            runs.add_parent,
            ADDED,
            ADD,
        ),
        verb(
            "core/moveToActive-11",
            "Gives a worker the next job, locked.",
            SERVED,
            runs.move_to_active,
            ("picked_up", "nothing"),
            (WORKER, LOCK_MS),
            needs_job=False,
        ),
        verb(
            "core/moveToFinished-14",
            "Ends a job, well or not; may fetch the next one.",
            (("active", "completed"), ("active", "failed"), *SERVED),
            runs.move_to_finished,
            ("completed", "failed", *code_names(-1, -4, -9, -2, -6, -3)),
            (TOKEN, ENDING, VALUE, FETCH, KEEP, ATTEMPTS, LOCK_MS),
        ),
        verb(
            "core/moveToDelayed-8",
            "Puts a job off that failed, until its backoff is over.",
            (("active", "delayed"),),
            runs.move_to_delayed,
            ("delayed", *UNLOCK_CODES),
            (TOKEN, DELAY, SKIP, ERROR),
        ),
        verb(
            "core/moveToWaitingChildren-7",
            "Parks a job until its children are done.",
            (("active", "waiting-children"),),
            runs.move_to_waiting_children,
            ("parked", "nothing_pending", *UNLOCK_CODES, *code_names(-9)),
            (TOKEN, CHILD),
        ),
        verb(
            "core/moveStalledJobsToWait-8",
            "Takes back jobs that were marked before and have no lock, then marks what is active.",
            (("active", "wait"), ("active", "paused")),
            runs.sweep,
            ("recovered", "none_recovered"),
            (STALLS, INTERVAL),
            needs_job=False,
        ),
        verb(
            "core/extendLock-2",
            "The heartbeat: a full lockDuration from now, and no mark.",
            (("active", "active"),),
            runs.extend_lock,
            ("extended", "not_the_holder"),
            (TOKEN, LOCK_MS),
        ),
        verb(
            "core/extendLocks-1",
            "The heartbeat of several jobs at once.",
            (("active", "active"),),
            runs.extend_locks,
            ("extended",),
            (PAIRS, LOCK_MS),
            needs_job=False,
        ),
        verb(
            "core/releaseLock-1",
            "Gives the lock back; the id stays where it is.",
            (("active", "active"),),
            runs.release_lock,
            ("released", "not_the_holder"),
            (TOKEN,),
        ),
        verb(
            "core/promote-9",
            "An operator lets a delayed job wait at once.",
            (("delayed", "wait"), ("delayed", "prioritized"), ("delayed", "paused")),
            runs.promote,
            ("promoted", *code_names(-3)),
        ),
        verb(
            "core/retryJob-11",
            "Lets a job that failed wait again at once.",
            (("active", "wait"), ("active", "prioritized"), ("active", "paused")),
            runs.retry_job,
            ("retried", *UNLOCK_CODES),
            (TOKEN, LIFO, ERROR),
        ),
        verb(
            "core/reprocessJob-8",
            "An operator lets a finished job run again.",
            (("failed", "wait"), ("completed", "wait"), ("failed", "paused"), ("completed", "paused")),
            runs.reprocess,
            ("reprocessed", *code_names(-1, -3)),
            (STATE, LIFO, RESET),
        ),
        verb(
            "core/moveJobFromActiveToWait-9",
            "A worker gives a job back; no attempt is counted.",
            (("active", "wait"), ("active", "prioritized"), ("active", "paused")),
            runs.give_back,
            ("given_back", *code_names(-1, -2, -6)),
            (TOKEN,),
        ),
        verb("core/getState-8", "Asks where a job is.", (), runs.get_state, runs.STATES),
    )
}
for _name, _source, _destination, _event, _sentence in (
    ("pause", "wait", "paused", "paused", "Pauses the queue: wait becomes paused."),
    ("resume", "paused", "wait", "resumed", "Resumes the queue: paused becomes wait."),
):
    # One script serves both, so the verbs' names are not the script's.
    _switch = verb(
        "core/pause-7",
        _sentence,
        ((_source, _destination),),
        runs.switched(_source, _destination, _event),
        (_event,),
        needs_job=False,
    )
    VERBS[_name] = replace(_switch, name=_name)
