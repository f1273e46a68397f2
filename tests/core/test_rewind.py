"""Going back in the queue itself: every key byte for byte as it was, or a reason why not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.walking import (
    GROUP,
    GUESS,
    HOUR_MS,
    LANE,
    RIVAL,
    Tap,
    claimed,
    held,
    space_on,
    take,
    texts,
    walker_on,
)
from visualizer.engine import Engine
from visualizer.ids import Minter
from visualizer.kept_keys import KeptKeys
from visualizer.observe import DUMP_BYTES, DUMP_MEMBERS


def put_back(engine: Engine, before: dict[bytes, tuple[bytes, int]]) -> None:
    """Whether the queue holds again exactly what it held."""
    now = held(engine)
    assert {key: dump for key, (dump, _) in now.items()} == {key: dump for key, (dump, _) in before.items()}
    for key, (_, expires_at_ms) in before.items():
        # The emulation restores a TTL, not an instant: a moment passes while it does.
        slack_ms = 0 if engine.real else 5_000
        assert 0 <= now[key][1] - expires_at_ms <= slack_ms


def test_a_rewind_puts_every_key_back_and_drops_the_frames_after(engine: Engine) -> None:
    walker = walker_on(engine, GUESS, RIVAL, groups=[GROUP])
    take(walker, "lane_enqueue", RIVAL, group=GROUP)
    claimed(walker)
    moment, frames = held(engine), walker.walk.frames
    take(walker, "retry", token="w1", delay_ms=HOUR_MS, error="\x00\x1b")
    take(walker, "lane_claim", None, worker="w2", lease_ms=HOUR_MS)
    take(walker, "complete", RIVAL, token="w2")
    take(walker, "queue_pause", None)
    walk = walker.rewind(3)
    assert (walk.frames, walk.cursor) == (frames, 3)
    put_back(engine, moment)
    assert walker.look().frames == frames, "the queue reads as that frame left it"
    assert take(walker, "complete", token="w1").outcome.name == "completed"


def test_a_rewind_to_the_opening_empties_the_queue(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    walk = walker.rewind(0)
    assert (walk.frames, walk.shown, held(engine)) == ((), walk.opening, {})
    assert take(walker, "enqueue").outcome.name == "enqueued"


def test_a_rewind_to_the_newest_frame_only_moves_the_cursor(engine: Engine, tap: Tap) -> None:
    walker = walker_on(engine)
    claimed(walker)
    walker.back()
    tap.sent.clear()
    assert walker.rewind(2).cursor == 2
    assert tap.sent == []


def test_times_to_live_are_kept(engine: Engine) -> None:
    walker, client = walker_on(engine), engine.client
    row = space_on(engine).job(GUESS)
    take(walker, "enqueue")
    client.set(row + b":lock", "w1", px=HOUR_MS)
    client.rpush(row + b":logs", "a line")
    client.pexpire(row, HOUR_MS)
    walker.look()
    moment = held(engine)
    assert all(moment[key][1] > 0 for key in (row, row + b":lock"))
    take(walker, "claim", lease_ms=HOUR_MS)
    client.delete(row + b":lock")
    client.persist(row)
    take(walker, "complete", token="w1")
    walker.rewind(2)
    put_back(engine, moment)


def test_a_time_to_live_that_has_passed_is_a_deadline_too(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    engine.client.set(space_on(engine).job(GUESS) + b":lock", "w1", px=HOUR_MS)
    walker.look()
    take(walker, "claim", lease_ms=3 * HOUR_MS)
    monkeypatch.setattr(walker, "server_now_ms", lambda: walker.walk.shown.clock_ms + 2 * HOUR_MS)
    assert walker.why_not_rewind(2) == "a key's time to live has passed since"
    assert walker.why_not_rewind(0) is None, "there was no such key yet"


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ((("enqueue", {}), ("claim", {"lease_ms": HOUR_MS}), ("update_progress", {"progress": "50"})), "active"),
        ((("schedule", {"delay_ms": HOUR_MS}), ("update_progress", {"progress": "50"})), "schedule"),
    ],
)
def test_a_rewind_across_a_deadline_that_has_passed_is_refused(
    engine: Engine, steps: tuple[tuple[str, dict[str, Any]], ...], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker = walker_on(engine)
    for do, given in steps:
        take(walker, do, **given)
    assert walker.why_not_rewind(len(steps) - 1) is None, "it lies ahead"
    # The hour passes: a short one might have passed before the last step already, where the machine is slow.
    monkeypatch.setattr(walker, "server_now_ms", lambda: walker.walk.shown.clock_ms + 2 * HOUR_MS)
    before = held(engine)
    waited = len(steps) - 1
    reason = f"a time in {place} has passed since"
    assert walker.why_not_rewind(waited) == reason
    with pytest.raises(ValueError, match=reason):
        walker.rewind(waited)
    assert held(engine) == before, "nothing was touched"
    assert len(walker.walk.frames) == len(steps)
    assert walker.why_not_rewind(waited - 1) is None, "before that time was set there is nothing to pass"


def test_a_deadline_that_had_passed_already_then_is_none_that_passed_since(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker, lease_ms=1)
    take(walker, "wait_until_lapsed")
    take(walker, "reap", None)
    assert walker.why_not_rewind(3) is None
    walker.rewind(3)
    assert walker.look().shown.memberships == {GUESS: ("active",)}


def test_a_walk_without_dumps_cannot_rewind(engine: Engine) -> None:
    walker = walker_on(engine, keep_dumps=False)
    claimed(walker)
    assert walker.walk.frames[1].before.dumps is None
    assert walker.why_not_rewind(1) == "the keys were not kept at that moment"
    assert walker.why_not_rewind(2) is None, "the newest frame is where the queue is"


def test_too_many_members_are_not_kept_and_it_is_said(engine: Engine) -> None:
    walker = walker_on(engine)
    dead = space_on(engine).key("dead")
    minter = Minter(3, lambda: 1_767_225_600_000)
    engine.client.zadd(dead, {minter.mint("JOB"): 0 for _ in range(DUMP_MEMBERS + 1)})
    take(walker, "enqueue")
    frame = walker.walk.frames[-1]
    assert frame.before.dumps is None
    assert walker.why_not_rewind(1) == (
        "this walk's keys hold 2,001 members, more than the 2,000 that are kept for rewinding"
    )
    engine.client.zpopmin(dead, 100)
    take(walker, "claim", lease_ms=HOUR_MS)
    assert walker.walk.frames[-1].before.dumps is not None


def test_too_many_bytes_are_not_kept_and_it_is_said(engine: Engine) -> None:
    walker = walker_on(engine)
    # Random-looking, since a server may pack what repeats.
    payload = b"".join(b"%d," % (number * number) for number in range(200_000))[: 2 * DUMP_BYTES]
    take(walker, "enqueue", payload_bytes=payload)
    take(walker, "claim", lease_ms=HOUR_MS)
    assert walker.why_not_rewind(1) == (
        "this walk's keys are longer than the 1,000,000 bytes that are kept for rewinding"
    )
    assert walker.why_not_rewind(0) is None, "before that payload came"
    walker.rewind(0)
    assert held(engine) == {}


# Keys that no captured id has -----------------------------------------------------------------------------------------


def test_the_row_of_a_job_that_is_only_in_view_is_put_back(engine: Engine) -> None:
    take(walker_on(engine, RIVAL, keep_dumps=False), "enqueue", RIVAL)
    walker = walker_on(engine, GUESS)
    moment = held(engine)
    frame = take(walker, "claim", None, worker="w1", lease_ms=HOUR_MS)
    assert frame.moves[0].id == RIVAL
    walker.rewind(0)
    put_back(engine, moment)


def test_a_lane_that_was_there_before_is_put_back(engine: Engine) -> None:
    take(walker_on(engine, RIVAL, keep_dumps=False), "lane_enqueue", RIVAL, group=GROUP)
    walker = walker_on(engine, GUESS)
    assert LANE in walker.walk.opening.places
    moment = held(engine)
    take(walker, "lane_claim", None, worker="w1", lease_ms=HOUR_MS)
    walker.rewind(0)
    put_back(engine, moment)


def test_what_comes_between_two_steps_is_kept_too(engine: Engine) -> None:
    walker = walker_on(engine, GUESS)
    take(walker, "enqueue")
    other = walker_on(engine, RIVAL, keep_dumps=False)
    take(other, "lane_enqueue", RIVAL, group=GROUP)
    moment = held(engine)
    take(walker, "lane_claim", None, worker="w1", lease_ms=HOUR_MS)
    assert [frame.kind for frame in walker.walk.frames] == ["script", "between", "script"]
    walker.rewind(2)
    put_back(engine, moment)
    assert walker.why_not_rewind(1) == "the keys were not kept at that moment", "nothing ran there"


def test_what_came_in_so_short_a_time_that_it_was_not_kept_cannot_be_put_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker = walker_on(engine, GUESS)
    take(walker, "enqueue")
    take(walker_on(engine, RIVAL, keep_dumps=False), "enqueue", RIVAL)
    with monkeypatch.context() as hurried:
        hurried.setattr(KeptKeys, "left_out", lambda *_: False)
        take(walker, "claim", None, lease_ms=HOUR_MS)
    assert walker.why_not_rewind(2) == "not every key was kept at that moment"


def test_the_row_of_a_job_that_came_later_is_gone_again(engine: Engine) -> None:
    walker = walker_on(engine, GUESS)
    take(walker, "enqueue")
    take(walker_on(engine, RIVAL, keep_dumps=False), "enqueue", RIVAL)
    take(walker, "claim", None, lease_ms=HOUR_MS)
    walker.rewind(0)
    assert held(engine) == {}


def test_on_a_server_of_others_only_our_own_jobs_are_put_back(valkey: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey, "own", False)
    take(walker_on(valkey, RIVAL, keep_dumps=False), "enqueue", RIVAL)
    walker = walker_on(valkey, GUESS)
    take(walker, "enqueue")
    take(walker, "update_progress", progress="1")
    row = space_on(valkey).job(RIVAL)
    assert row not in (walker.walk.frames[-1].before.dumps or {})
    assert walker.why_not_rewind(1) is None
    take(walker, "claim_batch", None, size=2, lease_ms=HOUR_MS)
    assert walker.why_not_rewind(1) == "a job that is not this lesson's has moved since"
    with pytest.raises(ValueError, match="has moved since"):
        walker.rewind(1)


def test_a_key_that_only_the_call_names_is_put_back(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    for name in ("de:mine", "de:yours"):
        engine.client.set(space_on(engine).key(name), GUESS, px=HOUR_MS)
    moment = held(engine)
    take(walker, "remove_job", dedup_id="mine")
    assert space_on(engine).key("de:mine") not in held(engine)
    walker.rewind(1)
    put_back(engine, moment)


def test_a_key_that_only_the_call_made_is_gone_again(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    moment = held(engine)
    take(walker, "remove_job", dedup_id="mine")
    walker.rewind(1)
    put_back(engine, moment)
    take(walker, "lane_limit", None, group=GROUP, limit=1)
    take(walker, "remove_job")
    take(walker, "lane_enqueue", group=GROUP)
    walker.rewind(1)
    put_back(engine, moment)


def test_jobs_that_moved_out_of_view_cannot_be_put_back(engine: Engine) -> None:
    walker = walker_on(engine)
    minter = Minter(3, lambda: 1_767_225_600_000)
    engine.client.zadd(space_on(engine).key("pending"), {minter.mint("JOB"): 0 for _ in range(100)})
    walker.look()
    frame = take(walker, "claim_batch", None, size=50, lease_ms=HOUR_MS)
    assert frame.unseen == 30, "the 20 at the head were in view"
    assert "At least 30 more ids moved out of view." in texts(walker)
    assert walker.why_not_rewind(1) == "jobs out of view have moved since"
