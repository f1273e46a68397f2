"""A headless walk's step, `Walker.take`, against the three EVALSHA calls it sends: reading, script, reading.

The step is extend_lock on a claimed job, so it sends one call. The bare calls are the very same ones, their replies
left as they came; ours turns them into observations, moves, laws and a frame. As in a lesson, a walk ends after a few
steps and a new one starts; starting is not timed.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tests.benchmarks.bench_queue import EXTEND, JOB, BenchQueue, bench_queue, extend_words
from tests.benchmarks.figures import Finding, interleaved, rounds
from visualizer.machine.leased import LEASED
from visualizer.observe import Observer

STEPS_IN_A_WALK = 10


def measure(share: float) -> Iterator[Finding]:
    """The step's cost against that of its bare calls; steps a second beside it."""
    with bench_queue() as queue:
        mine: list[float] = []
        bare: list[float] = []
        for _ in range(rounds(200, share)):
            ours, calls = _one_walk(queue)
            mine += ours
            bare += calls
        cost = statistics.median(mine)
        yield Finding(
            "a headless walk's step",
            cost,
            1.8,
            statistics.median(bare),
            by_ratio=True,
            beside=f"{1000 / statistics.mean(mine):,.0f} steps/s",
        )


def _one_walk(queue: BenchQueue) -> list[list[float]]:
    walker = queue.claimed()
    extend = extend_words(walker)
    read = reading_words(queue)

    def bare() -> None:
        queue.bare_call(read)
        queue.bare_call(extend)
        queue.bare_call(read)

    return interleaved(STEPS_IN_A_WALK, lambda: walker.take(EXTEND), bare)


def reading_words(queue: BenchQueue) -> tuple[bytes | str | int, ...]:
    """The EVALSHA of one reading, as an observer sends it."""
    sent: list[tuple[bytes | str | int, ...]] = []

    class Listening:
        """The engine, with an ear on what is sent."""

        owner_key = queue.engine.owner_key

        def send(self, *words: bytes | str | int) -> object:
            sent.append(words)
            return queue.engine.send(*words)

    Observer(Listening(), LEASED, queue.space, [JOB]).read()
    return sent[-1][1:]
