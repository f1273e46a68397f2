"""The directed cases: paths from an empty queue, each call of which is compared. Those of flows are in `flow_cases`."""

from __future__ import annotations

from collections.abc import Iterator

from tests.differential.calls import (
    TOKEN,
    Step,
    add,
    add_delayed,
    add_prioritized,
    complete,
    concurrency,
    delay,
    expire_lock,
    extend,
    extend_all,
    fail,
    give_back,
    next_interval,
    pause,
    promote,
    raw,
    release,
    reprocess,
    resume,
    retry,
    state,
    sweep,
    take,
)
from tests.differential.record import Path

FIELDS = {"failedReason": "boom", "stacktrace": '["line 1"]'}
OTHER = "w9:9"


def _path(name: str, *steps: Step) -> Path:
    return Path(name, steps)


def adding() -> Iterator[Path]:
    yield _path("three jobs", add(), add(), add("mine"), add(), take(), take("w2"))
    yield _path("an id again", add("a"), add("a", at=5, lifo=True), add(), take(), add("a"), add("b"))
    yield _path("an id again while it is delayed", add_delayed("a"), add_delayed("a", 7), add("a"), add())
    yield _path("an id again with a priority", add_prioritized("a", 2), add_prioritized("a", 1), add())
    yield _path("last in, first out", add("a"), add("b", lifo=True), add("c", lifo=False), take(), pause(), add("d"))
    yield _path("lifo while paused", pause(), add("a"), add("b", lifo=True))
    yield _path("delay and priority in a standard job", add("a", delay=7, priority=3), take(), retry("a"))
    yield _path(
        "options of every kind", add("a", backoff={"type": "fixed", "delay": 5}, kl=10, none=None, x=[1, 2.5, True])
    )
    yield _path("due together", *(add_delayed(delay=500, at=0) for _ in range(3)), add_delayed(delay=400, at=100))
    yield _path("due one after the other", add_delayed(delay=501), add_delayed(delay=500), add_delayed(delay=500))
    yield _path("no delay and less than none", add_delayed("a", 0, at=3), add_delayed("b", -5, at=3), take(at=3))
    yield _path("a delayed job while paused", pause(), add_delayed("a", 5), add_prioritized("b", 1), promote("a"))
    yield _path(
        "the slot after the last, not the first that is free",
        *(add_delayed(job, 500) for job in "abc"),
        promote("a"),
        add_delayed("d", 500),
        promote("d"),
        add_delayed("e", 500),
    )
    full = raw("ZADD", "delayed", (1_700_000_000_500) * 4096 + 4094, "last but one")
    yield _path("the slots end", full, *(add_delayed(job, 500) for job in "abc"), add_delayed("d", 501))
    classes = (5, 1, 5, 2_097_152, 1)
    yield _path("priorities", *(add_prioritized(priority=p) for p in classes), *(take(f"w{n}") for n in range(6)))
    yield _path("the priority counter wraps", raw("SET", "pc", 2**32 - 2), *(add_prioritized(priority=2),) * 3)
    yield _path("a priority of none", add_prioritized("a", 0), take(), retry("a"), give_back("a"))


def pickup() -> Iterator[Path]:
    yield _path("nothing there", take(), complete("a"), state("a"))
    yield _path("the list before the priorities", add_prioritized("a", 1), add("b"), take(), take("w2"), take("w3"))
    yield _path("the priority counter begins again", add_prioritized("a", 1), take(), add_prioritized("b", 1), take())
    yield _path("the counter goes when nothing is left", add_prioritized(priority=4), take(), take("w2"), take("w3"))
    yield _path("not yet, and at that instant", add_delayed("a", 1000), take(at=998), take(at=999), take(at=1000))
    yield _path("the earliest is told", add_delayed("a", 900), add_delayed("b", 800), take(at=5), promote("b"), take())
    yield _path(
        "due jobs line up behind those that wait, the earliest first",
        *(add_delayed("late", 50), add_delayed("early", 30), add_delayed("early too", 30), add("waits")),
        *(take(at=60), take("w2", at=60), take("w3", at=61)),
    )
    yield _path("a due job has its priority", add_delayed("a", 10, priority=3), add_delayed("b", 10), take(at=11))
    yield _path("due while paused", add_delayed("a", 5), add_delayed("b", 5, priority=1), pause(), take(at=9), resume())
    yield _path(
        "as many as the concurrency allows",
        *(concurrency(2), add("a"), add("b"), add("c"), add_delayed("d", 5)),
        *(take("w1", at=1), take("w2", at=2), take("w3", at=10), complete("a", "w1", at=11), take("w3", at=12)),
        *(concurrency(1), take("w4", at=13), concurrency(None), take("w4", at=14)),
    )
    yield _path("no concurrency at all", concurrency(0), add("a"), take())
    yield _path("a job without a row", raw("LPUSH", "wait", "ghost"), take(), complete("ghost"))
    yield _path("a delayed job without a row", raw("ZADD", "delayed", 4096, "ghost"), take())
    yield _path("without a lock", add("a"), take("0"), sweep(), complete("a", "0"))
    yield _path("a lock that is there is overwritten", add("a"), raw("SET", "a:lock", OTHER), take())


