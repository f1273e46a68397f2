"""What a frame says of other ids, other clients, faults, lanes, lessons and hostile text, word for word."""

from __future__ import annotations

import re

import pytest
from redis import exceptions

from tests.core.telling import ALL, ONE_STEP, told, wire
from tests.core.walking import (
    GROUP,
    GUESS,
    HOUR_MS,
    LANE,
    RIVAL,
    Tap,
    claimed,
    lines,
    space_on,
    take,
    texts,
    walker_on,
)
from visualizer.engine import Engine
from visualizer.model import Expect, Step
from visualizer.script import load

# Other ids, other clients, faults -------------------------------------------------------------------------------------


def test_a_claim_that_takes_another_job(engine: Engine) -> None:
    walker = walker_on(engine, GUESS, RIVAL)
    take(walker, "enqueue", RIVAL)
    take(walker, "claim", GUESS, worker="w1", lease_ms=HOUR_MS)
    assert told(walker)[:3] == [
        "JOB0KHTOYgD5Um leaves pending, enters active.",
        "score  SCORE  the lease ends at TIME, in A WHILE, on the server's clock",
        "row    state pending → active   attempts 0 → 1   1 is w1's token",
    ]


def test_a_batch_that_takes_others_too(engine: Engine) -> None:
    walker = walker_on(engine, GUESS, RIVAL)
    take(walker, "enqueue", GUESS)
    take(walker, "enqueue", RIVAL)
    take(walker, "claim_batch", GUESS, size=5, lease_ms=HOUR_MS)
    assert told(walker)[:2] == [
        f"JOB0KHTOWnGLuC leaves pending, enters active.{ONE_STEP}",
        "also   JOB0KHTO…5Um leaves pending, enters active.",
    ]


