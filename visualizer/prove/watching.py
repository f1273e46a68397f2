"""An observer: reads its queue as fast as it can, each time in one round trip, and judges what it read.

Between two readings other processes take any number of steps, so nothing is compared with a reading before. Judged are
the laws that one reading can keep or break by itself: where each id is, what its row says, scores and orders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from visualizer.keyspace import Keyspace
from visualizer.machine.leased import LEASED
from visualizer.model import Evidence, Law, LawResult, Machine, Observation, Outcome, Performed, Row
from visualizer.observe import Observer, Server
from visualizer.prove.counts import Shown, Watched
from visualizer.visible import visible

# These say what a step may do, so they need the step and the reading before it.
OF_A_STEP = frozenset(
    {
        "an_active_score_was_in_the_future",
        "attempts_grow_only_by_a_claim",
        "a_refusal_wrote_nothing",
        "a_completed_job_left_nothing",
    }
)
STATE_LAWS: tuple[Law, ...] = tuple(law for law in LEASED.laws if law.name not in OF_A_STEP)

# A reading that breaks it is shown rather than another: one client alone, in the midst of a move, does not break it.
MOST_TELLING = "every_member_has_a_row"

NO_ROW = "no row"
_LOOKED = Performed(Outcome("looked"), kind="between")
_SCORES = {"active", "schedule"}


def broken_by(seen: Observation) -> tuple[LawResult, ...]:
    """The laws of a state that this one reading breaks."""
    homes = seen.homes()
    evidence = Evidence(seen, seen, homes, homes, None, None, _LOOKED)
    broken = []
    for law in STATE_LAWS:
        breaches = law.breaches(evidence)
        if breaches:
            broken.append(LawResult(law.name, law.sentence, tuple(breaches)))
    return tuple(broken)


class RepeatingObserver(Observer):
    """An observer that answers the same object where what it reads is, but for the time, what it read before."""

    _reply: Sequence[Any] = ()
    _seen: Observation | None = None

    def _observation(self, reply: Sequence[Any], dumped: bool) -> Observation:
        held = reply[1:]
        if self._seen is None or held != self._reply:
            self._reply, self._seen = held, super()._observation(reply, dumped)
        return self._seen


class Watch:
    """One observer of one queue, and what it has counted."""

    def __init__(self, server: Server, space: Keyspace, ids: Sequence[bytes], machine: Machine = LEASED) -> None:
        self._observer = RepeatingObserver(server, machine, space, ids)
        self._seen: Observation | None = None
        self._verdict: tuple[LawResult, ...] = ()
        self._laws: Counter[str] = Counter()
        self._readings = self._changed = self._broken = self._cut = self._most_ids = 0
        self._shown: Shown | None = None
        self._at_rest: tuple[str, ...] | None = None
        self._wounded: frozenset[str] = frozenset()
        self._breaches = 0

    def warm_up(self) -> None:
        """Loads the observer's script; what it reads is not counted."""
        self._observer.read()

    def turn(self) -> None:
        """One reading, judged. The laws of a state know no time: what is as it was has the verdict that it had."""
        seen = self._observer.read()
        if seen is not self._seen:
            self._seen, self._verdict = seen, broken_by(seen)
            self._changed += 1
            self._follow(self._verdict)
        broken = self._verdict
        self._readings += 1
        self._most_ids = max(self._most_ids, len(seen.rows))
        self._cut += not seen.all_whole
        if broken:
            self._broken += 1
            self._laws.update(law.name for law in broken)
            if self._shown is None or (self._shown.law != MOST_TELLING and MOST_TELLING in self._laws):
                self._shown = shown(seen, broken)

    def rest(self) -> None:
        """A last reading, with nobody at work: what is broken in it stays broken."""
        broken = broken_by(self._observer.read())
        self._follow(broken)
        self._at_rest = tuple(breach for law in broken for breach in law.breaches)

    def _follow(self, broken: Sequence[LawResult]) -> None:
        """Counts the ids that break a law now and did not in the reading before."""
        wounded = frozenset(broken_ids(broken))
        self._breaches += len(wounded - self._wounded)
        self._wounded = wounded

    @property
    def counted(self) -> Watched:
        return Watched(
            self._readings,
            self._changed,
            self._broken,
            self._cut,
            self._most_ids,
            dict(self._laws),
            self._shown,
            self._at_rest,
            self._breaches,
            len(self._wounded),
        )


def broken_ids(broken: Sequence[LawResult]) -> tuple[str, ...]:
    """The ids that break a law, each once, as they are shown: every breach of a state's law begins with its id."""
    return tuple(dict.fromkeys(breach.split(" ", 1)[0] for law in broken for breach in law.breaches))


def shown(seen: Observation, broken: Sequence[LawResult]) -> Shown:
    """A broken reading, whole: every place with its members, and the row of every id in view."""
    places = []
    for name, reading in seen.places.items():
        members = [
            visible(member.id) + (f" {member.score:.0f}" if name in _SCORES and member.score is not None else "")
            for member in reading.members
        ]
        places.append((visible(name), tuple(members)))
    first, *others = telling = sorted(broken, key=lambda law: law.name != MOST_TELLING)
    ids = broken_ids(telling)
    rows = [(visible(job), row_text(row)) for job, row in seen.rows.items()]
    rows.sort(key=lambda row: ids.index(row[0]) if row[0] in ids else len(ids))
    also = tuple(law.name for law in others)
    return Shown(first.name, first.sentence, first.breaches, also, tuple(places), tuple(rows), ids)


def row_text(row: Row | None) -> str:
    """A row in one line."""
    if row is None:
        return NO_ROW
    return " ".join(f"{visible(field)}={visible(value, 24)}" for field, value in row.fields.items())
