"""What the processes of a proof count and send to each other, and the sums of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Column = Literal["scripted", "naive", "odd"]
Role = Literal["lawful", "careless", "watch", "odd"]
# How a proof came to its end. ``running`` is one that has not.
Ended = Literal["running", "done", "interrupted", "broken off"]

# Sentences about single calls that are kept; all of them are counted.
KEPT_SENTENCES = 5


class Order(Struct, frozen=True):
    """What one process is told at its start. ``ids`` are the jobs of its queue; ``pause_s`` it rests after each turn.

    Processes of one column differ by their ``number``, from 1.
    """

    role: Role
    column: Column
    number: int
    seed: int
    socket_path: str
    queue: str
    ids: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    pause_s: float = 0.0


class Shown(Struct, frozen=True):
    """One reading that breaks a law, whole, as text that is safe to show.

    ``places``: each place with its members and their scores. ``rows``: each id with its row's fields, or what is there
    instead, the broken ids first. ``breaches`` say what breaks the law, in words; ``also`` are the names of the other
    laws it breaks, ``ids`` the broken ids.
    """

    law: str
    sentence: str
    breaches: tuple[str, ...]
    also: tuple[str, ...]
    places: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[tuple[str, str], ...]
    ids: tuple[str, ...] = ()


class Watched(Struct, frozen=True):
    """What observers read. ``changed``: the readings that were not as the same observer's reading before.

    ``laws``: for each law the readings that break it, ``broken`` the readings that break any. ``most_ids`` is the most
    ids one reading held. ``cut`` readings had a place that was not wholly in view: they are judged on what was.
    ``shown`` is one broken reading. ``at_rest`` is what was still broken when all workers had stopped, in words; None
    before that.

    A separate breach is one id's, from the first reading in which it breaks any law to the next in which it breaks
    none, however many readings lie between. ``breaches`` is how many there were, ``lasting`` how many of them the last
    reading still has: at rest those never healed. Several observers see the same ones, so theirs are not added.
    """

    readings: int = 0
    changed: int = 0
    broken: int = 0
    cut: int = 0
    most_ids: int = 0
    laws: Mapping[str, int] = {}
    shown: Shown | None = None
    at_rest: tuple[str, ...] | None = None
    breaches: int = 0
    lasting: int = 0


class Worked(Struct, frozen=True):
    """What workers did. ``calls`` are transitions, ``verbs`` how often each was made. ``commands`` are what the calls
    were sent as, where a call is not one script.

    ``refused``: for each kind the calls that had to be refused, and were. ``wrong`` are the calls with another answer
    than they had to have, and a few of them in words. ``died``: the claims whose worker then dies.
    """

    turns: int = 0
    calls: int = 0
    completed: int = 0
    verbs: Mapping[str, int] = {}
    refused: Mapping[str, int] = {}
    wrong: int = 0
    sentences: tuple[str, ...] = ()
    died: int = 0
    commands: int = 0


class OddCount(Struct, frozen=True):
    """One odd call: how often it was made and accepted, and for each law how often it was broken right after."""

    name: str
    times: int = 0
    accepted: int = 0
    laws: Mapping[str, int] = {}


class Report(Struct, frozen=True):
    """What one process says: all it has counted so far. ``gone``: the server does not answer any more."""

    ready: bool = False
    final: bool = False
    gone: bool = False
    watched: Watched | None = None
    worked: Worked | None = None
    odd: tuple[OddCount, ...] | None = None


class Orders(Struct, frozen=True):
    """All orders in which two actors can take their turns, each of them run.

    A turn may send nothing, so the orders come to fewer ``sequences`` of commands, of which ``harmful_sequences`` do
    harm. ``harmful`` orders leave a law broken, or the job counted as completed and pending again (``twice``).
    ``others`` are the harmful ones that are not ``twice``: what they leave, in words, and how many leave it.
    """

    name: str
    orders: int
    harmful: int
    twice: int = 0
    example: tuple[str, ...] = ()
    harm: str = ""
    others: Mapping[str, int] = {}
    sequences: int = 0
    harmful_sequences: int = 0


class Tally(Struct, frozen=True):
    """A proof as it stands: the sums of what all its processes have counted.

    ``rests_ms`` is how long an observer rests after each reading, for the queues whose observers rest.
    """

    seconds: float
    seed: int
    engine: str
    elapsed: float = 0.0
    ended: Ended = "running"
    trouble: str = ""
    observers: Mapping[str, int] = {}
    workers: Mapping[str, int] = {}
    rests_ms: Mapping[str, float] = {}
    watched: Mapping[str, Watched] = {}
    worked: Mapping[str, Worked] = {}
    odd: tuple[OddCount, ...] = ()
    orders: tuple[Orders, ...] = ()

    def read(self, column: Column) -> Watched:
        return self.watched.get(column, Watched())

    def did(self, column: Column) -> Worked:
        return self.worked.get(column, Worked())

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the scripted queue did not stand the proof, in sentences; nothing when it did."""
        seen, did = self.read("scripted"), self.did("scripted")
        found = []
        if seen.broken:
            found.append(f"{seen.broken:,} of {seen.readings:,} readings of the scripted queue break a law.")
        if seen.at_rest:
            found.append(f"At rest the scripted queue is broken: {seen.at_rest[0]}.")
        if did.wrong:
            found.append(f"{did.wrong:,} calls of the scripted queue were answered otherwise than they had to be.")
        if not seen.readings or not did.calls:
            found.append("Nothing was proved: the scripted queue was not read while it was worked on.")
        scripted = [orders for orders in self.orders if orders.name.startswith("scripted") and orders.harmful]
        found.extend(f"{orders.harmful} of {orders.orders} orders of {orders.name} do harm." for orders in scripted)
        return tuple(found)


def sum_watched(parts: Iterable[Watched]) -> Watched:
    """The readings of several observers of one queue."""
    total = Watched()
    for part in parts:
        total = Watched(
            total.readings + part.readings,
            total.changed + part.changed,
            total.broken + part.broken,
            total.cut + part.cut,
            max(total.most_ids, part.most_ids),
            _added(total.laws, part.laws),
            total.shown or part.shown,
            total.at_rest if part.at_rest is None else part.at_rest,
            max(total.breaches, part.breaches),
            max(total.lasting, part.lasting),
        )
    return total


def sum_worked(parts: Iterable[Worked]) -> Worked:
    """The work of several workers on one queue."""
    total = Worked()
    for part in parts:
        total = Worked(
            total.turns + part.turns,
            total.calls + part.calls,
            total.completed + part.completed,
            _added(total.verbs, part.verbs),
            _added(total.refused, part.refused),
            total.wrong + part.wrong,
            (*total.sentences, *part.sentences)[:KEPT_SENTENCES],
            total.died + part.died,
            total.commands + part.commands,
        )
    return total


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *other)}


def with_reports(tally: Tally, orders: Iterable[Order], reports: Iterable[Report]) -> Tally:
    """The tally with the latest report of each process counted in, in the order of the processes."""
    pairs = list(zip(orders, reports, strict=True))
    # The odd calls have a count of their own, so nothing of theirs stands among what is watched and worked on.
    columns = dict.fromkeys(order.column for order, _ in pairs if order.role != "odd")
    watched = {
        column: sum_watched(r.watched for o, r in pairs if o.column == column and r.watched is not None)
        for column in columns
    }
    worked = {
        column: sum_worked(r.worked for o, r in pairs if o.column == column and r.worked is not None)
        for column in columns
    }
    odd = next((report.odd for _, report in pairs if report.odd is not None), tally.odd)
    return replace(tally, watched=watched, worked=worked, odd=odd)
