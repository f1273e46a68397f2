"""What the reference answers and leaves behind, recorded once, and the comparison of ours with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from tests.differential.calls import Call, Step
from tests.differential.side import Held, Seen, Side, State

SWEEP = "moveStalledJobsToWait-8"


class Path(Struct, frozen=True):
    """Steps from an empty queue. Each call of them is a case, from the ``first`` on."""

    name: str
    steps: tuple[Step, ...]
    first: int = 0


class Case(Struct, frozen=True):
    """One call on a state that the reference built, and what the reference makes of it."""

    path: str
    number: int
    call: Call
    before: State
    expected: Seen

    def __str__(self) -> str:
        return f"{self.path}, step {self.number}: {self.call.script}"


class Taken(Struct, frozen=True):
    """One step of a longer walk, and what the reference makes of it."""

    step: Step
    expected: Seen


def record_cases(reference: Side, paths: Iterable[Path]) -> Iterator[Case]:
    for path in paths:
        reference.put({})
        before: State = {}
        for number, step in enumerate(path.steps):
            seen = reference.run(step)
            if isinstance(step, Call) and number >= path.first:
                yield Case(path.name, number, step, before, seen)
            before = seen.state


def judge(side: Side, case: Case) -> str:
    """How the side differs from the reference in this case; empty where it does not."""
    side.put(case.before)
    return difference(case.call, case.expected, side.run(case.call))


def follow(side: Side, walk: Sequence[Taken]) -> str:
    """How the side first differs from the reference on this walk; empty where it never does."""
    side.put({})
    for number, taken in enumerate(walk):
        seen = side.run(taken.step)
        if told := difference(taken.step, taken.expected, seen):
            done = taken.step.script if isinstance(taken.step, Call) else " ".join(map(str, taken.step.words))
            return f"step {number}, {done}: {told}"
        if seen.state != taken.expected.state:
            side.put(taken.expected.state)  # the same jobs in another order: it goes on in the reference's
    return ""


def difference(step: Step, expected: Seen, seen: Seen) -> str:
    """What is not as expected: the reply, or keys with both values."""
    if seen == expected:
        return ""
    if isinstance(step, Call) and step.script == SWEEP and _unordered(seen) == _unordered(expected):
        return ""
    told = [] if seen.reply == expected.reply else [f"it answers {seen.reply!r}, the reference {expected.reply!r}"]
    for name in sorted({*seen.state, *expected.state}):
        ours, theirs = seen.state.get(name), expected.state.get(name)
        if ours != theirs:
            told.append(f"{name} is {ours and ours.value!r}, the reference's {theirs and theirs.value!r}")
    return "; ".join(told)


def _unordered(seen: Seen) -> Seen:
    """A sweep's outcome without the order in which it takes several jobs back: it is that of a set's members."""
    if not isinstance(seen.reply, tuple) or not seen.reply:
        return seen
    count = len(seen.reply)
    state = dict(seen.state)
    for name in ("wait", "paused"):
        members = state[name].value if name in state else ()
        if set(members[-count:]) == set(seen.reply):
            state[name] = Held("list", (*members[:-count], *sorted(members[-count:])))
    return Seen(tuple(sorted(seen.reply)), state)
