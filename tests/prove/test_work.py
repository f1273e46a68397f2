"""What the processes of a proof do, in one process: lawful and careless workers, the observer, the odd calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from tests.machine.odd_laws import COMPLETED, NO_ROW, STATE, TWO_PLACES
from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.machine.leased import LEASED
from visualizer.model import Step
from visualizer.prove.careless import CarelessWorker, NaiveClient
from visualizer.prove.lawful import LawfulWorker
from visualizer.prove.numbers import Draw, draws
from visualizer.prove.odd import GROUP, ODD, OddCaller
from visualizer.prove.proving import orders_for
from visualizer.prove.watching import MOST_TELLING, OF_A_STEP, STATE_LAWS, Watch
from visualizer.walk import Walker

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


# What is drawn --------------------------------------------------------------------------------------------------------


def first(numbers: Iterator[Draw], count: int = 50) -> list[int]:
    return [draw.pick(range(10**9)) for draw in islice(numbers, count)]


def test_the_seed_gives_each_worker_its_own_draws_again() -> None:
    assert first(draws(7, "naive", 1)) == first(draws(7, "naive", 1))
    others = [first(draws(8, "naive", 1)), first(draws(7, "naive", 2)), first(draws(7, "scripted", 1))]
    assert first(draws(7, "naive", 1)) not in others


def test_what_a_turn_draws_does_not_depend_on_what_the_turn_before_met() -> None:
    numbers, others = draws(7, "naive", 1), draws(7, "naive", 1)
    next(numbers).pick("abc")
    for _ in range(3):
        next(others).pick("abc") if _ == 0 else None
    spent = next(others)
    assert next(numbers).pick(range(10**6)) == spent.pick(range(10**6))


# Lawful workers -------------------------------------------------------------------------------------------------------


def test_lawful_workers_taking_turns_break_nothing_and_are_refused_in_every_kind(engine: Engine) -> None:
    workers = [lawful(engine, number) for number in (1, 2, 3)]
    watch = Watch(engine, SPACE, IDS)
    turns = 700 if engine.real else 150
    for _ in range(turns):
        for worker in workers:
            worker.turn()
            watch.turn()
    watch.rest()
    seen = watch.counted
    assert (seen.readings, seen.broken, seen.cut, seen.laws, seen.at_rest) == (3 * turns, 0, 0, {}, ())
    did = [worker.counted for worker in workers]
    assert [(each.wrong, each.sentences) for each in did] == [(0, ())] * 3
    assert {kind for each in did for kind in each.refused} == {
        *("wrong token", "wrong kind", "duplicate", "missing id", "empty queue", "not dead")
    }
    if engine.real:
        assert sum(each.completed for each in did) > 0
        never = set(LEASED.verbs) - {verb for each in did for verb in each.verbs}
        assert never == {"lane_limit"}


def test_one_seed_and_nobody_else_is_the_same_run() -> None:
    def sent() -> list[tuple[Any, ...]]:
        server = Server(lambda _: 0)
        worker = lawful(server, 1, seed=5)
        for _ in range(60):
            worker.turn()
        return server.sent

    assert sent() == sent()


def test_what_had_to_be_refused_and_was_not_is_wrong_and_not_counted_as_refused() -> None:
    worker = lawful(Server(lambda words: None if words[0] == "HGET" else 1), 1)
    for _ in range(300):
        worker.turn()
    did = worker.counted
    assert did.refused == {}
    assert did.wrong > 50
    assert any("complete JOB" in said and "answered completed, and not gone" in said for said in told_by(worker))


def told_by(worker: LawfulWorker) -> list[str]:
    worker._sentences.clear()
    worker._missing_id(Draw(0))
    return worker._sentences


# The naive queue ------------------------------------------------------------------------------------------------------


def test_the_naive_client_sends_what_the_naive_lesson_sends(valkey: Engine) -> None:
    """Its moves are the lesson's: the same commands, in the same order, on the same keys."""
    server = Server(lambda words: valkey.send(*words))
    client = NaiveClient(server, SPACE, server_clock_ms(valkey))
    client.enqueue(JOB)
    client.claim(60_000)
    assert client.complete(JOB, b"0")
    ours = [shape(words) for words in server.sent if words[0] not in ("EXISTS", "ZRANGE")]
    valkey.clear_queue()
    walker = Walker(valkey, LEASED, SPACE, [JOB], keep_dumps=False)
    theirs: list[tuple[bytes, ...]] = []
    for do in (
        *("naive_enqueue", "naive_claim_flag", "naive_claim_leave", "naive_claim_enter"),
        *("naive_complete_check", "naive_complete_leave", "naive_complete_row", "naive_complete_count"),
    ):
        frame = walker.take(Step(do, JOB, {}, b"payload")).frame
        assert frame is not None
        theirs.extend(shape((call.command, *call.keys, *call.args)) for call in frame.calls)
    assert ours == theirs


