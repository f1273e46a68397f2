"""What a race left behind, by what was read when its actors were done: whether its order did harm, and in which words.

Harm is a law of the machine that does not hold then, or a job that is counted as completed and is in a place all the
same. What a law says within a race is no harm yet: a command may mend what the one before it broke.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from visualizer.model import Frame, Observation
from visualizer.race import chosen_turns
from visualizer.visible import visible

_COUNTER = "metrics:completed"


class Left(Struct, frozen=True):
    """What is left of a job. ``broken`` are the names of the laws that do not hold, ``breaches`` what breaks them, in
    words; ``completed`` is how often the job was counted, ``places`` what holds its id, ``row`` the fields left of it
    (None: no row)."""

    broken: tuple[str, ...]
    breaches: tuple[str, ...]
    completed: int
    places: tuple[str, ...]
    row: Mapping[bytes, bytes] | None

    @property
    def twice(self) -> bool:
        """Counted as completed, and in a place again: somebody will run it once more."""
        return self.completed > 0 and bool(self.places)

    @property
    def harm(self) -> bool:
        return bool(self.broken) or self.twice


def completed_by(frame: Frame) -> int:
    """By how much the count of completed jobs grew in this frame; 0 for a machine that keeps none."""
    return _count(frame.after) - _count(frame.before)


def times_completed(frames: Iterable[Frame], job: bytes | None) -> int:
    """How often steps about this job counted it as completed, since it was last enqueued."""
    times = 0
    for frame in frames:
        if frame.step is None or frame.step.id != job:
            continue
        if frame.outcome.name == "enqueued":
            times = 0
        times += max(completed_by(frame), 0)
    return times


def times(count: int) -> str:
    """``not once``, ``once``, ``twice``, ``3 times``."""
    return {0: "not once", 1: "once", 2: "twice"}.get(count, f"{count:,} times")


def left_by(frames: Sequence[Frame], job: bytes | None) -> Left:
    """What these frames left of a job, by the last one's reading. ValueError where there is no frame."""
    if not frames:
        raise ValueError("nothing has run yet")
    last = frames[-1]
    row = last.after.rows.get(job) if job else None
    return Left(
        tuple(law.name for law in last.broken),
        tuple(breach for law in last.broken for breach in law.breaches),
        times_completed(frames, job),
        last.after.memberships.get(job, ()) if job else (),
        None if row is None else row.fields,
    )


def _ends(frames: Sequence[Frame]) -> Iterator[int]:
    """How many frames there are up to the end of each race."""
    last = 0
    for number, frame in enumerate(frames, start=1):
        if frame.step is None or frame.step.actor:
            continue
        if frame.step.turn:
            last = number
        elif last:
            yield last
            last = 0
    if last:
        yield last


class Verdict(Struct, frozen=True):
    """Whether a race's order did harm. ``own`` says that the learner chose it; ``told`` tells it in sentences."""

    own: bool
    harm: bool
    told: str


def verdicts(frames: Sequence[Frame]) -> Iterator[Verdict]:
    """One for each race, of a path that has come to its end."""
    for end in _ends(frames):
        ran = frames[:end]
        last = next(frame for frame in reversed(ran) if frame.step is not None and frame.step.turn)
        job = last.step.id if last.step is not None else None
        left = left_by(ran, job)
        own = bool(chosen_turns(last, ran[: ran.index(last)]))
        yield Verdict(own, left.harm, " ".join(_verdict(left, own, times_completed(frames, job))))


def _verdict(left: Left, own: bool, in_all: int) -> Iterator[str]:
    order = "Your order" if own else "The written order"
    yield f"{order} did harm." if left.harm else f"{order} did no harm."
    where = " and ".join(map(visible, left.places))
    row = "had no row" if left.row is None else "had a row"
    place = f"was in {where}" if where else "was in no place"
    yield f"When the race was over, the job had been counted as completed {times(left.completed)}, {row} and {place}."
    if in_all > left.completed:
        yield f"By the path's end it is counted {times(in_all)}."


def _count(seen: Observation) -> int:
    held = seen.sides.get(_COUNTER)
    text = held.get(b"count") if isinstance(held, Mapping) else None
    # A number of ours is short; a foreign client may have written any length of digits.
    return int(text) if isinstance(text, bytes) and text.isdigit() and len(text) < 20 else 0