def finishing() -> Iterator[Path]:
    for end in (complete, fail):
        name = end.__name__
        yield _path(f"{name} and stay", add("a"), take(), end("a"), end("a"), end("a", "0"), state("a"))
        yield _path(f"{name} with fields", add("a"), take(), end("a", fields=FIELDS))
        yield _path(f"{name} and keep no row", add("a"), take(), end("a", keep=0), end("a"), state("a"))
        yield _path(f"{name} what nobody knows", end("a"))
        yield _path(f"{name} without the lock", add("a"), take(), expire_lock("a"), end("a", fields=FIELDS))
        yield _path(f"{name} with another's lock", add("a"), take(OTHER), end("a", fields=FIELDS))
        lost = (add("a"), take(), raw("SADD", "stalled", "a"), raw("DEL", "active"))
        yield _path(f"{name} what is not active", *lost, end("a", fields=FIELDS))
        yield _path(f"{name} what is not active, token 0", *lost, end("a", "0", fields=FIELDS))
        yield _path(f"{name} takes the mark away", add("a"), take(), sweep(), end("a"), next_interval(), sweep())
        yield _path(f"{name} with token 0 leaves a lock", add("a"), take(), sweep(), end("a", "0"))
        twice = raw("RPUSH", "active", "a", "b", "a")
        yield _path(f"{name} takes one of two from the right", add("a"), twice, end("a", "0"))
        yield _path(f"{name} and fetch", add("a"), add("b"), take(), end("a", fetch=True), end("b", fetch=True))
        yield _path(f"{name} and fetch by priority", add("a"), take(), add_prioritized("b"), end("a", fetch=True))
        yield _path(f"{name} and fetch what is due", add("a"), take(), add_delayed("b", 15), end("a", fetch=True))
        yield _path(f"{name} and fetch too early", add("a"), take(), add_delayed("b", 900), end("a", fetch=True))
        yield _path(f"{name} and fetch while paused", add("a"), add("b"), take(), pause(), end("a", fetch=True))
        yield _path(
            f"{name} and fetch when that makes room",
            *(concurrency(1), add("a"), add("b"), take(), end("a", fetch=True), concurrency(0)),
            *(add_delayed("c", 5), end("b", fetch=True, at=30)),
        )
        yield _path(f"{name} and fetch without a lock", add("a"), add("b"), take("0"), end("a", "0", fetch=True))
        yield _path(
            f"{name} and fetch with no counter left", raw("SET", "pc", 5), add("a"), take(), end("a", fetch=True)
        )
        yield _path(f"{name} from a batch", add("a"), add("b"), take(), take(), end("b", fetch=True, at=21), end("a"))
    deferred = raw("HSET", "a", "defa", "text", "failedReason", "earlier")
    yield _path("a deferred failure comes", add("a"), take(), deferred, fail("a"))
    yield _path("a deferred failure and yet completed", add("a"), take(), deferred, complete("a"))
    subkeys = [raw("LPUSH", "a:logs", "x"), raw("HSET", "a:processed", "k", "v"), raw("HSET", "a:failed", "k", "v")]
    more = [raw("ZADD", "a:unsuccessful", 1, "k"), raw("SADD", "a:dependencies", "k")]
    yield _path("a row that is not kept takes all with it", add("a"), take(), *subkeys, *more, fail("a", keep=0))


