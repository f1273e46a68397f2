"""The contract's cases 81 to 84, and what each lane verb does to the ring, the limits and the wake tokens."""

from __future__ import annotations

import pytest

from tests.leased.cases import case
from tests.leased.queue_under_test import QueueUnderTest, lane, mint
from visualizer.model import Grant

KIND = "EMQKIND job id must be JOB-namespaced"


def served(queue: QueueUnderTest) -> bytes | None:
    """The group that the next lane claim serves; None when it answers empty."""
    return queue.reply[3] if queue.do("lane_claim") == "claimed" else None


@case(81)
def test_a_job_waits_in_its_lane_and_its_claim_names_the_group(queue: QueueUnderTest) -> None:
    group, job = mint("PRT"), mint()
    assert queue.do("lane_enqueue", job, b"p", group=group) == "enqueued"
    assert queue.reply == 1
    row = {b"state": b"pending", b"attempts": b"0", b"payload": b"p", b"group": group}
    held = {lane(group): [(job, 0.0)], "ring": (group,), "wake": (b"1",), f"job:{job.decode()}": row}
    assert queue.held() == held
    assert queue.do("lane_enqueue", job, b"q", group=group) == "duplicate"
    assert queue.refused("lane_enqueue", mint("ORD"), group=group) == ("kind", KIND)
    assert queue.held() == held

    with queue.scored("active", job, after_ms=60_000):
        assert queue.do("lane_claim", worker="w2", lease_ms=60_000) == "claimed"
    assert queue.reply == [job, b"p", 1, group]
    assert queue.grants == (Grant("w2", job, b"1"),)
    assert queue.held()["gactive"] == {group: b"1"}
    assert queue.do("complete", job, token="w2") == "completed"
    assert queue.held() == {"wake": (b"1",), "metrics:completed": {b"count": b"1"}}


@case(82)
def test_lanes_take_turns(queue: QueueUnderTest) -> None:
    a, b = mint("PRT"), mint("PRT")
    for group in (a, a, b, b):
        queue.enqueue(group=group)
    assert queue.held()["wake"] == (b"1", b"1")
    assert [served(queue) for _ in range(5)] == [a, b, a, b, None]


@case(83)
def test_a_paused_lane_is_passed_over(queue: QueueUnderTest) -> None:
    a, b = mint("PRT"), mint("PRT")
    for group in (a, b, a, b):
        queue.enqueue(group=group)
    assert queue.do("lane_pause", group=a) == "paused"
    assert queue.held()["paused"] == {a}
    assert queue.held()["ring"] == (b,)
    assert [served(queue) for _ in range(3)] == [b, b, None]
    assert len(queue.place(lane(a))) == 2
    assert queue.do("lane_resume", group=a) == "resumed"
    assert "paused" not in queue.held()
    assert served(queue) == a


