"""Calls on grouped jobs that the scripts accept and that leave a lane, the ring or a count behind."""

from __future__ import annotations

from tests.leased.queue_under_test import QueueUnderTest, lane, mint


def test_a_delayed_grouped_job_keeps_its_share_of_the_limit(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    job = queue.enqueue(group=group)
    queue.do("lane_claim")
    queue.do("delay", job, token="w1", delay_ms=60_000)
    assert queue.held()["gactive"] == {group: b"1"}


def test_a_dead_grouped_job_waits_in_pending_when_it_is_reprocessed(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    dead, other = queue.enqueue(group=group), queue.enqueue(group=group)
    queue.do("lane_claim")
    queue.do("retry", dead, token="w1", max_attempts=1)
    queue.do("reprocess", dead)
    assert queue.homes(dead) == {"pending"}
    queue.do("lane_claim")
    queue.do("claim")
    assert queue.held()["gactive"] == {group: b"1"}
    queue.do("complete", dead, token="w1")
    assert queue.homes(other) == {"active"}
    assert "gactive" not in queue.held()


def test_the_sweep_frees_a_dead_jobs_share_and_does_not_ring(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    queue.do("lane_limit", group=group, limit=1)
    job, waiting = queue.enqueue(group=group), queue.enqueue(group=group)
    queue.do("lane_claim", lease_ms=1)
    queue.lapse(job)
    assert queue.do("sweep_stalled") == "dead"
    held = queue.held()
    assert held[lane(group)] == [(waiting, 0.0)]
    assert not {"gactive", "ring"} & held.keys()


def test_a_removed_grouped_job_stays_in_its_lane(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    active, waiting = queue.enqueue(group=group), queue.enqueue(group=group)
    queue.do("lane_claim")
    for job in (active, waiting):
        assert queue.do("remove_job", job) == "removed"
    assert queue.held()[lane(group)] == [(waiting, 0.0)]
    assert queue.held()["gactive"] == {group: b"1"}


def test_a_lane_claim_may_find_nothing_while_another_lane_has_work(queue: QueueUnderTest) -> None:
    empty, full = mint("PRT"), mint("PRT")
    gone, job = queue.enqueue(group=empty), queue.enqueue(group=full)
    queue.client.zrem(queue.space.key(lane(empty)), gone)
    assert queue.do("lane_claim") == "empty"
    assert queue.held()["ring"] == (full,)
    assert queue.do("lane_claim") == "claimed"
    assert queue.reply[0] == job