def ending_an_attempt() -> Iterator[Path]:
    for name, call in (("delay", delay), ("retry", retry), ("give back", give_back)):
        yield _path(f"{name} what nobody knows", call("a"))
        yield _path(f"{name} without the lock", add("a"), take(), expire_lock("a"), call("a"))
        yield _path(f"{name} with another's lock", add("a"), take(OTHER), call("a"))
        yield _path(f"{name} with token 0", add("a"), take(), sweep(), call("a", "0"))
        yield _path(f"{name} takes the mark away", add("a"), take(), sweep(), call("a"), next_interval(), sweep())
        lost = (add("a"), take(), raw("SADD", "stalled", "a"), raw("DEL", "active"))
        yield _path(f"{name} what is not active", *lost, call("a"))
        yield _path(f"{name} one of two", add("a"), raw("RPUSH", "active", "a", "b", "a"), call("a", "0"))
        yield _path(
            f"{name} a priority", add_prioritized("a", 3), take(), call("a"), take("w2", at=9999), call("a", "w2")
        )
        yield _path(f"{name} while paused", add("a"), take(), add("b"), pause(), call("a"))
        yield _path(f"{name} when others wait", add("a"), add("b"), add("c"), take(), call("a"), take("w2"))
        yield _path(
            f"{name} before another of its priority",
            add_prioritized("a", 3),
            take(),
            add_prioritized("b", 3),
            call("a"),
        )
    lost = (add("a"), take(), raw("SADD", "stalled", "a"), raw("DEL", "active"))
    yield _path("delay with fields", add("a"), take(), delay("a", fields=FIELDS), take(at=1019), take(at=1020))
    yield _path("delay with fields what is not active", *lost, delay("a", fields=FIELDS))
    yield _path("delay with fields and without the lock", add("a"), take(), expire_lock("a"), delay("a", fields=FIELDS))
    yield _path("delay and not count", add("a"), take(), delay("a", skip=True), take(at=2000), delay("a", at=2001))
    yield _path("delay by nothing", add("a"), take(), delay("a", delay=0), take(at=20), delay("a", delay=-7))
    yield _path(
        "delay to a full millisecond", add_delayed("b", 1020), add("a"), take(), delay("a"), add_delayed("c", 1020)
    )
    yield _path("retry to the front", add("a"), add("b"), take(), retry("a", push="RPUSH"))
    yield _path("retry with fields", add("a"), take(), retry("a", fields=FIELDS))
    yield _path("retry with fields what is not active", *lost, retry("a", fields=FIELDS))
    due = (add("a"), take(), add_delayed("b", 5), add_delayed("c", 5, priority=2))
    yield _path("retry lets due jobs line up first", *due, retry("a"))
    yield _path("retry without a lock lets due jobs line up", *due, expire_lock("a"), retry("a"))
    yield _path("retry of nothing lets due jobs line up", *due, retry("ghost"), pause(), retry("a", OTHER))
    yield _path(
        "retry a job whose row is plain", raw("HSET", "a", "x", "y"), raw("LPUSH", "active", "a"), retry("a", "0")
    )


def locks() -> Iterator[Path]:
    yield _path("a heartbeat", add("a"), take(), sweep(), extend("a", lock_ms=60_000), next_interval(), sweep())
    yield _path("a heartbeat too late", add("a"), take(), sweep(), expire_lock("a"), extend("a"))
    yield _path("another's heartbeat", add("a"), take(), sweep(), extend("a", OTHER, 60_000))
    pairs = [("a", TOKEN), ("b", OTHER), ("c", TOKEN), ("ghost", TOKEN)]
    three: tuple[Step, ...] = (*(add(job) for job in "abc"), take(), take(), take(), sweep(), expire_lock("c"))
    yield _path("heartbeats for several", *three, extend_all(pairs, 60_000), extend_all([]))
    yield _path("a lock given up", add("a"), take(), sweep(), release("a"), release("a"), next_interval(), sweep())
    yield _path("another's lock given up", add("a"), take(), release("a", OTHER))


