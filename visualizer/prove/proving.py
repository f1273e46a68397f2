"""A whole proof: the crew on one private engine, the orders of two actors run one by one, and the sum of it all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from msgspec.structs import replace

from visualizer.engine import Engine, EngineError
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.ids import Minter
from visualizer.prove.counts import Column, Ended, Order, Role, Tally, with_reports
from visualizer.prove.crew import Crew, CrewError
from visualizer.prove.exhaustive import all_orders
from visualizer.prove.link import GONE

# How many processes of each kind: two cores run them, and most of the time is to be the observers'.
WORKERS = 3
OBSERVERS: dict[Column, int] = {"scripted": 2, "naive": 1}
WORK: tuple[tuple[Role, Column], ...] = (("lawful", "scripted"), ("careless", "naive"))
# How many jobs a queue has: so few that they meet each other, and that a reading holds all of them.
JOBS = 6
# Workers of both queues rest alike. The observers of the scripted queue do not rest: there any one broken reading would
# refute what is to be proved, so it gets the most readings. The naive queue's breaches are met with far fewer.
WORKER_PAUSE_S, NAIVE_OBSERVER_PAUSE_S, ODD_PAUSE_S = 0.002, 0.002, 0.01
READY_SECONDS = 60.0
TELL_SECONDS = 0.25
# The engine's own queue; the columns have theirs beside it.
QUEUE = "prove"
QUEUES = {"scripted": "prove-scripted", "naive": "prove-naive", "odd": "prove-odd"}
# Job ids, and the lane's group, are the same in every run.
_MINTED_AT_MS = 1_767_225_600_000

NEEDS_VALKEY = "The proof needs a real Valkey of our own: an emulation inside one program has no other processes."
NOT_BY_URL = "The proof runs on a private Valkey only, never on a server that is named by its URL."
_GONE = "The private Valkey ended while the proof ran; what was counted until then is told."
_SLOW = f"The processes of the proof were not ready in {READY_SECONDS:.0f} s."


def check_engine(engine: Engine) -> None:
    """Raises the EngineError that says why the proof cannot run on this engine."""
    if not isinstance(engine, EmbeddedEngine):
        raise EngineError(NOT_BY_URL if not engine.own else NEEDS_VALKEY)


class Proof:
    """One run of the proof on a private engine that nobody else uses. ``stop`` may be called from any thread."""

    def __init__(self, engine: Engine, seconds: float, seed: int) -> None:
        check_engine(engine)
        assert isinstance(engine, EmbeddedEngine)
        self._engine = engine
        self._crew = Crew(orders_for(engine.server.socket_path, seed))
        self._stop = threading.Event()
        self._began: float | None = None
        self._lasted: float | None = None
        self.tally = Tally(
            seconds,
            seed,
            f"{engine.badge} {engine.label}",
            observers={str(column): count for column, count in OBSERVERS.items()},
            workers=dict.fromkeys(map(str, OBSERVERS), WORKERS),
            rests_ms={"naive": NAIVE_OBSERVER_PAUSE_S * 1000},
        )

    def stop(self) -> None:
        """Ends the run soon; what was counted is kept."""
        self._stop.set()

    def run(self, tell: Callable[[Tally], None]) -> Tally:
        """Runs to the end; ``tell`` gets the tally a few times a second, and is called in this thread.

        An interrupt (Ctrl-C), a server that ends, a process that ends: each is told in the tally and raises nothing.
        """
        ended: Ended = "done"
        trouble = ""
        try:
            try:
                self._crew.start()
                self._run(tell)
            except KeyboardInterrupt:
                ended = "interrupted"
            except (CrewError, EngineError) as failure:
                ended, trouble = "broken off", str(failure)
            except GONE as failure:
                ended, trouble = "broken off", f"The proof could not go on: {failure}"
            if self._stop.is_set():
                ended = "interrupted"
            self._note_lasted()
            try:
                self._finish()
            except CrewError as failure:
                ended, trouble = "broken off", trouble or str(failure)
            if self._crew.gone or not self._server_lives():
                ended, trouble = "broken off", _GONE
        finally:
            self._crew.close()
        self._count()
        self.tally = replace(self.tally, ended=ended, trouble=trouble)
        tell(self.tally)
        return self.tally

    def _run(self, tell: Callable[[Tally], None]) -> None:
        # While the processes start there is time for what needs none of them.
        self.tally = replace(self.tally, orders=all_orders(self._engine))
        tell(self.tally)
        started = monotonic()
        while not self._crew.ready:
            if monotonic() > started + READY_SECONDS:
                raise CrewError(_SLOW)
            self._crew.hear(0.02)
            if self._stop.is_set() or self._crew.gone:
                return
        self._crew.tell("go")
        self._began = monotonic()
        while not (self._stop.is_set() or self._crew.gone):
            left = self._began + self.tally.seconds - monotonic()
            if left <= 0:
                return
            self._crew.hear(min(TELL_SECONDS, left))
            self._count()
            tell(self.tally)

    def _finish(self) -> None:
        """The workers finish their turns first, so that the observers read once more with nobody at work."""
        self._crew.stop(lambda order: order.role != "watch")
        self._crew.stop()

    def _note_lasted(self) -> None:
        self._lasted = monotonic() - self._began if self._began is not None else 0.0

    def _server_lives(self) -> bool:
        return isinstance(self._engine, EmbeddedEngine) and self._engine.server.alive()

    def _count(self) -> None:
        lasted = self._lasted
        if lasted is None:
            lasted = monotonic() - self._began if self._began is not None else 0.0
        self.tally = replace(with_reports(self.tally, self._crew.orders, self._crew.reports), elapsed=lasted)


def orders_for(socket_path: str, seed: int) -> list[Order]:
    """What each process is told."""
    minter = Minter(0, lambda: _MINTED_AT_MS)
    ids = tuple(minter.mint("JOB") for _ in range(JOBS))
    groups = (minter.mint("PRT"),)
    orders = []
    for number in range(1, WORKERS + 1):
        for role, column in WORK:
            orders.append(Order(role, column, number, seed, socket_path, QUEUES[column], ids, groups, WORKER_PAUSE_S))
    for column, count in OBSERVERS.items():
        pause_s = 0.0 if column == "scripted" else NAIVE_OBSERVER_PAUSE_S
        for number in range(1, count + 1):
            orders.append(Order("watch", column, number, seed, socket_path, QUEUES[column], ids, (), pause_s))
    orders.append(Order("odd", "odd", 1, seed, socket_path, QUEUES["odd"], (), (), ODD_PAUSE_S))
    return orders