def shape(words: tuple[Any, ...]) -> tuple[bytes, ...]:
    """A command without its deadline."""
    texts = tuple(word if isinstance(word, bytes) else str(word).encode() for word in words)
    return tuple(b"deadline" if text.isdigit() and len(text) > 9 else text for text in texts)


def test_a_naive_client_alone_is_seen_in_the_midst_of_its_moves(valkey: Engine) -> None:
    watch = Watch(valkey, SPACE, IDS)

    def send(words: tuple[Any, ...]) -> Any:
        reply = valkey.send(*words)
        watch.turn()
        return reply

    client = NaiveClient(Server(send), SPACE, server_clock_ms(valkey))
    assert client.enqueue(JOB)
    assert not client.enqueue(JOB)
    assert client.claim(60_000) == JOB
    assert client.claim(60_000) is None
    assert not client.complete(JOB, b"1")
    assert client.complete(JOB, b"0")
    client.enqueue(JOB)
    client.claim(-60_000)
    assert client.reap() == 1
    watch.rest()
    seen = watch.counted
    assert seen.at_rest == ()
    assert 0 < seen.broken < seen.readings
    assert seen.laws[TWO_PLACES] > 0
    assert MOST_TELLING not in seen.laws, "it takes two for that"


def test_two_naive_clients_leave_a_member_without_a_row(valkey: Engine) -> None:
    first_client = NaiveClient(valkey, SPACE, lambda: CLOCK_MS)
    first_client.enqueue(JOB)
    first_client.claim(-1)

    def while_reaping(words: tuple[Any, ...]) -> Any:
        if words[0] == "ZADD":
            assert first_client.complete(JOB, b"0")
        return valkey.send(*words) if words[0] != "HSET" else None

    NaiveClient(Server(while_reaping), SPACE, lambda: CLOCK_MS).reap()
    watch = Watch(valkey, SPACE, IDS)
    watch.turn()
    shown = watch.counted.shown
    assert shown is not None
    assert (shown.law, shown.breaches) == (NO_ROW, (f"{JOB.decode()} is in pending and has no row",))
    assert dict(shown.places)["pending"] == (JOB.decode(),)
    assert shown.ids == (JOB.decode(),)
    assert dict(shown.rows)[JOB.decode()] == "no row"


def test_careless_workers_that_take_turns_count_what_they_do_and_are_refused_in_every_kind(engine: Engine) -> None:
    server = Server(lambda words: engine.send(*words))
    clock_ms = server_clock_ms(engine)
    workers = [CarelessWorker(server, SPACE, IDS, draws(1, "naive", n), clock_ms) for n in (1, 2)]
    for _ in range(150):
        for worker in workers:
            worker.turn()
    did = [worker.counted for worker in workers]
    assert [(each.turns, each.calls, sum(each.verbs.values())) for each in did] == [(150, 150, 150)] * 2
    assert sum(each.commands for each in did) == len(server.sent) > 300
    assert all(set(each.verbs) == {"enqueue", "claim", "complete", "reap"} and each.completed for each in did)
    assert all(0 < each.died < each.verbs["claim"] for each in did)
    assert {kind for each in did for kind in each.refused} == {"wrong token", "duplicate", "missing id", "empty queue"}
    assert [(each.wrong, each.sentences) for each in did] == [(0, ())] * 2, "one after the other they do no wrong"
    done = int(engine.send("HGET", SPACE.key("metrics:completed"), "count"))
    assert sum(each.completed for each in did) == done