def sweeps() -> Iterator[Path]:
    stalled = (add("a"), take(), sweep(), expire_lock("a"), next_interval())
    yield _path("nothing is active", sweep(), sweep(), next_interval(), sweep())
    yield _path("too early", add("a"), take(), sweep(), expire_lock("a"), sweep(at=31), sweep(at=32))
    yield _path("taken back", *stalled, sweep(at=33), take("w2"), complete("a", TOKEN), complete("a", "w2"))
    yield _path("a lock protects, and is marked again", add("a"), take(), sweep(), next_interval(), sweep(), state("a"))
    yield _path("stalled once too often", *stalled, sweep(max_stalled=0), take("w2"), fail("a", "w2"))
    again = (take("w2"), next_interval(), sweep(), expire_lock("a"), next_interval())
    yield _path("stalled twice", *stalled, sweep(), *again, sweep(), take("w3"), fail("a", "w3"), reprocess("a"))
    yield _path("taken back to a paused queue", *stalled[:2], pause(), add("b"), *stalled[2:], sweep())
    yield _path("taken back before those that wait", *stalled, add("b"), add("c"), sweep())
    yield _path("a priority is lost", add_prioritized("a", 2), *stalled[1:], sweep())
    yield _path("marked and settled", *stalled[:3], delay("a", "0"), next_interval(), sweep(), sweep())
    yield _path("marked, settled and unlocked", *stalled[:3], delay("a", "0"), *stalled[3:], sweep(), sweep())
    yield _path("marked and without a row", *stalled, raw("DEL", "a"), sweep())
    several: tuple[Step, ...] = (
        *(add(job) for job in "abcd"),
        *(take(f"w{n}") for n in range(4)),
        sweep(),
        next_interval(),
    )
    yield _path("several at once", *several, *(expire_lock(job) for job in "abc"), sweep())
    yield _path("one of two", add("a"), raw("RPUSH", "active", "a", "b", "a"), raw("SADD", "stalled", "a"), sweep())


def operating() -> Iterator[Path]:
    yield _path("pause and resume", add("a"), add("b"), pause(), add("c"), state("a"), take(), resume(), state("a"))
    yield _path("pause an empty queue", pause(), resume(), resume())
    yield _path("pause twice", pause(), add("a"), raw("LPUSH", "wait", "b"), pause())
    yield _path("resume over a list", pause(), add("a"), raw("LPUSH", "wait", "b"), resume())
    yield _path("promote", add("b"), add_delayed("a", 900), promote("a"), promote("a"), take())
    yield _path("promote a priority", add_delayed("a", 900, priority=4), promote("a"), take())
    yield _path("promote while paused", add_delayed("a", 900), pause(), promote("a"))
    yield _path("promote without a row", raw("ZADD", "delayed", 4096, "ghost"), promote("ghost"), promote("nobody"))
    for ending, end in (("failed", fail), ("completed", complete)):
        done = (add("a"), add("b"), take(), end("a", fields=FIELDS))
        yield _path(f"reprocess what has {ending}", *done, reprocess("a", ending), take("w2"), take("w3"))
        yield _path(f"reprocess to the front what has {ending}", *done, reprocess("a", ending, "RPUSH"))
        yield _path(f"reprocess and forget the attempts: {ending}", *done, reprocess("a", ending, "LPUSH", True, True))
        yield _path(f"reprocess and forget those made: {ending}", *done, reprocess("a", ending, "LPUSH", True, False))
        yield _path(f"reprocess while paused: {ending}", *done, pause(), reprocess("a", ending))
        yield _path(f"reprocess what has not {ending}", add("a"), reprocess("a", ending), reprocess("nobody", ending))
    yield _path("reprocess a priority", add_prioritized("a", 2), take(), fail("a"), reprocess("a"))
    yield _path("reprocess what ended otherwise", add("a"), take(), fail("a"), reprocess("a", "completed"))
    places = ("completed", "failed", "delayed", "prioritized", "active", "wait", "paused", "waiting-children")
    lists = {"active", "wait", "paused"}
    put = [raw("RPUSH", place, "a") if place in lists else raw("ZADD", place, 1, "a") for place in places]
    remove = [raw("DEL", place) for place in places]
    yield _path(
        "the state by the first place", *put, *(step for each in remove for step in (state("a"), each)), state("a")
    )


def erring() -> Iterator[Path]:
    """A script that raises keeps what it has written."""
    yield _path("an error in the middle", add("a"), take(), raw("SET", "delayed", "no zset"), delay("a", fields=FIELDS))
    yield _path("a lock of no time", add("a"), take(lock_ms=0))
    yield _path("no time for a lock", add("a"), add("b"), take(), complete("a", fetch=True, lockDuration=None))


def all_paths() -> list[Path]:
    groups = (adding, pickup, finishing, ending_an_attempt, locks, sweeps, operating, erring)
    return [path for group in groups for path in group()]
