"""One wire call of a verb: `Caller.call` of extend_lock by named keys and arguments, against the same bare EVALSHA.

Ours puts the names in the header's order, sends, and records the call with its time. Both go to the same server in
turn, and both get a new lease for the same job.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tests.benchmarks.bench_queue import JOB, LEASE_MS, bench_queue, extend_words
from tests.benchmarks.figures import Finding, interleaved, p95, rounds
from visualizer.caller import Caller
from visualizer.script import Value, load


def measure(share: float) -> Iterator[Finding]:
    """The call's cost against the bare one's."""
    with bench_queue() as queue:
        words = extend_words(queue.claimed())
        script = load("leased/extend_lock")
        keys = {"row": queue.space.job(JOB), "active": queue.space.key("active")}
        args: dict[str, Value] = {"id": JOB, "token": b"1", "lease_ms": LEASE_MS}
        caller = Caller(queue.engine)

        def ours() -> None:
            reply = caller.call(script, keys, args)
            assert reply == 1
            caller.drain()

        mine, bare = interleaved(rounds(4_000, share), ours, lambda: queue.bare_call(words))
        yield Finding(
            "one wire call of a verb",
            statistics.median(mine),
            1.3,
            statistics.median(bare),
            by_ratio=True,
            beside=f"p95 {p95(mine):.3f} ms, bare {p95(bare):.3f} ms",
        )
