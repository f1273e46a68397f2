"""The closed table of codes -1 … -11: what each means, who emits it, what it leaves changed (contract section 3)."""

from __future__ import annotations

from msgspec import Struct


class Code(Struct, frozen=True):
    """One code. ``emitted_by`` are scripts of ours, or the one outside this machine that alone can answer it;
    ``changed`` says what the refusal has written all the same."""

    number: int
    name: str
    meaning: str
    emitted_by: tuple[str, ...]
    changed: str
    ours: bool = True


_UNLOCKING = ("moveToFinished", "moveToDelayed", "retryJob", "moveToWaitingChildren", "moveJobFromActiveToWait")
_ADDING = ("addStandardJob", "addDelayedJob", "addPrioritizedJob", "addParentJob")
_NOTHING = "nothing"

CODES: dict[int, Code] = {
    code.number: code
    for code in (
        Code(-1, "JobNotExist", "The job has no row.", (*_UNLOCKING, "reprocessJob"), _NOTHING),
        Code(
            -2,
            "JobLockNotExist",
            "The job has no lock: it ran out, or was given back already.",
            _UNLOCKING,
            "nothing of this job; retryJob may have promoted others first",
        ),
        Code(
            -3,
            "JobNotInState",
            "The id is not in the place that the script takes it from.",
            (*_UNLOCKING[:4], "promote", "reprocessJob"),
            "by the four that look in active: lock and mark gone, fields written; by promote and reprocessJob: nothing",
        ),
        Code(
            -4,
            "JobPendingChildren",
            "A job cannot complete while children of it are pending.",
            ("moveToFinished",),
            _NOTHING,
        ),
        Code(
            -5, "ParentJobNotExist", "The parent named at the add has no row.", _ADDING, "nothing, not even the counter"
        ),
        Code(
            -6,
            "JobLockMismatch",
            "The job is locked with another token than the one that was shown.",
            _UNLOCKING,
            "nothing of this job; retryJob may have promoted others first",
        ),
        Code(
            -7,
            "ParentJobCannotBeReplaced",
            "The id exists under another parent, which still lives.",
            _ADDING,
            "only the id counter, which has moved on",
        ),
        Code(
            -8,
            "JobBelongsToJobScheduler",
            "A job that a scheduler has planned next cannot be removed.",
            ("removeJob",),
            _NOTHING,
            ours=False,
        ),
        Code(
            -9,
            "JobHasFailedChildren",
            "A job with a child that failed for good can neither complete nor park.",
            ("moveToFinished", "moveToWaitingChildren"),
            _NOTHING,
        ),
        Code(
            -10,
            "SchedulerJobIdCollision",
            "A scheduler's next job would get an id that exists already.",
            ("addJobScheduler",),
            "at most a setting in meta",
            ours=False,
        ),
        Code(
            -11,
            "SchedulerJobSlotsBusy",
            "A scheduler finds this slot and the next one taken.",
            ("addJobScheduler",),
            _NOTHING,
            ours=False,
        ),
    )
}
