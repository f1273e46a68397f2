"""What no numbered case says of the scripts: batches, boundaries of time, and that headers, verbs and screen agree."""

from __future__ import annotations

import pytest

from tests.leased.queue_under_test import QueueUnderTest, mint
from visualizer.machine.leased_verbs import VERBS
from visualizer.model import Grant
from visualizer.resources import lua_folder
from visualizer.script import all_names, load

COLUMNS = 76


def edges_of(moves: str) -> tuple[tuple[str | None, str | None], ...]:
    """A header's MOVES as a verb has them."""
    if moves == "none":
        return ()
    ends = {"nothing": None, "gone": None}
    pairs = (edge.split(" -> ") for edge in moves.split(" | "))
    return tuple((ends.get(source, source), ends.get(target, target)) for source, target in pairs)


def test_every_script_has_its_verb() -> None:
    scripts = [name for name in all_names() if name.startswith("leased/")]
    assert sorted(verb.script for verb in VERBS.values()) == scripts
    assert all(verb.script == f"leased/{name}" for name, verb in VERBS.items())


@pytest.mark.parametrize("name", sorted(VERBS))
def test_verb_and_header_say_the_same(name: str) -> None:
    verb, header = VERBS[name], load(f"leased/{name}").header
    assert (verb.sentence, verb.moves) == (header.sentence, edges_of(header.moves))


def test_scripts_fit_their_panel() -> None:
    too_wide = [
        f"{path.name}:{number}"
        for path in (lua_folder() / "leased").rglob("*.lua")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > COLUMNS
    ]
    assert too_wide == []


def test_every_shared_step_is_used_and_says_what_it_is() -> None:
    used = {step for verb in VERBS.values() for _, _, step in load(verb.script).shared}
    steps = list((lua_folder() / "leased" / "steps").glob("*.lua"))
    assert {path.stem for path in steps} == used
    assert all(path.read_text(encoding="utf-8").startswith("-- ") for path in steps)


# Boundaries of time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "place", "args"),
    [("reap", "active", []), ("promote", "schedule", [100]), ("sweep_stalled", "active", [2, 100])],
)
def test_a_score_of_this_very_millisecond_has_come(
    queue: QueueUnderTest, verb: str, place: str, args: list[int]
) -> None:
    """The clock stands still while a script runs, so what the first lines score is scored at the script's own now."""
    job = mint()
    first_lines = (
        "local t = redis.call('TIME')\n"
        f"redis.call('ZADD', ARGV[1] .. '{place}', t[1] * 1000 + math.floor(t[2] / 1000), '{job.decode()}')\n"
    )
    script = load(f"leased/{verb}")
    keys = [queue.space.key(slot.name) for slot in script.header.keys]
    reply = queue.client.eval(first_lines + script.source, len(keys), *keys, queue.space.base, *args)
    assert reply == ([[job], []] if verb == "sweep_stalled" else 1)
    assert queue.homes(job) == {"pending"}


@pytest.mark.parametrize(("verb", "place"), [("reap", "active"), ("promote", "schedule"), ("sweep_stalled", "active")])
def test_a_score_that_is_still_to_come_stays(queue: QueueUnderTest, verb: str, place: str) -> None:
    job = mint()
    queue.client.zadd(queue.space.key(place), {job: queue.now_ms() + 3_600_000})
    before = queue.held()
    queue.do(verb)
    assert queue.held() == before


@pytest.mark.parametrize("at_ms", [0, -1, 1_700_000_000_123, 2**53 - 1])
def test_an_instant_is_scored_as_it_is_given(queue: QueueUnderTest, at_ms: int) -> None:
    job, delayed = mint(), queue.claimed()
    assert queue.do("schedule", job, at_ms=at_ms) == "scheduled"
    assert queue.do("delay", delayed, token="w1", at_ms=at_ms) == "delayed"
    for each in (job, delayed):
        assert queue.score("schedule", each) == at_ms
        assert queue.client.execute_command("ZSCORE", queue.space.key("schedule"), each) == at_ms


