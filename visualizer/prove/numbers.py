"""What a worker draws: one number a turn, so that the turn's number is the same in every run with that seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random, SystemRandom
from typing import TypeVar

Option = TypeVar("Option")

_BITS = 96
LARGEST_SEED = 2**32 - 1


def any_seed() -> int:
    """A seed that nobody chose, from 0 to `LARGEST_SEED`."""
    return SystemRandom().randint(0, LARGEST_SEED)


class Draw:
    """One turn's number, spent choice by choice."""

    def __init__(self, number: int) -> None:
        self._number = number

    def pick(self, options: Sequence[Option]) -> Option:
        """One of the options; the same one for the same number and as many options."""
        self._number, at = divmod(self._number, len(options))
        return options[at]


def draws(seed: int, column: str, worker: int) -> Iterator[Draw]:
    """A worker's draws, turn after turn, without end: given by the seed, and not by what the worker meets."""
    numbers = Random(f"{seed} {column} {worker}")
    while True:
        yield Draw(numbers.getrandbits(_BITS))
