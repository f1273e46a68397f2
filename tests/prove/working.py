"""What the tests of a proof's processes share: a lawful worker, and a server that answers as it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.prove.lawful import LawfulWorker
from visualizer.prove.numbers import draws
from visualizer.prove.odd import GROUP
from visualizer.prove.proving import orders_for

SPACE = Keyspace("cm", "job:")
CLOCK_MS = 1_767_225_600_000
LAWFUL = next(order for order in orders_for("", 1) if order.role == "lawful")
IDS = [job.encode() for job in LAWFUL.ids]
JOB = IDS[0]


def server_clock_ms(engine: Engine) -> Callable[[], int]:
    return lambda: int(engine.send("TIME")[0]) * 1000


def lawful(engine: Any, number: int, seed: int = 1) -> LawfulWorker:
    numbers = draws(seed, "scripted", number)
    return LawfulWorker(engine, SPACE, IDS, GROUP, numbers, number, lambda: CLOCK_MS)


class Server:
    """Answers as it is told, and keeps what was sent."""

    owner_key: bytes | None = None
    sent_bytes = 0

    def __init__(self, answer: Callable[[tuple[Any, ...]], Any]) -> None:
        self._answer = answer
        self.sent: list[tuple[Any, ...]] = []

    def send(self, *words: Any) -> Any:
        self.sent.append(words)
        return self._answer(words)

    def hold(self, names: Any) -> None: ...