def test_a_careless_worker_counts_answers_that_should_not_be(engine: Engine) -> None:
    """Somebody else completes what it holds."""
    worker = CarelessWorker(engine, SPACE, IDS, draws(1, "naive", 1), server_clock_ms(engine))
    NaiveClient(engine, SPACE, lambda: CLOCK_MS).enqueue(JOB)
    worker._claim(Draw(0))
    engine.send("DEL", SPACE.job(JOB))
    worker._duplicate(Draw(0))
    engine.send("DEL", SPACE.job(JOB))
    worker._complete(Draw(0))
    did = worker.counted
    assert (did.wrong, did.completed, did.refused) == (2, 0, {})
    assert did.sentences == (
        f"enqueue {JOB.decode()} was accepted (duplicate)",
        f"complete {JOB.decode()} was answered gone to the worker that holds it",
    )


def test_a_worker_that_dies_is_counted_where_it_had_claimed(engine: Engine) -> None:
    careless = CarelessWorker(engine, SPACE, IDS, draws(1, "naive", 1), server_clock_ms(engine))
    one = lawful(engine, 1)
    careless._claim_and_die(Draw(0))
    one._claim_and_die(Draw(0))
    assert (careless.counted.died, one.counted.died) == (0, 0), "there is nothing to claim"
    NaiveClient(engine, SPACE, lambda: CLOCK_MS).enqueue(JOB)
    one._claim_and_die(Draw(0))
    NaiveClient(engine, SPACE, lambda: CLOCK_MS).enqueue(IDS[1])
    careless._claim_and_die(Draw(0))
    assert (careless.counted.died, one.counted.died) == (1, 1)


# The observer ---------------------------------------------------------------------------------------------------------


def test_the_laws_of_a_step_are_not_judged_on_one_reading() -> None:
    assert {law.name for law in STATE_LAWS} | OF_A_STEP == {law.name for law in LEASED.laws}
    assert not {law.name for law in STATE_LAWS} & OF_A_STEP


@pytest.mark.parametrize(
    ("words", "law"),
    [
        (("ZADD", b"dead", 0, JOB), TWO_PLACES),
        (("ZREM", b"pending", JOB), TWO_PLACES),
        (("HSET", b"job:" + JOB, "state", "active"), STATE),
        (("DEL", b"job:" + JOB), NO_ROW),
        (("ZADD", b"pending", 5, JOB), "pending_scores_are_zero"),
        (("ZADD", b"pending", -5, IDS[1]), "pending_dead_and_lanes_are_in_mint_order"),
    ],
)
def test_a_broken_state_is_counted_and_shown_whole(engine: Engine, words: tuple[Any, ...], law: str) -> None:
    client = NaiveClient(engine, SPACE, lambda: CLOCK_MS)
    client.enqueue(JOB)
    client.enqueue(IDS[1])
    watch = Watch(engine, SPACE, IDS)
    watch.turn()
    assert watch.counted.broken == 0
    command, key, *rest = words
    engine.send(command, SPACE.base + key, *rest)
    watch.turn()
    watch.turn()
    watch.rest()
    seen = watch.counted
    assert (seen.readings, seen.broken, seen.laws[law]) == (3, 2, 2)
    assert seen.shown is not None
    assert law in (seen.shown.law, *seen.shown.also)
    assert seen.shown.breaches
    assert [place for place, _ in seen.shown.places] == ["pending", "active", "schedule", "dead"]
    assert {*seen.shown.ids} <= {JOB.decode(), IDS[1].decode()}, "each breach begins with the id it speaks of"
    assert [job for job, _ in seen.shown.rows][: len(seen.shown.ids)] == list(seen.shown.ids), "broken ids come first"
    assert seen.breaches == seen.lasting == len(seen.shown.ids), "three readings of one breach, and nobody mended it"
    assert len(seen.shown.rows) == len(IDS)
    assert seen.at_rest


def test_separate_breaches_are_counted_by_id_from_broken_to_sound(engine: Engine) -> None:
    client = NaiveClient(engine, SPACE, lambda: CLOCK_MS)
    for job in IDS[:3]:
        client.enqueue(job)
    watch = Watch(engine, SPACE, IDS)

    def read(*commands: tuple[Any, ...]) -> tuple[int, int, int]:
        for command in commands:
            engine.send(*command)
        watch.turn()
        watch.turn()
        return watch.counted.broken, watch.counted.breaches, watch.counted.lasting

    def flag(job: bytes, state: str) -> tuple[Any, ...]:
        return "HSET", SPACE.job(job), "state", state

    assert read() == (0, 0, 0)
    assert read(flag(IDS[0], "active")) == (2, 1, 1)
    assert read(flag(IDS[1], "active")) == (4, 2, 2), "another id is another breach"
    assert read(("ZADD", SPACE.key("dead"), 0, IDS[0])) == (6, 2, 2), "another law on the same id is not"
    assert read(("ZREM", SPACE.key("dead"), IDS[0]), flag(IDS[0], "pending")) == (8, 2, 1)
    assert read(flag(IDS[1], "pending")) == (8, 2, 0)
    assert read(flag(IDS[0], "active")) == (10, 3, 1), "broken again is a breach again"
    engine.send(*flag(IDS[0], "pending"))
    engine.send(*flag(IDS[2], "active"))
    watch.rest()
    assert (watch.counted.breaches, watch.counted.lasting) == (4, 1), "the last reading counts too"


