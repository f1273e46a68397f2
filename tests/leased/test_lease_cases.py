"""The contract's cases 61 to 80: leases that are extended, that lapse, and that are swept."""

from __future__ import annotations

import pytest

from tests.leased.cases import case
from tests.leased.queue_under_test import QueueUnderTest, mint


def lapsed_job(queue: QueueUnderTest) -> bytes:
    job = queue.claimed(lease_ms=1)
    queue.lapse(job)
    return job


@case(61)
def test_an_extended_lease_is_not_reaped(queue: QueueUnderTest) -> None:
    job = queue.claimed(lease_ms=30)
    first_end = queue.score("active", job)
    assert queue.do("extend_lock", job, token="w1", lease_ms=60_000) == "extended"
    assert queue.reply == 1
    queue.wait_until(first_end + 1)
    assert queue.do("reap") == "reaped"
    assert queue.reply == 0
    assert queue.row(job)[b"state"] == b"active"
    assert queue.do("complete", job, token=1) == "completed"


@case(62)
@pytest.mark.parametrize("lease_ms", [60_000, 5_000], ids=["longer", "shorter"])
def test_extend_counts_from_now_and_writes_only_the_score(queue: QueueUnderTest, lease_ms: int) -> None:
    job = queue.claimed(lease_ms=30_000)
    row = queue.row(job)
    with queue.scored("active", job, after_ms=lease_ms):
        assert queue.do("extend_lock", job, token=1, lease_ms=lease_ms) == "extended"
    assert queue.held() == {"active": [(job, queue.score("active", job))], f"job:{job.decode()}": row}


@case(63)
def test_extend_refuses_another_token(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert queue.refused("extend_lock", job, token=99) == ("stale", "EMQSTALE extend token mismatch")


@case(64)
def test_extend_of_a_job_that_never_was(queue: QueueUnderTest) -> None:
    assert queue.refused("extend_lock", mint(), token=1) == ("gone", "-1")
    assert queue.held() == {}


@case(65)
def test_extend_with_an_ill_formed_id_is_not_sent(queue: QueueUnderTest) -> None:
    assert queue.do("extend_lock", b"nope", token=1) == "not_sent"
    assert queue.do("extend_lock", mint(), token=1, lease_ms=0) == "not_sent"


@case(66)
def test_a_batch_extends_the_live_and_names_the_others(queue: QueueUnderTest) -> None:
    live, stale, gone = queue.claimed(), queue.claimed(), mint()
    before = queue.score("active", stale)
    pairs = [{"job": live, "token": "w1"}, {"job": stale, "token": 7}, {"job": gone, "token": 1}]
    with queue.scored("active", live, after_ms=90_000):
        assert queue.do("extend_locks", pairs=pairs, lease_ms=90_000) == "extended"
    assert queue.reply == [stale, gone]
    assert queue.outcome.refused is None
    assert queue.outcome.note == f"not extended: {stale.decode()}, {gone.decode()}"
    assert queue.score("active", stale) == before
    assert queue.homes(gone) == set()


@case(67)
def test_an_empty_batch_extends_nothing(queue: QueueUnderTest) -> None:
    assert queue.do("extend_locks", pairs=[]) == "extended"
    assert (queue.reply, queue.outcome.note, queue.held()) == ([], "", {})


@case(68)
def test_a_batch_has_one_deadline(queue: QueueUnderTest) -> None:
    jobs = [queue.claimed(lease_ms=1) for _ in range(3)]
    assert queue.do("extend_locks", pairs=[{"job": job, "token": "w1"} for job in jobs], lease_ms=60_000) == "extended"
    assert queue.reply == []
    assert len({queue.score("active", job) for job in jobs}) == 1
    queue.do("reap")
    assert queue.reply == 0


@case(69)
def test_one_ill_formed_id_keeps_the_whole_batch_from_being_sent(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    pairs = [{"job": job, "token": 1}, {"job": b"nope", "token": 1}]
    assert queue.do("extend_locks", pairs=pairs) == "not_sent"
    assert queue.calls == ()


@case(70)
def test_a_batch_names_exactly_the_stale_one(queue: QueueUnderTest) -> None:
    first, second = queue.claimed(), queue.claimed()
    assert queue.refused("extend_lock", first, token=999) == ("stale", "EMQSTALE extend token mismatch")
    queue.do("extend_locks", pairs=[{"job": first, "token": 1}, {"job": second, "token": 999}])
    assert queue.reply == [second]


@case(74)
def test_without_tracking_there_is_no_lock_and_a_claimed_job_can_be_removed(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert f"job:{job.decode()}:lock" not in queue.held()
    assert b"lock" not in queue.row(job)
    assert queue.do("remove_job", job) == "removed"
    assert queue.held() == {}


@case(76)
def test_the_sweep_recovers_below_its_count_and_buries_at_it(queue: QueueUnderTest) -> None:
    job = lapsed_job(queue)
    assert queue.do("sweep_stalled", max_stalled=2) == "recovered"
    assert queue.reply == [[job], []]
    row = {b"state": b"pending", b"attempts": b"1", b"payload": b"p", b"stalled": b"1"}
    assert queue.held() == {"pending": [(job, 0.0)], f"job:{job.decode()}": row}

    assert queue.do("claim", lease_ms=1) == "claimed"
    queue.lapse(job)
    assert queue.do("sweep_stalled", max_stalled=2) == "dead"
    assert queue.reply == [[], [job]]
    row = {**row, b"state": b"dead", b"attempts": b"2", b"stalled": b"2", b"last_error": b"stalled"}
    failed = {b"count": b"1"}
    assert queue.held() == {"dead": [(job, 0.0)], f"job:{job.decode()}": row, "metrics:failed": failed}


@case(77)
def test_the_sweep_leaves_a_lease_that_runs(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    before = queue.held()
    assert queue.do("sweep_stalled", max_stalled=2) == "none_lapsed"
    assert queue.reply == [[], []]
    assert queue.held() == before
    assert b"stalled" not in queue.row(job)


@case(79)
def test_reap_counts_no_stall(queue: QueueUnderTest) -> None:
    job = lapsed_job(queue)
    queue.do("reap")
    assert queue.row(job) == {b"state": b"pending", b"attempts": b"1", b"payload": b"p"}


@case(80)
@pytest.mark.parametrize(("verb", "given"), [("reap", {}), ("sweep_stalled", {"max_stalled": 2})])
def test_a_grouped_job_goes_back_to_its_lane(queue: QueueUnderTest, verb: str, given: dict[str, int]) -> None:
    group = mint("PRT")
    job = queue.enqueue(group=group)
    assert queue.do("lane_claim", lease_ms=1) == "claimed"
    assert queue.held()["gactive"] == {group: b"1"}
    assert "ring" not in queue.held()
    queue.lapse(job)
    queue.do(verb, **given)
    held = queue.held()
    assert held[f"g:{group.decode()}:pending"] == [(job, 0.0)]
    assert held["ring"] == (group,)
    assert not {"pending", "active", "gactive"} & held.keys()
    assert queue.row(job)[b"state"] == b"pending"
