"""Times in the copy: what was due is due and what was not is not, however long after; what is shown is unshifted."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
from msgspec import structs

from tests.core.walking import GUESS, HOUR_MS
from tests.engine.serving import eventually, needs_server
from tests.xray.looking import BASE, CLAIM, ENQUEUE, player_on, stop_at, taken
from visualizer.caller import ErrorReply
from visualizer.engine import Engine
from visualizer.look_inside import source_of
from visualizer.model import Dump, Frame, Step
from visualizer.player import Player
from visualizer.trace import went_another_way
from visualizer.xray import Xray

pytestmark = [needs_server, pytest.mark.usefixtures("one_copy")]

# Long enough that no machine is too slow to look before it has passed, and short enough to be waited for.
SHORT_MS = 250
SCHEDULE = Step("schedule", given={"delay_ms": SHORT_MS})
SHORT_CLAIM = Step("claim", given={"worker": "w1", "lease_ms": SHORT_MS})
EARLY = {
    "promote": (SCHEDULE, Step("promote")),
    "reap": (ENQUEUE, SHORT_CLAIM, Step("reap")),
    "sweep_stalled": (ENQUEUE, SHORT_CLAIM, Step("sweep_stalled", given={"max_stalled": 2})),
}
LATE = {
    "promote": (SCHEDULE, Step("wait_until_due"), Step("promote")),
    "reap": (ENQUEUE, SHORT_CLAIM, Step("wait_until_lapsed"), Step("reap")),
}
PLACE = {"promote": "schedule", "reap": "active", "sweep_stalled": "active"}


def passed(player: Player, frame: Frame, place: str) -> None:
    """Waits until the job's deadline in that place lies behind us on the lesson's engine."""
    deadline_ms = frame.before.score(place, GUESS)
    assert deadline_ms is not None

    eventually(lambda: clock_ms(player.engine) > deadline_ms + 20, "the deadline has passed")


def clock_ms(engine: Engine) -> float:
    seconds, micros = engine.client.time()
    return int(seconds) * 1000 + int(micros) / 1000


def seen_at_once(xray: Xray, place: str) -> tuple[Any, Any]:
    """The job's score in a place at the first stop: inside, and outside."""
    stop = xray.stops[0]
    assert stop.inside is not None
    found = [
        dict(reading.head).get(GUESS)
        for seen in (stop.inside, stop.outside)
        for reading in seen.places
        if reading.name == place
    ]
    return found[0], found[1]


@pytest.mark.parametrize("do", EARLY)
def test_what_was_not_due_then_is_not_due_long_after(valkey: Engine, do: str) -> None:
    player = player_on(valkey, *EARLY[do])
    frame = taken(player)
    assert frame.moves == (), "it came before the deadline"
    passed(player, frame, PLACE[do])
    xray = Xray(source_of(player, frame))
    try:
        assert seen_at_once(xray, PLACE[do]) == (frame.before.score(PLACE[do], GUESS),) * 2
        xray.to_end()
    finally:
        xray.close()
    assert xray.trace is not None
    assert went_another_way(xray.trace, frame) == ""
    assert xray.trace.moves == ()
    assert xray.shifted_ms >= SHORT_MS / 2


@pytest.mark.parametrize("do", LATE)
def test_what_was_due_then_is_due(valkey: Engine, do: str) -> None:
    player = player_on(valkey, *LATE[do])
    frame = taken(player)
    assert frame.moves
    xray = Xray(source_of(player, frame))
    try:
        assert seen_at_once(xray, PLACE[do]) == (frame.before.score(PLACE[do], GUESS),) * 2
        xray.to_end()
    finally:
        xray.close()
    assert xray.trace is not None
    assert went_another_way(xray.trace, frame) == ""
    assert [(move.leaves, move.enters) for move in xray.trace.moves] == [((PLACE[do],), ("pending",))]


