"""An observation against one bare EVALSHA, at a lesson's size and at a million members.

The bare call is one extend_lock: what any one script costs. Round trips are counted by the server. At a million the
places hold well-formed ids, the ones in view have rows, and the captured id stands in the middle of them; the observer
reads the two ends and a window there. Small and large queues are on the same server and read in turn. A large place is
held against one of 50 members, where as many ids are in view, and against one of 10, where only ten can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from tests.benchmarks.bench_queue import JOB, BenchQueue, bench_queue, extend_words
from tests.benchmarks.figures import Finding, medians, rounds
from visualizer.ids import decode, encode
from visualizer.keyspace import Keyspace
from visualizer.machine.leased import LEASED
from visualizer.model import Machine, Observation, Place
from visualizer.observe import Observer

FEW, IN_VIEW, MANY = 10, 50, 1_000_000
BATCH = 10_000
# How many ids beyond the ones in view have rows too.
ROWS_AT_EACH_END = 25
LISTED: Machine = replace(LEASED, places=(Place("wait", "list", "order of arrival", "position"),))

Filling = Callable[[BenchQueue, bytes, Sequence[bytes]], None]


def measure(share: float) -> Iterator[Finding]:
    """What a reading costs, and what a million members do to it."""
    with bench_queue() as queue:
        yield _against_one_call(queue, share)
        many = max(200, int(MANY * share))
        yield from _few_against_many(queue, "a sorted set of", LEASED, "pending", _fill_sorted, many, share)
        yield from _few_against_many(queue, "a list of", LISTED, "wait", _fill_list, many, share)


def _against_one_call(queue: BenchQueue, share: float) -> Finding:
    walker = queue.claimed(keep_dumps=True)
    extend = extend_words(walker)
    observer = Observer(queue.engine, LEASED, queue.space, [JOB])
    keys = [queue.space.key(place.name) for place in LEASED.places]
    keys += [queue.space.key(side.name) for side in LEASED.sides]
    keys += [queue.space.job(JOB) + suffix for suffix in (b"", b":logs", b":lock")]
    ours, dumping, bare = medians(
        rounds(3_000, share), observer.read, lambda: observer.read(keys), lambda: queue.bare_call(extend)
    )
    return Finding(
        "an observation of a lesson's queue",
        ours,
        2.0,
        bare,
        by_ratio=True,
        beside=f"{_round_trips(queue, observer.read):g} round trip, with the dumps for rewind {dumping:.3f} ms",
    )


def _round_trips(queue: BenchQueue, read: Callable[[], Observation], count: int = 20) -> float:
    """How often the server heard from us for one reading."""
    before = _reads(queue)
    for _ in range(count):
        read()
    return (_reads(queue) - before - 1) / count


def _reads(queue: BenchQueue) -> int:
    return int(queue.bare.info("stats")["total_reads_processed"])


def _few_against_many(
    queue: BenchQueue, what: str, machine: Machine, place: str, fill: Filling, many: int, share: float
) -> Iterator[Finding]:
    readers: list[Callable[[], Observation]] = []
    for count in (FEW, IN_VIEW, many):
        space = Keyspace(f"bench-{place}-{count}", machine.row_prefix)
        ids = _ids(count)
        fill(queue, space.key(place), ids)
        captured = ids[count // 2] if place == "pending" else ids[0]
        _write_rows(queue, space, [*ids[:ROWS_AT_EACH_END], *ids[-ROWS_AT_EACH_END:], *_around(ids)])
        observer = Observer(queue.engine, machine, space, [captured])
        assert observer.read().places[place].count == count
        readers.append(observer.read)
    few, in_view, large = medians(rounds(1_000, share), *readers)
    told = f"an observation with {what} {many:,}, bare of"
    yield Finding(f"{told} {IN_VIEW}", large, 1.5, in_view, by_ratio=True)
    yield Finding(f"{told} {FEW}", large, 1.5, few, by_ratio=True)


def _ids(count: int) -> list[bytes]:
    first = decode(JOB)
    assert first is not None
    return [encode("JOB", first.value + number).encode() for number in range(count)]


def _around(ids: Sequence[bytes]) -> Sequence[bytes]:
    middle = len(ids) // 2
    return ids[max(middle - 5, 0) : middle + 5]


def _fill_sorted(queue: BenchQueue, key: bytes, ids: Sequence[bytes]) -> None:
    for start in range(0, len(ids), BATCH):
        queue.bare.zadd(key, dict.fromkeys(ids[start : start + BATCH], 0))


def _fill_list(queue: BenchQueue, key: bytes, ids: Sequence[bytes]) -> None:
    for start in range(0, len(ids), BATCH):
        queue.bare.rpush(key, *ids[start : start + BATCH])


def _write_rows(queue: BenchQueue, space: Keyspace, ids: Sequence[bytes]) -> None:
    row = {b"state": b"pending", b"attempts": b"0", b"payload": b"p" * 80}
    for job in dict.fromkeys(ids):
        queue.bare.hset(space.job(job), mapping=row)