@pytest.mark.parametrize("given", [{}, {"delay_ms": 1, "at_ms": 1}])
@pytest.mark.parametrize("verb", ["schedule", "delay"])
def test_a_due_time_is_given_one_way(queue: QueueUnderTest, verb: str, given: dict[str, int]) -> None:
    token = {"token": 1} if verb == "delay" else {}
    assert queue.do(verb, mint(), **token, **given) == "not_sent"
    assert queue.outcome.refused == f"{verb} takes either delay_ms or at_ms"


def test_a_scheduled_delay_is_not_negative(queue: QueueUnderTest) -> None:
    assert queue.do("schedule", mint(), delay_ms=-1) == "not_sent"


# Batches -------------------------------------------------------------------------------------------------------------


def test_a_batch_is_claimed_in_mint_order_with_one_deadline(queue: QueueUnderTest) -> None:
    jobs = [queue.enqueue(b"%d" % number) for number in range(5)]
    with queue.scored("active", jobs[2], after_ms=60_000):
        assert queue.do("claim_batch", worker="w3", size=3, lease_ms=60_000) == "claimed"
    assert queue.reply == [[job, b"%d" % number, 1] for number, job in enumerate(jobs[:3])]
    assert queue.grants == tuple(Grant("w3", job, b"1") for job in jobs[:3])
    assert len({queue.score("active", job) for job in jobs[:3]}) == 1
    assert all(queue.row(job)[b"state"] == b"active" for job in jobs[:3])
    assert queue.place("pending") == jobs[3:]


def test_a_short_batch_is_normal_and_an_empty_one_is_empty(queue: QueueUnderTest) -> None:
    jobs = [queue.enqueue() for _ in range(2)]
    assert queue.do("claim_batch", size=10) == "claimed"
    assert [job for job, _, _ in queue.reply] == jobs
    before = queue.held()
    assert queue.do("claim_batch", size=10) == "empty"
    assert (queue.reply, queue.grants) == ([], ())
    assert queue.held() == before


@pytest.mark.parametrize("size", [0, -1, "2"])
def test_a_batch_of_none_is_not_sent(queue: QueueUnderTest, size: object) -> None:
    assert queue.do("claim_batch", size=size) == "not_sent"


def test_a_promotion_takes_the_earliest_first_and_no_more_than_its_batch(queue: QueueUnderTest) -> None:
    jobs = [mint() for _ in range(3)]
    for due_ms, job in zip((30, 10, 20), jobs, strict=True):
        queue.do("schedule", job, at_ms=due_ms)
    assert queue.do("promote", batch=2) == "promoted"
    assert queue.reply == 2
    assert queue.place("schedule") == [jobs[0]]
    assert queue.place("pending") == [jobs[1], jobs[2]]


def test_a_sweep_of_nothing_recovers_nothing(queue: QueueUnderTest) -> None:
    assert queue.do("sweep_stalled") == "none_lapsed"
    assert queue.reply == [[], []]


def test_a_sweep_takes_no_more_than_its_limit_and_sorts_the_recovered_from_the_dead(queue: QueueUnderTest) -> None:
    jobs = [mint() for _ in range(3)]
    queue.client.zadd(queue.space.key("active"), {job: score for score, job in enumerate(jobs, start=1)})
    queue.client.hset(queue.space.job(jobs[0]), "stalled", 1)
    assert queue.do("sweep_stalled", max_stalled=2, limit=2) == "recovered_and_dead"
    assert queue.reply == [[jobs[1]], [jobs[0]]]
    assert queue.place("active") == [jobs[2]]


# Tokens --------------------------------------------------------------------------------------------------------------


def test_a_worker_without_a_token_sends_nothing(queue: QueueUnderTest) -> None:
    job = queue.claimed()
    assert queue.do("complete", job, token="w2") == "not_sent"
    assert queue.do("extend_locks", pairs=[{"job": job, "token": "w2"}]) == "not_sent"
    assert queue.calls == ()


def test_a_verb_about_a_job_needs_one(queue: QueueUnderTest) -> None:
    assert queue.do("complete", token=1) == "not_sent"
    assert queue.do("complete", mint()) == "not_sent"
    assert queue.outcome.refused == ("complete needs token: the attempts that the worker's claim gave it")
