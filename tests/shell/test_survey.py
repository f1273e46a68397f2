"""The survey: what no panel shows is found on our own engines, hostile names included."""

from __future__ import annotations

import pytest

from tests.hostile import HOSTILE
from visualizer.engine import Engine, EngineError
from visualizer.keyspace import Keyspace
from visualizer.machine import MACHINES
from visualizer.model import Step
from visualizer.survey import Survey, survey
from visualizer.walk import Walker

LEASED = MACHINES["leased"]
JOB, OTHER = b"JOB0KHTOWnGLuC", b"JOB0KHTOYgD5Um"
GROUP, UNNAMED = b"PLR0KCUfUXQup6", b"PLR0KCUg0agcSm"


class Queue:
    """A queue with one captured job, and a survey of it as it is now."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.space = Keyspace(engine.queue, LEASED.row_prefix)
        self.walker = Walker(engine, LEASED, self.space, [JOB], groups=[GROUP])

    def key(self, name: str) -> bytes:
        return self.space.key(name)

    def survey(self, budget_keys: int = 10_000) -> Survey:
        walk = self.walker.look()
        return survey(self.engine, LEASED, self.space, walk.shown, budget_keys)


@pytest.fixture
def queue(engine: Engine) -> Queue:
    return Queue(engine)


def test_a_queue_with_only_its_own_keys_is_clean(queue: Queue) -> None:
    queue.walker.take(Step("enqueue", JOB, payload=b"x"))
    queue.walker.take(Step("lane_enqueue", OTHER, {"group": GROUP}, payload=b"x"))
    queue.engine.client.rpush(queue.space.job(JOB) + b":logs", b"a line")
    queue.engine.client.set(queue.space.job(JOB) + b":lock", b"token")
    queue.engine.client.set(queue.key("visualizer:owner"), b"token")
    queue.engine.client.hset(queue.key("meta"), b"paused", b"1")
    found = queue.survey()
    assert found.clean, found
    assert found.complete
    assert found.keys_seen == len(queue.engine.client.keys(queue.engine.pattern))
    keys = f"{found.keys_seen} keys"
    assert found.sentence() == f"The queue holds {keys}, none of them foreign, and every row has a place."


def test_a_queue_of_no_key_and_of_one(queue: Queue) -> None:
    assert queue.survey().sentence() == "The queue holds no key, and every row has a place."
    queue.engine.client.hset(queue.key("meta"), b"paused", b"1")
    assert queue.survey().sentence() == "The queue holds 1 key, not a foreign one, and every row has a place."
    queue.engine.client.delete(queue.key("meta"))
    queue.engine.client.set(queue.key("word"), b"")
    assert queue.survey().sentence() == (
        "The queue holds 1 key. 1 is foreign: emq:{cm}:word (string). Every row has a place."
    )


def test_an_id_in_a_set_without_a_panel_is_found_there(queue: Queue) -> None:
    client = queue.engine.client
    queue.walker.take(Step("enqueue", JOB, payload=b"x"))
    client.zrem(queue.key("pending"), JOB)
    client.zadd(queue.key("parked"), {JOB: 0})
    client.sadd(queue.key("marked"), JOB)
    client.rpush(queue.key("listed"), OTHER, JOB)
    client.hset(queue.key("hashed"), JOB, b"")
    client.sadd(queue.key("without"), OTHER)
    client.set(queue.key("word"), b"text")
    found = queue.survey()
    assert {(each.key, each.type, each.holds) for each in found.foreign} == {
        (queue.key("parked"), "zset", (JOB,)),
        (queue.key("marked"), "set", (JOB,)),
        (queue.key("listed"), "list", (JOB,)),
        (queue.key("hashed"), "hash", (JOB,)),
        (queue.key("without"), "set", ()),
        (queue.key("word"), "string", ()),
    }
    assert {each.key for each in found.holding(JOB)} == {
        queue.key(name) for name in ("parked", "marked", "listed", "hashed")
    }
    assert "6 are foreign: " in found.sentence()
    assert " and 3 more" in found.sentence()


def test_a_lane_that_nothing_names_is_told_and_is_a_place(queue: Queue) -> None:
    lane = queue.space.lane(UNNAMED)
    queue.engine.client.zadd(lane, {OTHER: 0})
    queue.engine.client.hset(queue.space.job(OTHER), b"state", b"pending")
    found = queue.survey()
    assert [each.key for each in found.foreign] == [lane]
    assert found.rows_without_place == ()


def test_a_row_that_no_place_points_to_is_found(queue: Queue) -> None:
    queue.walker.take(Step("enqueue", JOB, payload=b"x"))
    queue.engine.client.hset(queue.space.job(OTHER), b"state", b"active")
    found = queue.survey()
    assert found.rows_without_place == (OTHER,)
    assert found.sentence() == "The queue holds 3 keys, none of them foreign. 1 row has no place: JOB0KHTO…5Um."
    queue.engine.client.zadd(queue.key("dead"), {OTHER: 0})
    assert queue.survey().clean


def test_a_place_of_another_type_holds_no_row(queue: Queue) -> None:
    queue.engine.client.set(queue.key("active"), b"text")
    queue.engine.client.hset(queue.space.job(JOB), b"state", b"active")
    assert queue.survey().rows_without_place == (JOB,)


def test_names_are_never_taken_apart_at_their_colons(queue: Queue) -> None:
    names = (
        "job:order:42",
        "job::",
        "job:" + JOB.decode() + ":x",
        "job:" + JOB.decode() + "x",
        "g::pending",
        "g:x:pending",
    )
    for name in names:
        queue.engine.client.set(queue.key(name), b"")
    assert {each.key for each in queue.survey().foreign} == {queue.key(name) for name in names}


def test_another_queue_whose_name_begins_alike_is_not_ours(queue: Queue) -> None:
    queue.engine.client.set(b"emq:{cm}x:pending", b"")
    queue.engine.client.set(b"emq:{cmx}:pending", b"")
    assert queue.survey().keys_seen == 0
    queue.engine.client.delete(b"emq:{cm}x:pending", b"emq:{cmx}:pending")


def test_many_keys_end_the_survey_and_it_says_so(queue: Queue) -> None:
    pipeline = queue.engine.client.pipeline(transaction=False)
    for number in range(2_000):
        pipeline.set(queue.key(f"x{number}"), b"")
    pipeline.execute()
    cut = queue.survey(budget_keys=100)
    assert not cut.complete
    assert 100 <= cut.keys_seen < 2_000
    assert cut.sentence().startswith(f"Of the queue {cut.keys_seen:,} keys were looked at, no further. ")
    whole = queue.survey()
    assert whole.complete
    assert len(whole.foreign) == 2_000


def test_hostile_keys_are_told_in_printable_text(queue: Queue) -> None:
    for _, data in HOSTILE:
        if 0 < len(data) < 1_000:
            queue.engine.client.set(queue.key("") + data, b"")
            assert queue.survey().sentence().isprintable()
            queue.engine.client.delete(queue.key("") + data)


class Stranger:
    """An engine on a server that is not ours."""

    pattern = b"emq:{cm}:*"

    @property
    def client(self) -> object:
        raise AssertionError("it was asked")

    def may(self, feature: str) -> str | None:
        return f"No {feature} here."


def test_a_server_that_is_not_ours_is_not_scanned(queue: Queue) -> None:
    with pytest.raises(EngineError, match="No scan here"):
        survey(Stranger(), LEASED, queue.space, queue.walker.walk.shown)
