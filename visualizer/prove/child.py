"""What one process of a proof does: it connects, says that it is ready, works until it is stopped, and reports."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from visualizer.keyspace import Keyspace
from visualizer.machine.leased import LEASED
from visualizer.prove.careless import CarelessWorker
from visualizer.prove.counts import Order, Report
from visualizer.prove.lawful import LawfulWorker
from visualizer.prove.link import GONE, Boss, Link
from visualizer.prove.numbers import draws
from visualizer.prove.odd import OddCaller
from visualizer.prove.watching import Watch


def main(text: str) -> None:
    """Carries out one order, given as JSON."""
    order = msgspec.json.decode(text, type=Order)
    boss = Boss()
    latest: Callable[[], Report] = Report
    try:
        link = Link(order.socket_path)
        turn, latest, rest = _work(order, link)
        boss.tell(Report(ready=True))
        boss.work(turn, latest, order.pause_s)
        if rest is not None:
            rest()
    except GONE:
        boss.tell(msgspec.structs.replace(latest(), final=True, gone=True))
    else:
        boss.tell(msgspec.structs.replace(latest(), final=True))
        link.close()


def _work(order: Order, link: Link) -> tuple[Callable[[], None], Callable[[], Report], Callable[[], None] | None]:
    """A turn of the work, what it has counted so far, and what there is to do at the end."""
    space = Keyspace(order.queue, LEASED.row_prefix)
    ids = [job.encode() for job in order.ids]
    if order.role == "watch":
        watch = Watch(link, space, ids)
        watch.warm_up()
        return watch.turn, lambda: Report(watched=watch.counted), watch.rest
    if order.role == "odd":
        caller = OddCaller(link, space)
        caller.warm_up()
        return caller.turn, lambda: Report(odd=caller.counted), None
    numbers = draws(order.seed, order.column, order.number)
    if order.role == "careless":
        careless = CarelessWorker(link, space, ids, numbers, _clock_ms)
        return careless.turn, lambda: Report(worked=careless.counted), None
    group = order.groups[0].encode()
    lawful = LawfulWorker(link, space, ids, group, numbers, order.number, _clock_ms)
    return lawful.turn, lambda: Report(worked=lawful.counted), None


def _clock_ms() -> int:
    return time.time_ns() // 1_000_000
