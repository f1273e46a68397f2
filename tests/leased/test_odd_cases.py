"""Calls that the scripts accept and that look wrong: the fence checks the token, never the place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.leased.queue_under_test import QueueUnderTest, mint

TOKEN_VERBS: dict[str, dict[str, Any]] = {
    "complete": {},
    "retry": {},
    "extend_lock": {},
    "delay": {"delay_ms": 60_000},
}


def reaped_job(queue: QueueUnderTest) -> bytes:
    job = queue.claimed(lease_ms=1)
    queue.lapse(job)
    assert queue.do("reap") == "reaped"
    return job


def retried_job(queue: QueueUnderTest, delay_ms: int = 0, max_attempts: int = 3) -> bytes:
    job = queue.claimed()
    queue.do("retry", job, token=1, delay_ms=delay_ms, max_attempts=max_attempts)
    return job


# A token that matches outside active ---------------------------------------------------------------------------------


def test_a_job_never_claimed_completes_with_token_0(queue: QueueUnderTest) -> None:
    assert queue.do("complete", queue.enqueue(), token=0) == "completed"
    assert queue.held() == {"metrics:completed": {b"count": b"1"}}


def test_a_late_worker_wins_until_the_next_claim(queue: QueueUnderTest) -> None:
    assert queue.do("complete", reaped_job(queue), token="w1") == "completed"
    assert queue.held() == {"metrics:completed": {b"count": b"1"}}


def test_a_late_retry_takes_the_job_out_of_pending(queue: QueueUnderTest) -> None:
    job = reaped_job(queue)
    assert queue.do("retry", job, token="w1", delay_ms=60_000) == "scheduled"
    assert queue.homes(job) == {"schedule"}


def test_an_extended_lease_after_the_reap_leaves_a_ghost(queue: QueueUnderTest) -> None:
    job = reaped_job(queue)
    assert queue.do("extend_lock", job, token="w1") == "extended"
    assert queue.homes(job) == {"pending", "active"}
    assert queue.row(job)[b"state"] == b"pending"
    assert queue.do("complete", job, token="w1") == "completed"
    assert queue.homes(job) == {"pending"}
    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, None, 1]


@pytest.mark.parametrize("verb", ["extend_lock", "extend_locks"])
def test_extending_a_scheduled_job_puts_it_in_two_places(queue: QueueUnderTest, verb: str) -> None:
    job = retried_job(queue, delay_ms=60_000)
    if verb == "extend_lock":
        queue.do(verb, job, token=1)
    else:
        queue.do(verb, pairs=[{"job": job, "token": 1}])
    assert queue.outcome.name == "extended"
    assert queue.homes(job) == {"schedule", "active"}


def test_delaying_a_job_that_waits_puts_it_in_two_places(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    assert queue.do("delay", job, token=0, delay_ms=60_000) == "delayed"
    assert queue.homes(job) == {"pending", "schedule"}


# Settling twice ------------------------------------------------------------------------------------------------------


def test_a_complete_after_a_retry_leaves_the_id_in_schedule(queue: QueueUnderTest) -> None:
    job = retried_job(queue)
    assert queue.do("complete", job, token=1) == "completed"
    assert queue.homes(job) == {"schedule"}
    assert queue.do("promote") == "promoted"
    assert queue.row(job) == {b"state": b"pending"}
    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, None, 1]


def test_a_complete_after_the_end_leaves_the_id_in_dead(queue: QueueUnderTest) -> None:
    job = retried_job(queue, max_attempts=1)
    assert queue.do("complete", job, token=1) == "completed"
    assert (queue.homes(job), queue.row(job)) == ({"dead"}, {})
    assert queue.refused("reprocess", job) == ("gone", "-1")


def test_a_second_retry_moves_the_due_time(queue: QueueUnderTest) -> None:
    job = retried_job(queue)
    with queue.scored("schedule", job, after_ms=90_000):
        assert queue.do("retry", job, token=1, delay_ms=90_000, error="again") == "scheduled"
    assert queue.row(job)[b"last_error"] == b"again"
    assert queue.homes(job) == {"schedule"}


def test_a_second_retry_of_a_dead_job_counts_it_twice(queue: QueueUnderTest) -> None:
    job = retried_job(queue, max_attempts=1)
    assert queue.do("retry", job, token=1, max_attempts=1) == "dead"
    assert queue.count("failed") == 2


def test_a_second_retry_with_a_higher_cap_puts_a_dead_job_in_two_places(queue: QueueUnderTest) -> None:
    job = retried_job(queue, max_attempts=1)
    assert queue.do("retry", job, token=1, max_attempts=5) == "scheduled"
    assert queue.homes(job) == {"dead", "schedule"}


def test_a_negative_delay_is_due_at_once(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    with queue.scored("schedule", job, after_ms=-5_000):
        assert queue.do("retry", job, token=1, delay_ms=-5_000) == "scheduled"
    queue.do("promote")
    assert queue.reply == 1


# Ids without a row ---------------------------------------------------------------------------------------------------


def test_a_claim_without_a_row_makes_one_and_cuts_no_reply_short(queue: QueueUnderTest) -> None:
    job = mint()
    queue.client.zadd(queue.space.key("pending"), {job: 0})
    assert queue.do("claim") == "claimed"
    assert queue.reply == [job, None, 1]
    assert queue.row(job) == {b"attempts": b"1", b"state": b"active"}


@pytest.mark.parametrize(("verb", "place"), [("reap", "active"), ("promote", "schedule")])
def test_a_row_made_by_moving_a_ghost_has_only_a_state(queue: QueueUnderTest, verb: str, place: str) -> None:
    job = mint()
    queue.client.zadd(queue.space.key(place), {job: 1})
    queue.do(verb)
    assert queue.reply == 1
    assert queue.row(job) == {b"state": b"pending"}
    assert queue.refused("complete", job, token=1) == ("gone", "0")
    assert queue.refused("extend_lock", job, token=1) == ("gone", "-1")
    assert queue.refused("retry", job, token=1) == ("stale", "EMQSTALE job gone")
    assert queue.do("enqueue", job) == "duplicate"


def test_a_missing_row_is_answered_differently_by_each_verb(queue: QueueUnderTest) -> None:
    assert queue.refused("complete", mint(), token=1) == ("gone", "0")
    assert queue.refused("extend_lock", mint(), token=1) == ("gone", "-1")
    assert queue.refused("retry", mint(), token=1) == ("stale", "EMQSTALE job gone")
    assert queue.refused("delay", mint(), token=1, delay_ms=1) == ("gone", "EMQSTALE job gone")


@pytest.mark.parametrize("end", ["complete", "remove_job"])
def test_an_id_is_admitted_again_once_its_row_is_gone(queue: QueueUnderTest, end: str) -> None:
    job = queue.claimed(b"first")
    queue.do(end, job, **({"token": 1} if end == "complete" else {}))
    assert queue.do("enqueue", job, b"second") == "enqueued"
    assert queue.row(job) == {b"state": b"pending", b"attempts": b"0", b"payload": b"second"}


# Tokens are text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["01", "1.0", " 1", "", "+1"])
@pytest.mark.parametrize("verb", sorted(TOKEN_VERBS))
def test_a_token_is_compared_as_text(queue: QueueUnderTest, verb: str, text: str) -> None:
    job = queue.claimed()
    name = verb.removesuffix("_lock")
    refusal = ("stale", f"EMQSTALE {name} token mismatch")
    assert queue.refused(verb, job, token={"text": text}, **TOKEN_VERBS[verb]) == refusal
    queue.do("extend_locks", pairs=[{"job": job, "token": {"text": text}}])
    assert queue.reply == [job]
    assert queue.do(verb, job, token={"text": "1"}, **TOKEN_VERBS[verb]) != "stale"


# Counts that surprise ------------------------------------------------------------------------------------------------


def test_a_reap_takes_a_hundred_at_a_time(queue: QueueUnderTest) -> None:
    queue.client.zadd(queue.space.key("active"), {mint(): 1 for _ in range(150)})
    replies = []
    for _ in range(3):
        queue.do("reap")
        replies.append(queue.reply)
    assert replies == [100, 50, 0]


def test_crashes_use_up_the_attempts(queue: QueueUnderTest) -> None:
    job = queue.enqueue()
    for _ in range(2):
        queue.do("claim", lease_ms=1)
        queue.lapse(job)
        queue.do("reap")
    queue.do("claim")
    assert queue.do("retry", job, token=3, max_attempts=3) == "dead"


def test_a_reap_asks_neither_for_the_pause_nor_for_the_attempts(queue: QueueUnderTest) -> None:
    job = queue.claimed(lease_ms=1)
    queue.client.hset(queue.space.job(job), "attempts", 1_000)
    queue.lapse(job)
    queue.do("queue_pause")
    assert queue.do("reap") == "reaped"
    assert queue.homes(job) == {"pending"}


def test_the_sweep_buries_at_the_first_stall_by_default(queue: QueueUnderTest) -> None:
    job = queue.claimed(lease_ms=1)
    queue.lapse(job)
    assert queue.do("sweep_stalled") == "dead"
    assert queue.homes(job) == {"dead"}


def test_a_reprocessed_job_dies_again_at_the_same_cap(queue: QueueUnderTest) -> None:
    job = retried_job(queue, max_attempts=1)
    queue.client.hset(queue.space.job(job), "stalled", 1)
    queue.do("reprocess", job)
    assert queue.row(job)[b"stalled"] == b"1"
    queue.do("claim")
    assert queue.do("retry", job, token="w1", max_attempts=1) == "dead"


def test_a_delay_keeps_the_attempts_and_the_next_claim_adds_one(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    with queue.scored("schedule", job, after_ms=0):
        assert queue.do("delay", job, token="w1", delay_ms=0) == "delayed"
    assert queue.reply == 1
    assert queue.row(job) == {b"state": b"scheduled", b"attempts": b"1", b"payload": b"p"}
    assert queue.homes(job) == {"schedule"}
    queue.do("promote")
    queue.do("claim")
    assert queue.reply == [job, b"p", 2]


# The pause, the leftovers, the errors --------------------------------------------------------------------------------


def test_the_pause_stops_claims_and_nothing_else(queue: QueueUnderTest) -> None:
    first = queue.claimed()
    queue.do("queue_pause")
    assert queue.do("retry", first, token="w1", delay_ms=0) == "scheduled"
    assert queue.do("promote") == "promoted"
    assert queue.do("extend_lock", first, token="w1") == "extended"
    assert queue.do("complete", first, token="w1") == "completed"
    queue.enqueue()
    assert queue.do("claim") == "empty"


def test_a_pause_that_cannot_be_read_is_none(queue: QueueUnderTest) -> None:
    queue.enqueue()
    queue.client.set(queue.space.key("meta"), "no hash")
    assert queue.do("claim") == "claimed"
    assert queue.calls[0].command == "HGET"
    assert queue.calls[0].error is not None
    assert queue.calls[0].error.startswith("WRONGTYPE")


def test_settling_leaves_logs_and_lock_and_removing_leaves_no_logs(queue: QueueUnderTest) -> None:
    job, removed = queue.claimed(), mint()
    queue.do("enqueue", removed)
    for each in (job, removed):
        queue.client.rpush(queue.space.job(each) + b":logs", "line")
    queue.client.set(queue.space.job(job) + b":lock", "w1")
    queue.do("complete", job, token="w1")
    queue.do("remove_job", removed)
    row = f"job:{job.decode()}"
    assert queue.held() == {f"{row}:logs": (b"line",), f"{row}:lock": b"w1", "metrics:completed": {b"count": b"1"}}


def test_a_refusal_arrives_with_its_code_as_the_first_word(queue: QueueUnderTest) -> None:
    queue.do("complete", queue.claimed(), token=99)
    assert queue.calls[-1].error == "EMQSTALE complete token mismatch"


def test_an_error_of_the_server_is_an_error(queue: QueueUnderTest) -> None:
    queue.client.set(queue.space.key("pending"), "no sorted set")
    assert queue.do("enqueue", mint()) == "error"
    assert queue.outcome.refused is not None
    assert "WRONGTYPE" in queue.outcome.refused or "wrong kind of value" in queue.outcome.refused
