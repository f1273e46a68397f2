"""The contract's cases 40 to 58, 91, 93, 94, 96 and 97: the row's and the operator's verbs, keys and ids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.leased.cases import case
from tests.leased.queue_under_test import QueueUnderTest, mint
from visualizer.ids import IdError, Minter, decode, encode
from visualizer.keyspace import Keyspace, slot
from visualizer.machine.leased_verbs import VERBS

GIVEN: dict[str, dict[str, Any]] = {
    "schedule": {"delay_ms": 1},
    "complete": {"token": 1},
    "retry": {"token": 1},
    "extend_lock": {"token": 1},
    "delay": {"token": 1, "delay_ms": 1},
    "update_data": {"payload": b"x"},
    "update_progress": {"progress": "1"},
}


def dead_job(queue: QueueUnderTest) -> bytes:
    job = queue.claimed()
    assert queue.do("retry", job, token=1, max_attempts=1, error="timeout") == "dead"
    return job


@case(40)
def test_update_data_replaces_the_payload(queue: QueueUnderTest) -> None:
    job = queue.enqueue(b"old")
    before = queue.held()
    assert queue.do("update_data", job, payload=b"\x00new") == "updated"
    assert queue.reply == 1
    before[f"job:{job.decode()}"][b"payload"] = b"\x00new"
    assert queue.held() == before


@case(41)
def test_update_data_makes_no_row(queue: QueueUnderTest) -> None:
    assert queue.refused("update_data", mint(), payload=b"x") == ("gone", "-1")
    assert (queue.reply, queue.held()) == (-1, {})


@case(42)
@pytest.mark.parametrize("job", [b"", b"job", b"JOBzzzzzzzzzzz", b"order:42", b"JOB0000000000\x00"])
@pytest.mark.parametrize("verb", sorted(name for name, verb in VERBS.items() if verb.needs_job))
def test_an_ill_formed_id_reaches_no_server(queue: QueueUnderTest, verb: str, job: bytes) -> None:
    given = GIVEN.get(verb, {"group": mint("PRT")} if verb == "lane_enqueue" else {})
    assert queue.do(verb, job, **given) == "not_sent"
    assert queue.calls == ()
    assert queue.outcome.refused is not None
    assert queue.outcome.refused.startswith("job_key requires a valid branded id")
    assert "sent" not in queue.outcome.refused


@case(43)
def test_update_progress_writes_the_field(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    assert queue.do("update_progress", job, progress="75") == "updated"
    assert queue.row(job)[b"progress"] == b"75"
    assert queue.refused("update_progress", mint(), progress="75") == ("gone", "-1")


@case(44, 45)
def test_a_subscriber_hears_of_progress_and_of_nothing_else(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    heard = queue.client.pubsub(ignore_subscribe_messages=True)
    heard.subscribe(queue.space.key("events"))
    heard.get_message(timeout=30)
    queue.do("update_progress", mint(), progress="1")
    queue.do("update_progress", job, progress='half "way"')
    message = None
    while message is None:
        message = heard.get_message(timeout=30)
    heard.close()
    assert json.loads(message["data"]) == {"event": "progress", "job": job.decode(), "progress": 'half "way"'}


@case(49)
def test_remove_takes_the_logs_and_the_deduplication_id_along(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    queue.client.rpush(queue.space.job(job) + b":logs", "line")
    queue.client.set(queue.space.key("de:mail-7"), job)
    assert queue.do("remove_job", job, dedup_id="mail-7") == "removed"
    assert (queue.reply, queue.held()) == (1, {})


@case(50)
@pytest.mark.parametrize("place", ["pending", "active", "schedule", "dead"])
def test_remove_finds_a_job_wherever_it_is(queue: QueueUnderTest, place: str) -> None:
    job = dead_job(queue) if place == "dead" else mint()
    if place == "schedule":
        queue.do("schedule", job, delay_ms=60_000)
    elif place != "dead":
        queue.do("enqueue", job)
    if place == "active":
        queue.do("claim")
    assert queue.homes(job) == {place}
    assert queue.do("remove_job", job) == "removed"
    assert queue.homes(job) == set()
    assert queue.row(job) == {}


@case(51)
def test_remove_leaves_a_locked_job(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    queue.client.set(queue.space.job(job) + b":lock", "anyone")
    assert queue.refused("remove_job", job) == ("locked", "EMQLOCK job is locked")


@case(52, 53)
def test_remove_leaves_deduplication_ids_that_are_not_its_own(queue: QueueUnderTest) -> None:
    job, other = queue.enqueue(), queue.enqueue()
    queue.client.set(queue.space.key("de:unrelated"), job)
    queue.client.set(queue.space.key("de:elsewhere"), other)
    queue.client.set(queue.space.key("de:"), job)
    assert queue.do("remove_job", job) == "removed"
    assert queue.do("remove_job", other, dedup_id="unrelated") == "removed"
    assert queue.held() == {"de:unrelated": job, "de:elsewhere": other, "de:": job}
    assert queue.refused("remove_job", job) == ("gone", "-1")


@case(54)
def test_reprocess_gives_another_life_and_the_attempts_go_on(queue: QueueUnderTest) -> None:
    job = dead_job(queue)
    assert queue.do("reprocess", job) == "reprocessed"
    assert queue.reply == 1
    assert queue.row(job) == {b"state": b"pending", b"attempts": b"1", b"payload": b"p"}
    assert queue.held()["pending"] == [(job, 0.0)]
    assert queue.place("dead") == []
    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, b"p", 2]


@case(55)
def test_reprocess_refuses_a_job_that_lives(queue: QueueUnderTest) -> None:
    assert queue.refused("reprocess", queue.enqueue()) == ("not_dead", "EMQSTATE not dead")


@case(56)
def test_reprocess_of_a_missing_job(queue: QueueUnderTest) -> None:
    assert queue.refused("reprocess", mint()) == ("gone", "-1")


@case(57)
def test_reprocess_works_in_a_paused_queue_and_claim_does_not(queue: QueueUnderTest) -> None:
    job = dead_job(queue)
    queue.do("queue_pause")
    assert queue.do("reprocess", job) == "reprocessed"
    assert queue.do("claim") == "empty"
    assert queue.place("pending") == [job]


@case(58)
def test_a_paused_queue_hands_out_nothing_until_it_resumes(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    assert queue.do("queue_pause") == "paused"
    assert queue.do("queue_pause") == "paused"
    assert queue.held()["meta"] == {b"paused": b"1"}
    for verb, given in (("claim", {}), ("claim_batch", {"size": 2}), ("lane_claim", {})):
        assert queue.do(verb, **given) == "empty"
        assert queue.outcome.note == "the queue is paused: the script was not run"
        assert [call.command for call in queue.calls] == ["HGET"]
    assert queue.place("pending") == [job]
    assert queue.do("queue_resume") == "resumed"
    assert "meta" not in queue.held()
    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, b"p", 1]


@case(91)
def test_completions_are_counted(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert queue.count("completed") == 0
    queue.do("complete", job, token=1)
    assert queue.count("completed") == 1


@case(93)
def test_the_rows_lock_field_alone_locks_until_it_expires(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    row = queue.space.job(job)
    queue.client.hset(row, "lock", "anyone")
    assert queue.refused("remove_job", job) == ("locked", "EMQLOCK job is locked")
    queue.client.execute_command("HPEXPIRE", row, 20, "FIELDS", 1, "lock")
    queue.wait_until(queue.now_ms() + 30)
    assert queue.do("remove_job", job) == "removed"


@case(94)
def test_keys_are_exact_and_gated() -> None:
    space, job = Keyspace("q1", "job:"), mint()
    assert space.key("pending") == b"emq:{q1}:pending"
    assert space.job(job) == b"emq:{q1}:job:" + job
    with pytest.raises(IdError, match=r"^job_key requires a valid branded id"):
        space.job("order:42")


@case(96)
def test_a_queues_keys_share_one_slot() -> None:
    space, job = Keyspace("q7", "job:"), mint()
    families = ("pending", "active", "schedule", "dead", "meta", "ring")
    assert slot(b"123456789") == 12739
    assert {slot(space.key(name)) for name in families} | {slot(space.job(job))} == {15836}
    assert slot(b"emq:{q1}:pending") == slot(b"q1") == 7450
    assert slot(b"emq:{}:pending") == 7387
    assert slot(b"") == 0


@case(97)
def test_a_thousand_ids_are_sorted_and_unique() -> None:
    minter = Minter(42, lambda: 1_800_000_000_000)
    ids = [minter.mint("JOB") for _ in range(1000)]
    assert ids == sorted(set(ids))
    read = decode(encode("JOB", (1 << 22) | (42 << 12) | 123))
    assert read is not None
    assert (read.node, read.sequence) == (42, 123)