def test_what_a_broken_reading_shows_is_safe_to_show(engine: Engine) -> None:
    engine.send("HSET", SPACE.job(JOB), "state", b"\x1b[2J\xff", b"\x00field", "x", "group", b"\x1b[2J")
    engine.send("ZADD", SPACE.key("g:\x1b[2J:pending"), 0, b"\x1bmember")
    watch = Watch(engine, SPACE, IDS)
    watch.turn()
    shown = watch.counted.shown
    assert shown is not None
    places = (text for name, members in shown.places for text in (name, *members))
    for text in (*shown.breaches, *shown.ids, *places, *(text for row in shown.rows for text in row)):
        assert text.isprintable()


def test_the_reading_that_only_a_race_leaves_is_shown_rather_than_another(engine: Engine) -> None:
    watch = Watch(engine, SPACE, IDS)
    engine.send("HSET", SPACE.job(JOB), "state", "pending")
    for job, law in ((None, TWO_PLACES), (IDS[1], MOST_TELLING), (IDS[2], MOST_TELLING)):
        if job is not None:
            engine.send("ZADD", SPACE.key("pending"), 0, job)
        watch.turn()
        shown = watch.counted.shown
        assert shown is not None
        assert shown.law == law
    assert shown is not None
    assert shown.breaches == (f"{IDS[1].decode()} is in pending and has no row",), "the first of its kind stays"
    assert TWO_PLACES in shown.also


def test_a_place_too_full_to_see_is_told(engine: Engine) -> None:
    engine.send("ZADD", SPACE.key("pending"), *[word for n in range(41) for word in (0, b"x%d" % n)])
    watch = Watch(engine, SPACE, IDS)
    watch.turn()
    assert watch.counted.cut == 1


# Odd but accepted -----------------------------------------------------------------------------------------------------

BREAKS: dict[str, set[str]] = {
    "complete a job nobody claimed, with token 0": set(),
    "complete after a reap, before the next claim": set(),
    "extend a lease after the reap": {TWO_PLACES, STATE},
    "complete what was extended after the reap": {COMPLETED, NO_ROW},
    "extend the lease of a scheduled job": {TWO_PLACES, STATE},
    "complete after a retry, with the same token": {COMPLETED, NO_ROW},
    "complete a dead job": {COMPLETED, NO_ROW},
    "retry a dead job with a higher cap": {TWO_PLACES, STATE},
    "delay a waiting job with token 0": {TWO_PLACES, STATE},
    "remove a job that waits in a lane": {NO_ROW},
}


def test_each_odd_call_is_accepted_and_breaks_its_laws_every_time(engine: Engine) -> None:
    link: Any = engine
    caller = OddCaller(link, SPACE)
    for _ in range(2 * len(ODD)):
        caller.turn()
    for odd in caller.counted:
        assert (odd.name, odd.times, odd.accepted, dict(odd.laws)) == (
            *(odd.name, 2, 2),
            dict.fromkeys(BREAKS[odd.name], 2),
        )
    assert [odd.name for odd in ODD] == list(BREAKS)


def test_an_odd_call_that_nothing_leads_to_is_not_counted() -> None:
    observed = [[b"1", b"0"], None, [], [[b"JOB0KHTOWnGLuC", []]], [], [], [], []]
    link: Any = Server(lambda words: observed if words[0] == "EVALSHA" and len(words) > 20 else 0)
    caller = OddCaller(link, SPACE)
    for _ in ODD:
        caller.turn()
    assert {odd.times for odd in caller.counted} == {0}


def test_an_odd_call_says_in_words_that_no_law_is_broken_where_none_is() -> None:
    assert {odd.name for odd in ODD if "No law is broken." in odd.why} == {n for n, laws in BREAKS.items() if not laws}
