"""What every worker of a proof is: it takes turns by its draws, and counts what it did and how it was answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from visualizer.prove.counts import KEPT_SENTENCES, Worked
from visualizer.prove.numbers import Draw

# A lease that outlives any proof, so that no deadline is raced.
HOUR_MS = 3_600_000
HELD_AT_MOST = 3
PAYLOAD = b"payload"


class Worker:
    """A worker and its counts. Whoever inherits names its ``acts``: one of them is drawn for each turn."""

    acts: tuple[Callable[[Draw], None], ...]

    def __init__(self, draws: Iterator[Draw]) -> None:
        self._draws = draws
        self._turns = self._completed = self._wrong = self._died = 0
        self._verbs: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._sentences: list[str] = []

    def turn(self) -> None:
        """One turn of the worker: usually one call."""
        draw = next(self._draws)
        draw.pick(self.acts)(draw)
        self._turns += 1

    @property
    def commands(self) -> int:
        """The separate commands sent, for a worker whose calls are made of them."""
        return 0

    @property
    def counted(self) -> Worked:
        return Worked(
            self._turns,
            sum(self._verbs.values()),
            self._completed,
            dict(self._verbs),
            dict(self._refused),
            self._wrong,
            tuple(self._sentences),
            self._died,
            self.commands,
        )

    def _note_wrong(self, sentence: str) -> None:
        self._wrong += 1
        if len(self._sentences) < KEPT_SENTENCES:
            self._sentences.append(sentence)