@case(84)
def test_a_lane_at_its_limit_waits_for_an_end(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    assert queue.do("lane_limit", group=group, limit=1) == "limited"
    assert queue.held() == {"glimit": {group: b"1"}}
    first, second = queue.enqueue(group=group), queue.enqueue(group=group)
    assert served(queue) == group
    assert "ring" not in queue.held()
    assert served(queue) is None
    assert queue.do("complete", first, token="w1") == "completed"
    assert queue.held()["ring"] == (group,)
    assert queue.do("lane_claim") == "claimed"
    assert queue.reply[0] == second


@pytest.mark.parametrize("group", [b"", b"players", b"PRT", b"PRTzzzzzzzzzzz"])
@pytest.mark.parametrize("verb", ["lane_enqueue", "lane_pause", "lane_resume", "lane_limit"])
def test_an_ill_formed_group_reaches_no_server(queue: QueueUnderTest, verb: str, group: bytes) -> None:
    limit = {"limit": 1} if verb == "lane_limit" else {}
    assert queue.do(verb, mint(), group=group, **limit) == "not_sent"
    assert queue.calls == ()


def test_a_limit_of_none_is_not_sent(queue: QueueUnderTest) -> None:
    assert queue.do("lane_limit", group=mint("PRT"), limit=0) == "not_sent"


def test_a_lower_limit_takes_the_lane_off_the_ring_and_a_higher_one_puts_it_back(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    for _ in range(4):
        queue.enqueue(group=group)
    assert [served(queue), served(queue)] == [group, group]
    assert queue.do("lane_limit", group=group, limit=2) == "limited"
    assert "ring" not in queue.held()
    assert queue.do("lane_limit", group=group, limit=3) == "limited"
    assert queue.held()["ring"] == (group,)
    assert queue.held()["wake"] == (b"1", b"1")
    queue.do("lane_limit", group=group, limit=4)
    assert queue.held()["ring"] == (group,)
    assert queue.held()["wake"] == (b"1", b"1")


def test_a_limit_rings_neither_a_paused_nor_an_empty_lane(queue: QueueUnderTest) -> None:
    paused, empty = mint("PRT"), mint("PRT")
    queue.enqueue(group=paused)
    queue.do("lane_pause", group=paused)
    queue.do("lane_limit", group=paused, limit=5)
    queue.do("lane_limit", group=empty, limit=5)
    queue.do("lane_resume", group=empty)
    assert "ring" not in queue.held()


def test_a_paused_lane_takes_jobs_and_stays_off_the_ring(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    queue.do("lane_pause", group=group)
    queue.enqueue(group=group)
    assert not {"ring", "wake"} & queue.held().keys()


def test_a_resumed_lane_at_its_limit_stays_off_the_ring(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    queue.do("lane_limit", group=group, limit=1)
    for _ in range(2):
        queue.enqueue(group=group)
    assert served(queue) == group
    queue.do("lane_pause", group=group)
    queue.do("lane_resume", group=group)
    assert "ring" not in queue.held()


def test_wake_keeps_64_tokens(queue: QueueUnderTest) -> None:
    for _ in range(70):
        queue.enqueue(group=mint("PRT"))
    assert queue.held()["wake"] == (b"1",) * 64
    assert len(queue.held()["ring"]) == 70


def test_retry_and_promote_of_a_grouped_job_keep_to_its_lane(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    queue.do("lane_limit", group=group, limit=1)
    first, second = queue.enqueue(group=group), queue.enqueue(group=group)
    assert served(queue) == group
    assert queue.do("retry", first, token="w1", delay_ms=0, max_attempts=3) == "scheduled"
    held = queue.held()
    assert (held["ring"], "gactive" in held) == ((group,), False)
    assert queue.do("promote") == "promoted"
    assert queue.place(lane(group)) == [first, second]
    assert queue.held()["ring"] == (group,)
    assert "pending" not in queue.held()


def test_a_promotion_rings_no_lane_that_is_at_its_limit(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    queue.do("lane_limit", group=group, limit=1)
    first = queue.enqueue(group=group)
    assert served(queue) == group
    queue.do("retry", first, token="w1", delay_ms=0)
    queue.enqueue(group=group)
    assert served(queue) == group
    queue.do("promote")
    assert queue.place(lane(group)) == [first]
    assert "ring" not in queue.held()


@pytest.mark.parametrize("verb", ["complete", "retry"])
def test_settling_a_reaped_grouped_job_clears_its_lane(queue: QueueUnderTest, verb: str) -> None:
    group = mint("PRT")
    job = queue.enqueue(group=group)
    queue.do("lane_claim", lease_ms=1)
    queue.lapse(job)
    queue.do("reap")
    assert queue.held()["ring"] == (group,)
    queue.do(verb, job, token="w1")
    assert not {lane(group), "ring", "gactive", "active"} & queue.held().keys()


def test_settling_a_reaped_grouped_job_leaves_the_others_their_turn(queue: QueueUnderTest) -> None:
    group = mint("PRT")
    job, other = queue.enqueue(group=group), queue.enqueue(group=group)
    queue.do("lane_claim", lease_ms=1)
    queue.lapse(job)
    queue.do("reap")
    assert queue.do("complete", job, token="w1") == "completed"
    assert queue.place(lane(group)) == [other]
    assert queue.held()["ring"] == (group,)