@pytest.mark.parametrize("do", EARLY)
def test_without_the_shift_it_goes_another_way_and_that_is_told(
    valkey: Engine, do: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = player_on(valkey, *EARLY[do])
    frame = taken(player)
    passed(player, frame, PLACE[do])
    monkeypatch.setattr(Xray, "_shift", lambda *_: None)
    xray = Xray(source_of(player, frame))
    try:
        xray.to_end()
    finally:
        xray.close()
    assert xray.trace is not None
    assert xray.trace.moves
    assert " it answered " in went_another_way(xray.trace, frame)


@pytest.mark.parametrize(("do", "needs"), [("promote", "not_due"), ("reap", "lease_running")])
def test_a_coming_step_that_needs_its_deadline_ahead_is_shown_with_it_ahead(
    valkey: Engine, do: str, needs: Any
) -> None:
    """The step itself replays the path first where its deadline has passed: that is what the preview shows as well."""
    *arming, step = EARLY[do]
    player = player_on(valkey, *arming, structs.replace(step, needs=needs))
    passed_at = taken(player, len(arming)).after.score(PLACE[do], GUESS)
    assert passed_at is not None
    eventually(lambda: clock_ms(valkey) > passed_at + 20, "the deadline has passed")
    xray = Xray(source_of(player, None))
    try:
        xray.to_end()
    finally:
        xray.close()
    assert xray.trace is not None
    assert (xray.trace.reply, xray.trace.moves) == (0, ())
    assert went_another_way(xray.trace, taken(player)) == ""


def test_what_the_script_writes_is_shown_by_the_clock_of_then(valkey: Engine) -> None:
    """The lease that a claim writes ends as long after that moment as it did in the lesson."""
    player = player_on(valkey, ENQUEUE, CLAIM)
    frame = taken(player)
    time.sleep(0.1)
    xray = Xray(source_of(player, frame))
    try:
        stop = stop_at(xray, "return grant(id")
        while not stop.ended and "active" not in (stop.inside.holding(GUESS) if stop.inside else ()):
            stop = xray.step()
        assert stop.inside is not None
        (shown,) = [dict(place.head)[GUESS] for place in stop.inside.places if place.name == "active"]
        assert shown is not None
        # Between the reading and the script a little time passes, there as here.
        assert 0 <= shown - (frame.before.clock_ms + HOUR_MS) < 5_000
        end = xray.to_end()
        (shown,) = [dict(place.head)[GUESS] for place in end.outside.places if place.name == "active"]
        assert shown is not None
        assert 0 <= shown - (frame.before.clock_ms + HOUR_MS) < 5_000
    finally:
        xray.close()


@pytest.mark.parametrize("do", EARLY)
def test_a_reader_may_take_their_time_at_a_stop(valkey: Engine, do: str) -> None:
    """The script's clock stands still while it runs, and so it does in the debugger."""
    player = player_on(valkey, *EARLY[do])
    frame = taken(player)
    xray = Xray(source_of(player, frame))
    try:
        time.sleep(2 * SHORT_MS / 1000)
        xray.to_end()
    finally:
        xray.close()
    assert xray.trace is not None
    assert went_another_way(xray.trace, frame) == ""


def test_a_lock_of_a_lesson_with_its_own_clock_does_not_run_out_in_the_copy(on_core: Engine) -> None:
    add, pick_up = Step("addStandardJob"), Step("moveToActive", given={"worker": "w1", "lock_ms": 40})
    extend = Step("extendLock", given={"token": "w1"})
    player = player_on(on_core, add, pick_up, extend, machine="core")
    taken(player, 2)
    looks = []
    for frame in (None, taken):
        time.sleep(0.05)
        xray = Xray(source_of(player, frame and frame(player)))
        try:
            time.sleep(0.05)
            assert xray.stops[0].outside.lock == b"w1:1"
            xray.to_end()
        finally:
            xray.close()
        looks.append(xray.trace)
    for trace in looks:
        assert trace is not None
        assert went_another_way(trace, player.walk.frames[-1]) == ""


def test_a_lock_that_is_over_when_the_coming_step_runs_is_not_in_its_copy(on_core: Engine) -> None:
    """Every step takes a moment of the lesson's clock, and this lock has less than that left."""
    add, pick_up = Step("addStandardJob"), Step("moveToActive", given={"worker": "w1", "lock_ms": 1_000})
    passes, extend = Step("time_passes", given={"ms": 995}), Step("extendLock", given={"token": "w1"})
    player = player_on(on_core, add, pick_up, passes, extend, machine="core")
    taken(player, 3)
    assert [lock.ttl_ms for lock in player.walk.shown.locks.values()] == [5]
    xray = Xray(source_of(player, None))
    try:
        assert xray.stops[0].inside is not None
        assert (xray.stops[0].inside.lock, xray.stops[0].outside.lock) == (None, None)
        xray.to_end()
    finally:
        xray.close()
    frame = taken(player)
    assert frame.outcome.name != "extended"
    assert xray.trace is not None
    assert went_another_way(xray.trace, frame) == ""


def test_a_place_of_another_type_has_no_instants_to_shift(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE, CLAIM)
    taken(player, 1)
    valkey.client.set(BASE + b"active", "a foreign client's")
    with contextlib.closing(Xray(source_of(player, None))) as xray:
        xray.to_end()
        assert xray.trace is not None
        assert isinstance(xray.trace.reply, ErrorReply)
        assert "WRONGTYPE" in xray.trace.reply.text
        assert "ZADD" in xray.called.script.lines[xray.trace.error_line - 1]


def test_what_lives_at_that_moment_lives_while_anyone_looks(valkey: Engine, one_copy: Any) -> None:
    player = player_on(valkey, ENQUEUE, CLAIM)
    taken(player, 1)
    source = source_of(player, None)
    lasting, lapsed, alive = (BASE + name for name in (b"lasting", b"lapsed", b"alive"))
    valkey.client.set(lasting, "x")
    held = valkey.client.dump(lasting)
    assert isinstance(held, bytes)
    dumps = {
        lasting: Dump(held),
        lapsed: Dump(held, source.moment_ms - 1),
        alive: Dump(held, source.moment_ms + 5),
    }
    with contextlib.closing(Xray(structs.replace(source, dumps={**source.dumps, **dumps}))):
        assert one_copy.client.pttl(lasting) == -1
        assert one_copy.client.exists(lapsed) == 0
        assert one_copy.client.pttl(alive) > 600_000
