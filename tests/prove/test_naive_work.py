"""What the naive queue's client and its careless workers do, in one process."""

from __future__ import annotations

from typing import Any

from tests.machine.odd_laws import NO_ROW, TWO_PLACES
from tests.prove.working import CLOCK_MS, IDS, JOB, SPACE, Server, lawful, server_clock_ms
from visualizer.engine import Engine
from visualizer.machine.leased import LEASED
from visualizer.model import Step
from visualizer.prove.careless import CarelessWorker, NaiveClient
from visualizer.prove.numbers import Draw, draws
from visualizer.prove.watching import MOST_TELLING, Watch
from visualizer.walk import Walker


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
