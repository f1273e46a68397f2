"""What bites people in a job's lifecycle: each reported case as the smallest one here, by its number.

Asserted on what a reader gets: the readout, the picture, the JSON of a frame.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.core.walking import (
    GUESS,
    HOUR_MS,
    RIVAL,
    Tap,
    claimed,
    held,
    space_on,
    take,
    texts,
    walker_on,
)
from tests.reports.showing import as_json, broken, drawn
from visualizer.engine import Engine
from visualizer.script import load


@pytest.fixture
def tap(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Tap:
    return Tap(engine, monkeypatch)


# Tokens and refusals --------------------------------------------------------------------------------------------------


def test_l1_a_wrong_token_is_told_with_both_numbers(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    before = held(engine)
    refused = take(walker, "complete", token=7)
    assert texts(walker)[:2] == [
        "Refused: EMQSTALE complete token mismatch (stale). Nothing moved.",
        "The row holds 1 (claimed by w1 in step 2), you sent 7.",
    ]
    assert held(engine) == before
    told = as_json(walker)
    assert (told["outcome"], told["refused"], told["moves"], told["row"]["changed"]) == (
        "stale",
        "EMQSTALE complete token mismatch",
        [],
        [],
    )
    assert broken(refused) == []
    take(walker, "complete", token="w1")
    assert texts(walker)[0].startswith("JOB0KHTOWnGLuC leaves active and enters nothing: its row is gone.")


@pytest.mark.parametrize(
    ("verb", "reply", "first"),
    [
        ("complete", 0, "Refused: gone (0). Nothing moved."),
        ("extend_lock", -1, "Refused: gone (-1). Nothing moved."),
        ("complete", 1, "Nothing moved.  complete answered 1: completed."),
        ("retry", b"scheduled", 'Nothing moved.  retry answered "scheduled": scheduled.'),
    ],
)
def test_l2_what_moved_is_what_was_read_and_never_what_was_meant(
    engine: Engine, tap: Tap, verb: str, reply: Any, first: str
) -> None:
    walker = walker_on(engine)
    claimed(walker)
    sha1 = load(f"leased/{verb}").sha1
    tap.instead = lambda words: reply if words[1] == sha1 else None
    take(walker, verb, token="w1")
    assert texts(walker)[0] == first
    told = as_json(walker)
    assert (told["leaves"], told["enters"], told["moves"]) == ([], [], [])
    drawing = drawn(walker)
    assert drawing.edges == ()
    assert [place.mark for place in drawing.places] == ["quiet", "holds", "quiet", "quiet"]


# Leases ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_stalled", [2, 1])
def test_l4_the_sweep_counts_stalls_and_not_time(engine: Engine, max_stalled: int) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    for stalls in range(1, max_stalled + 1):
        take(walker, "claim", worker="w1", lease_ms=1)
        take(walker, "wait_until_lapsed")
        take(walker, "sweep_stalled", max_stalled=max_stalled)
        dead = stalls == max_stalled
        end = "so it is dead" if dead else "so it may run again"
        assert texts(walker)[1] == (
            f"JOB0KHTO…LuC has stalled {stalls} of {max_stalled} times, {end}. The limit is a count, not a time."
        )
        assert as_json(walker)["enters"] == ["dead" if dead else "pending"]
        assert as_json(walker)["row"]["after"]["stalled"] == str(stalls)


@pytest.mark.parametrize("reaper", ["reap", "sweep_stalled"])
def test_l5_a_killed_workers_job_stays_until_a_reaper_comes(engine: Engine, reaper: str) -> None:
    walker = walker_on(engine)
    claimed(walker, lease_ms=1)
    take(walker, "kill_worker", worker="w1")
    take(walker, "wait_until_lapsed")
    assert any(text.endswith("before this reading: no reaper has run.") for text in texts(walker))
    assert walker.walk.shown.memberships == {GUESS: ("active",)}
    assert drawn(walker).places[1].members[0].note.endswith(("ago", "lapsed"))
    given = {"max_stalled": 2} if reaper == "sweep_stalled" else {}
    take(walker, reaper, **given)
    told = texts(walker)
    assert told[0].startswith("JOB0KHTOWnGLuC leaves active, enters pending.")
    if reaper == "reap":
        assert told[1] == "A reap moves no counter: attempts grow at the next claim."
        assert as_json(walker)["row"]["changed"] == ["state"]
    else:
        assert told[1].startswith("JOB0KHTO…LuC has stalled 1 of 2 times")
        assert as_json(walker)["row"]["changed"] == ["state", "stalled"]
    assert not any("no reaper has run" in text for text in told)


# Places and rows ------------------------------------------------------------------------------------------------------


def test_l6_a_crash_between_two_commands_leaves_the_id_nowhere(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "naive_enqueue")
    for do in ("naive_claim_flag", "naive_claim_leave", "naive_claim_enter", "naive_complete_leave"):
        take(walker, do)
    assert texts(walker)[0].startswith("JOB0KHTOWnGLuC leaves active and enters nothing.")
    take(walker, "kill_worker", worker="w1")
    assert drawn(walker).nowhere == (GUESS,)
    assert "every_row_has_a_place" in as_json(walker)["breaks"]
    before = held(engine)
    take(walker, "enqueue")
    assert texts(walker)[0] == "Nothing moved.  enqueue answered 0: duplicate."
    assert held(engine) == before
    assert drawn(walker).nowhere == (GUESS,), "the id stays lost"


def test_l7_a_ghost_in_dead_has_no_row_and_is_counted_as_a_hole(engine: Engine) -> None:
    walker = walker_on(engine)
    engine.client.zadd(space_on(engine).key("dead"), {b"ghost": 0, RIVAL: 0})
    walker.look()
    told = texts(walker)
    assert "no row 2: JOB0KHTOYgD5Um in dead, ghost in dead" in told
    assert "foreign 1: ghost in dead: not a branded id, so not a job" in told
    assert [(member.mark, member.note) for member in drawn(walker).places[3].members] == [
        ("entered", "no row"),
        ("foreign", "foreign, no row"),
    ]
    assert as_json(walker)["places"]["dead"] == {"count": 2, "members": [["JOB0KHTOYgD5Um", 0], ["ghost", 0]]}
    assert as_json(walker)["breaks"] == ["every_member_has_a_row"]
    assert take(walker, "reprocess", RIVAL).outcome.name == "gone"


def test_l8_a_row_deleted_while_we_read_is_there_or_not_and_never_half(engine: Engine, tap: Tap) -> None:
    client, space = engine.client, space_on(engine)
    walker = walker_on(engine)
    take(walker, "enqueue")

    def delete(_: Any) -> None:
        client.delete(space.job(GUESS))
        client.zrem(space.key("pending"), GUESS)

    observe = load("observe").sha1
    tap.sent.clear()
    tap.after = lambda words: delete(words) if words[1] == observe else None
    frame = take(walker, "update_progress", progress="1")
    assert [words[1] for words in tap.sent if words[1] == observe] == [observe, observe], "one call a reading"
    assert (frame.before.memberships[GUESS], frame.before.rows[GUESS] is None) == (("pending",), False)
    assert (frame.after.memberships[GUESS], frame.after.rows[GUESS]) == ((), None)
    assert broken(frame) == ["a_refusal_wrote_nothing"], "what changed while the step ran is not hidden"


def test_l9_the_place_is_the_state_and_the_disagreement_is_flagged(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    engine.client.hset(space_on(engine).job(GUESS), "state", "active")
    walker.look()
    told = as_json(walker)
    assert (told["places"]["pending"]["members"], told["places"]["active"]["members"]) == ([["JOB0KHTOWnGLuC", 0]], [])
    assert told["row"]["after"]["state"] == "active"
    assert told["breaks"] == ["the_row_state_follows_the_place"]
    assert any(text.startswith("broken JOB0KHTOWnGLuC is in pending, its row says active.") for text in texts(walker))


@pytest.mark.parametrize("score", [0, 10**15])
def test_l10_a_foreign_member_is_shown_and_no_job(engine: Engine, score: int) -> None:
    walker = walker_on(engine)
    engine.client.zadd(space_on(engine).key("active"), {"0:1000": score})
    claimed(walker)
    told = texts(walker)
    assert "foreign 1: 0:1000 in active: not a branded id, so not a job" in told
    assert not any("no reaper has run" in text for text in told), "no lease of a job has ended"
    active = drawn(walker).places[1]
    assert (active.count, active.foreign, active.jobs) == (2, 1, 1)
    assert broken(walker.walk.frames[-1]) == []
    if score:
        take(walker, "reap")
        assert any("JOB0KHTO…LuC lapses" in text for text in texts(walker))


# Time -----------------------------------------------------------------------------------------------------------------


def test_l12_a_due_job_waits_for_a_promoter_that_the_learner_steps(engine: Engine) -> None:
    walker = walker_on(engine)
    seconds, _ = engine.client.time()
    take(walker, "schedule", at_ms=(int(seconds) - 42) * 1000)
    late = [text for text in texts(walker) if text.endswith("no promoter has run.")]
    assert len(late) == 1
    assert re.fullmatch(r"JOB0KHTO…LuC was due 4\d\.\d s before this reading: no promoter has run\.", late[0])
    assert drawn(walker).places[2].members[0].note == "due"
    take(walker, "promote")
    assert texts(walker)[0].startswith("JOB0KHTOWnGLuC leaves schedule, enters pending.")
    assert not any("no promoter" in text for text in texts(walker))


def test_l13_the_five_replies_to_enqueuing_one_id_again(engine: Engine) -> None:
    walker = walker_on(engine)
    found = {}

    def again(where: str) -> None:
        frame = take(walker, "enqueue")
        found[where] = (frame.calls[-1].reply, frame.outcome.name, len(frame.moves))

    take(walker, "enqueue")
    again("pending")
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    again("active")
    take(walker, "retry", token="w1", delay_ms=0)
    again("schedule")
    take(walker, "promote")
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    take(walker, "retry", token="w1", max_attempts=1)
    again("dead")
    take(walker, "remove_job")
    again("gone")
    duplicate = (0, "duplicate", 0)
    assert found == {
        "pending": duplicate,
        "active": duplicate,
        "schedule": duplicate,
        "dead": duplicate,
        "gone": (1, "enqueued", 1),
    }
