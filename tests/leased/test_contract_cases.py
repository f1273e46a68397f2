"""The contract's cases 1 to 39: jobs from enqueue to the end, the guards, and jobs for later."""

from __future__ import annotations

import importlib

import pytest
import redis

from tests.leased.cases import COVERED, MISSING, MODULES, NUMBERS, case
from tests.leased.queue_under_test import QueueUnderTest, mint
from visualizer.engine import Engine
from visualizer.machine.leased_verbs import VERBS
from visualizer.model import Grant

KIND = "EMQKIND job id must be JOB-namespaced"
PAYLOADS = (b"", b"\x83h\x04w\x05guess", b"\x9c\xff\x00", b"x" * 1_048_576)


def test_every_case_is_covered_or_names_its_missing_verb() -> None:
    for module in MODULES:
        importlib.import_module(f"tests.leased.{module}")
    assert sorted([*COVERED, *MISSING]) == list(NUMBERS)
    assert not set(MISSING.values()) & set(VERBS)


@case(1)
@pytest.mark.parametrize("payload", PAYLOADS, ids=("empty", "erlang", "no utf-8", "1 MiB"))
def test_enqueue_stores_the_payload(queue: QueueUnderTest, payload: bytes) -> None:
    job = mint()
    assert queue.do("enqueue", job, payload) == "enqueued"
    assert queue.reply == 1
    assert queue.row(job)[b"payload"] == payload
    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, payload, 1]


@case(2)
def test_enqueue_again_keeps_the_first_payload(queue: QueueUnderTest) -> None:
    job = queue.enqueue(b"first")
    before = queue.held()
    assert queue.do("enqueue", job, b"second") == "duplicate"
    assert (queue.reply, queue.outcome.refused) == (0, None)
    assert queue.held() == before


@case(3)
def test_enqueue_refuses_another_kind(queue: QueueUnderTest) -> None:
    order = mint("ORD")
    assert queue.refused("enqueue", order) == ("kind", KIND)
    assert queue.held() == {}


def test_the_kind_is_looked_at_before_the_row(queue: QueueUnderTest) -> None:
    order = mint("ORD")
    queue.client.hset(queue.space.job(order), "state", "pending")
    assert queue.refused("enqueue", order) == ("kind", KIND)
    assert queue.refused("schedule", order, delay_ms=1) == ("kind", KIND)


@case(4)
def test_a_fresh_row_has_three_fields(queue: QueueUnderTest) -> None:
    job = queue.enqueue(b"p")
    row = {b"state": b"pending", b"attempts": b"0", b"payload": b"p"}
    assert queue.held() == {"pending": [(job, 0.0)], f"job:{job.decode()}": row}


@case(5)
def test_claim_hands_out_token_1(queue: QueueUnderTest) -> None:
    job = queue.enqueue(b"p")
    with queue.scored("active", job, after_ms=60_000):
        assert queue.do("claim", worker="w2", lease_ms=60_000) == "claimed"
    assert queue.reply == [job, b"p", 1]
    assert queue.grants == (Grant("w2", job, b"1"),)
    assert queue.place("pending") == []


@case(6)
def test_a_second_claim_finds_nothing(queue: QueueUnderTest) -> None:
    queue.claimed()
    before = queue.held()
    assert queue.do("claim") == "empty"
    assert (queue.reply, queue.outcome.refused, queue.grants) == ([], None, ())
    assert queue.held() == before