def test_between_two_steps(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    engine.client.zrem(space_on(engine).key("active"), GUESS)
    walker.look()
    assert told(walker) == [
        "Between two steps, not by this walk: JOB0KHTOWnGLuC leaves active and enters nothing.",
        "row    attempts stay 1",
        "laws   8 of 11 hold, judged on 1 id in view",
        "broken JOB0KHTOWnGLuC has a row and is in no place."
        "  Law: While its row lives, the id is in exactly one place.",
        "broken JOB0KHTOWnGLuC is in no place, its row says active."
        "  Law: The row's state follows the place (schedule is written scheduled).",
        "broken JOB0KHTOWnGLuC has a row that no place points to.  Law: Every row in view has a place.",
    ]
    engine.client.hset(space_on(engine).key("meta"), "paused", 1)
    walker.look()
    assert told(walker)[:2] == [
        "Between two steps, not by this walk: something changed.",
        "beside meta paused nothing → 1",
    ]


def test_a_fault(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "kill_worker", None, worker="w1")
    assert told(walker) == ["Worker w1 is gone and sends nothing more. Nothing moved.", ALL]
    take(walker, "flush_scripts", None)
    assert told(walker)[:2] == [
        "The server has forgotten every script. Nothing moved.",
        'wire   SCRIPT FLUSH → "OK"  MS',
    ]
    take(walker, "complete", token=7)
    calls = [line for line in told(walker) if line.startswith("wire")]
    size = len(load("leased/complete").source.encode())
    assert re.fullmatch(r"wire   EVALSHA SHA… 2 keys 3 args → NOSCRIPT No matching script\..*  MS", calls[0])
    assert re.fullmatch(rf"wire   SCRIPT LOAD leased/complete, {size} bytes → .*  MS", calls[1])
    assert calls[2] == wire(2, 3, "EMQSTALE complete token mismatch")


def test_a_naive_command(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "naive_enqueue")
    take(walker, "naive_claim_flag")
    assert told(walker)[0] == "The row changed; no id moved.  HSET answered 0."
    take(walker, "naive_claim_leave")
    assert told(walker)[0] == (
        "JOB0KHTOWnGLuC leaves pending and enters nothing.  One command, and every client can see this."
    )


def test_a_row_deleted_where_no_id_moves(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "retry", token="w1", delay_ms=HOUR_MS)
    take(walker, "complete", token="w1")
    found = told(walker)
    assert found[:3] == [
        "The row is deleted; no id moved.  complete answered 1: completed.",
        "The token fits, and the script compares nothing else: the id was in schedule, not in active.",
        "row    deleted: no field is left",
    ]
    assert "no row 1: JOB0KHTOWnGLuC in schedule" in found
    assert "laws   9 of 11 hold, judged on 1 id in view" in found


@pytest.mark.parametrize(
    ("do", "given"),
    [("complete", {}), ("retry", {"delay_ms": HOUR_MS}), ("extend_lock", {}), ("delay", {"delay_ms": 1})],
)
def test_a_token_that_fits_in_the_wrong_place_is_told(engine: Engine, do: str, given: dict[str, int]) -> None:
    walker = walker_on(engine)
    claimed(walker, lease_ms=1)
    sentence = "The token fits, and the script compares nothing else: the id was in pending, not in active."
    take(walker, "wait_until_lapsed")
    take(walker, "reap")
    take(walker, do, token="w1", **given)
    assert sentence in told(walker)


def test_a_token_that_fits_in_active_or_does_not_fit_needs_no_such_words(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    for token in (9, "w1"):
        take(walker, "complete", token=token)
        assert not any("The token fits" in line for line in told(walker))
    take(walker, "complete", token="w1")
    assert not any("The token fits" in line for line in told(walker)), "a job that is gone is a refusal"


def test_a_claim_without_a_payload_is_told(engine: Engine) -> None:
    engine.client.zadd(space_on(engine).key("pending"), {GUESS: 0})
    walker = walker_on(engine, GUESS, RIVAL)
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    assert told(walker)[1] == (
        "JOB0KHTO…LuC comes without a payload: its row holds none, so there is nothing to work on."
    )
    take(walker, "enqueue", RIVAL, payload_bytes=b"")
    take(walker, "claim", RIVAL, worker="w1", lease_ms=HOUR_MS)
    assert not any("payload:" in line for line in told(walker)), "an empty payload is one"


def test_a_lane(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "lane_enqueue", group=GROUP)
    assert told(walker) == [
        f"JOB0KHTOWnGLuC enters {LANE}.{ONE_STEP}",
        "score  0  always 0, so the order is mint order",
        'row    state + "pending"   attempts + "0"   payload + "payload"   group + "PRT0KHTOfMv2X2"',
        "beside ring nothing → [PRT0KHTO…2X2]   wake nothing → [1]",
        wire(7, 3, "1"),
        ALL,
    ]


# The lesson and the odd -----------------------------------------------------------------------------------------------


def test_what_the_lesson_announced_and_was_not_met(engine: Engine) -> None:
    walker = walker_on(engine)
    expect = Expect(leaves=("pending",), outcome="claimed", row="gone", refused="EMQSTALE")
    walker.take(Step("enqueue", GUESS, expect=expect))
    assert told(walker)[-5:] == [
        "lesson announced leaves pending, read nothing",
        "lesson announced enters nothing, read pending",
        "lesson announced outcome claimed, read enqueued",
        "lesson announced refused EMQSTALE, read nothing",
        "lesson announced row gone, read changed",
    ]


def test_a_law_that_the_lesson_announced(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    law = "the_row_state_follows_the_place"
    walker.take(Step("naive_claim_flag", GUESS, expect=Expect(breaks=(law,))))
    assert told(walker)[-2] == "laws   10 of 11 hold, broken as the lesson announced, judged on 1 id in view"
    walker.take(Step("naive_claim_flag", GUESS, expect=Expect(breaks=("pending_scores_are_zero",))))
    assert "laws   10 of 11 hold, judged on 1 id in view" in told(walker)
    assert told(walker)[-1] == f"lesson announced breaks pending_scores_are_zero, read {law}"


def test_roles_say_what_a_span_is_and_name_no_colour(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    first = lines(walker)[0]
    roles = {span.text: span.role for span in first.spans}
    assert (roles["JOB0KHTOWnGLuC"], roles["pending"], roles["active"]) == ("subject", "left", "entered")
    assert "".join(span.text for span in first.spans) == first.text


@pytest.mark.parametrize("hostile", ["[/]", "\x1b[2J", "\u202e", "\x00\x9b31m"])
def test_hostile_text_is_told_as_text(engine: Engine, tap: Tap, hostile: str) -> None:
    walker = walker_on(engine)
    client = engine.client
    take(walker, "enqueue", payload_bytes=hostile.encode())
    take(walker, "claim", worker=hostile, lease_ms=HOUR_MS)
    client.zadd(space_on(engine).key("dead"), {hostile: 0})
    client.hset(space_on(engine).key("meta"), hostile, hostile)
    client.hset(space_on(engine).job(GUESS), hostile, hostile)
    client.rpush(space_on(engine).key("ring"), hostile)
    take(walker, "retry", token=hostile, error=hostile)
    take(walker, "complete", token={"text": hostile})
    take(walker, "complete", token=f"{hostile}!")
    take(walker, "kill_worker", worker=hostile)
    sha1 = load("leased/reap").sha1
    tap.instead = lambda words: exceptions.ConnectionError(hostile) if words[1] == sha1 else None
    take(walker, "reap")
    for frame in walker.walk.frames:
        assert all(text.isprintable() for text in texts(walker, frame))


def test_a_script_that_says_it_did_and_did_nothing(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    claimed(walker)
    sha1 = load("leased/complete").sha1
    tap.instead = lambda words: 1 if words[1] == sha1 else None
    take(walker, "complete", token="w1")
    assert told(walker)[0] == "Nothing moved.  complete answered 1: completed."
    assert [law.name for law in walker.walk.frames[-1].broken] == ["a_completed_job_left_nothing"]