@case(7)
def test_a_claimed_row_says_active(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert queue.row(job) == {b"state": b"active", b"attempts": b"1", b"payload": b"p"}


@case(8, 9, 10, 11)
def test_complete_wants_the_token_and_leaves_nothing(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert queue.refused("complete", job, token=99) == ("stale", "EMQSTALE complete token mismatch")
    assert queue.do("complete", job, token=1) == "completed"
    assert queue.reply == 1
    assert queue.held() == {"metrics:completed": {b"count": b"1"}}
    assert queue.refused("complete", job, token=1) == ("gone", "0")
    assert queue.reply == 0


@case(12)
def test_a_stale_token_is_refused_by_a_server_that_forgot_the_script(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    queue.client.script_flush()
    assert queue.refused("complete", job, token=99) == ("stale", "EMQSTALE complete token mismatch")
    assert [call.command for call in queue.calls] == ["EVALSHA", "SCRIPT LOAD", "EVALSHA"]


@case(13, 14)
def test_retry_below_the_cap_comes_back_with_the_next_token(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    with queue.scored("schedule", job, after_ms=10):
        assert queue.do("retry", job, token=1, delay_ms=10, max_attempts=3, error="timeout") == "scheduled"
    assert queue.reply == b"scheduled"
    row = {b"state": b"scheduled", b"attempts": b"1", b"payload": b"p", b"last_error": b"timeout"}
    assert queue.held() == {"schedule": [(job, queue.score("schedule", job))], f"job:{job.decode()}": row}

    queue.wait_until(queue.score("schedule", job))
    assert queue.do("promote", batch=10) == "promoted"
    assert queue.reply == 1
    assert queue.held() == {"pending": [(job, 0.0)], f"job:{job.decode()}": {**row, b"state": b"pending"}}

    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, b"p", 2]
    assert queue.do("complete", job, token=2) == "completed"


@case(15)
def test_retry_at_the_cap_is_the_end(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert queue.do("retry", job, token=1, delay_ms=10, max_attempts=1, error="timeout") == "dead"
    assert queue.reply == b"dead"
    row = {b"state": b"dead", b"attempts": b"1", b"payload": b"p", b"last_error": b"timeout"}
    failed = {b"count": b"1"}
    assert queue.held() == {"dead": [(job, 0.0)], f"job:{job.decode()}": row, "metrics:failed": failed}


@case(16)
def test_retry_refuses_another_token(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert queue.refused("retry", job, token=99) == ("stale", "EMQSTALE retry token mismatch")


@case(17)
def test_growing_delays_and_the_third_failure_is_the_end(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    outcomes = []
    for attempt in (1, 2, 3):
        assert queue.do("claim") == "claimed"
        delay_ms = min(2 ** (attempt - 1), 10)
        outcomes.append(
            queue.do("retry", job, token=attempt, delay_ms=delay_ms, max_attempts=3, error=f"failure {attempt}")
        )
        if outcomes[-1] == "scheduled":
            queue.wait_until(queue.score("schedule", job))
            queue.do("promote")
    assert outcomes == ["scheduled", "scheduled", "dead"]
    assert queue.row(job)[b"last_error"] == b"failure 3"


@case(18, 19)
def test_a_lapsed_lease_is_reaped_and_claimed_with_the_next_token(queue: QueueUnderTest) -> None:
    job = queue.claimed(lease_ms=30)
    queue.lapse(job)
    assert queue.do("reap") == "reaped"
    assert queue.reply == 1
    row = {b"state": b"pending", b"attempts": b"1", b"payload": b"p"}
    assert queue.held() == {"pending": [(job, 0.0)], f"job:{job.decode()}": row}
    assert queue.do("claim", worker="w2") == "claimed"
    assert queue.grants == (Grant("w2", job, b"2"),)
    assert queue.refused("complete", job, token="w1") == ("stale", "EMQSTALE complete token mismatch")
    assert queue.do("complete", job, token="w2") == "completed"


@case(21)
def test_pending_backwards_is_the_order_of_minting_backwards(queue: QueueUnderTest) -> None:
    jobs = [mint() for _ in range(5)]
    for job in (jobs[3], jobs[0], jobs[4], jobs[1], jobs[2]):
        queue.do("enqueue", job)
    newest_first = queue.client.zrevrangebylex(queue.space.key("pending"), "+", "-")
    assert newest_first == jobs[::-1]


@case(25)
def test_a_pool_and_a_single_connection_see_the_same_job(queue: QueueUnderTest, engine: Engine) -> None:
    pool = engine.client.connection_pool
    single = QueueUnderTest(engine, redis.Redis(connection_pool=pool, single_connection_client=True))
    first, second = queue.enqueue(b"p"), single.enqueue(b"p")
    assert single.do("enqueue", first, b"q") == "duplicate"
    assert queue.do("enqueue", second, b"q") == "duplicate"
    assert queue.held()["pending"] == [(first, 0.0), (second, 0.0)]
    assert queue.row(first) == queue.row(second)


@case(26, 27, 28)
@pytest.mark.parametrize("lease_ms", [0, -5, "30000", True])
@pytest.mark.parametrize("verb", ["claim", "claim_batch", "lane_claim"])
def test_a_lease_that_is_none_is_not_sent(queue: QueueUnderTest, verb: str, lease_ms: object) -> None:
    size = {"size": 1} if verb == "claim_batch" else {}
    assert queue.do(verb, lease_ms=lease_ms, **size) == "not_sent"
    assert queue.outcome.refused == f"lease_ms is a whole number of at least 1, not {lease_ms!r}"


@case(31)
def test_a_promotion_of_none_is_not_sent(queue: QueueUnderTest) -> None:
    assert queue.do("promote", batch=0) == "not_sent"
    assert queue.outcome.refused == "batch is a whole number of at least 1, not 0"


@case(32)
def test_schedule_in_counts_from_the_servers_clock(queue: QueueUnderTest) -> None:
    job = mint()
    with queue.scored("schedule", job, after_ms=40):
        assert queue.do("schedule", job, b"p", delay_ms=40) == "scheduled"
    assert queue.reply == 1
    row = {b"state": b"scheduled", b"attempts": b"0", b"payload": b"p"}
    assert queue.held() == {"schedule": [(job, queue.score("schedule", job))], f"job:{job.decode()}": row}


@case(33, 34)
def test_a_job_for_later_is_neither_claimed_nor_promoted(queue: QueueUnderTest) -> None:
    queue.do("schedule", mint(), delay_ms=3_600_000)
    before = queue.held()
    assert queue.do("claim") == "empty"
    assert queue.do("promote") == "promoted"
    assert (queue.reply, queue.outcome.refused) == (0, None)
    assert queue.do("claim") == "empty"
    assert queue.held() == before


@case(35, 36)
@pytest.mark.parametrize("mode", ["in", "at"])
def test_a_job_for_later_runs_once_it_is_due(queue: QueueUnderTest, mode: str) -> None:
    job, at_ms = mint(), queue.now_ms() + 40
    given = {"delay_ms": 40} if mode == "in" else {"at_ms": at_ms}
    assert queue.do("schedule", job, b"p", **given) == "scheduled"
    if mode == "at":
        assert queue.score("schedule", job) == at_ms
    queue.wait_until(queue.score("schedule", job))
    assert queue.do("promote") == "promoted"
    assert queue.reply == 1
    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, b"p", 1]
    assert queue.do("complete", job, token=1) == "completed"


@case(37)
def test_schedule_refuses_another_kind(queue: QueueUnderTest) -> None:
    assert queue.refused("schedule", mint("ORD"), delay_ms=40) == ("kind", KIND)
    assert queue.held() == {}


@case(38)
def test_schedule_again_keeps_the_first_payload(queue: QueueUnderTest) -> None:
    job = mint()
    queue.do("schedule", job, b"first", delay_ms=40)
    before = queue.held()
    assert queue.do("schedule", job, b"second", delay_ms=9_000) == "duplicate"
    assert (queue.reply, queue.outcome.refused) == (0, None)
    assert queue.held() == before


@case(39)
def test_promoted_jobs_wait_in_mint_order_not_in_due_order(queue: QueueUnderTest) -> None:
    a, b = mint(), mint()
    now_ms = queue.now_ms()
    queue.do("schedule", b, at_ms=now_ms - 20)
    queue.do("schedule", a, at_ms=now_ms - 10)
    assert queue.place("schedule") == [b, a]
    assert queue.do("promote") == "promoted"
    assert queue.reply == 2
    assert queue.place("pending") == [a, b]
