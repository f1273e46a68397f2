"""Who acts by itself while time passes: heartbeats and the sweep, as frames that are none of the path's steps."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.core_machine.core_walking import (
    CORE,
    GUESS,
    LOCK_MS,
    RENEW_MS,
    RIVAL,
    STEP_MS,
    SWEEP_MS,
    THIRD,
    at_ms,
    field,
    left_ms,
    picked_up,
    take,
    the_lesson,
)
from tests.engine.serving import needs_server
from visualizer.actors import acting
from visualizer.engine import Engine
from visualizer.frame_json import Setting, frame_object
from visualizer.lock_view import actors_of
from visualizer.model import Frame, Locking, Step
from visualizer.player import Player
from visualizer.walk import Walker

HEART, SWEEP = "heartbeat of w1", "sweep"


@pytest.fixture
def player(engine: Engine) -> Player:
    return Player(the_lesson(), engine)


def locking() -> Locking:
    assert CORE.locking is not None
    return CORE.locking


def walker_of(player: Player) -> Walker:
    return player._walker


def pass_by(player: Player, ms: int) -> tuple[Frame, ...]:
    """Lets time pass as the learner does; the frames that came."""
    before = len(player.walk.frames)
    return player.let_time_pass(ms).frames[before:]


def begins(player: Player, do: str, /, **given: object) -> Frame:
    return take(walker_of(player), do, None, **given)


def acts(frames: tuple[Frame, ...]) -> list[tuple[str, str, int]]:
    """Who did what, and when; the stretches of time between them left out."""
    return [
        (frame.step.actor, frame.step.do, at_ms(frame.after))
        for frame in frames
        if frame.step is not None and frame.step.do != "time_passes"
    ]


# The heartbeat --------------------------------------------------------------------------------------------------------


def test_a_heartbeat_keeps_a_lock_alive_for_minutes(player: Player) -> None:
    picked_up(walker_of(player))
    begins(player, "heartbeat_starts")
    frames = pass_by(player, 5 * 60_000)
    beats = acts(frames)
    assert [who for who, _, _ in beats] == [HEART] * 19
    assert {verb for _, verb, _ in beats} == {"extendLock"}
    assert {later - sooner for (*_, sooner), (*_, later) in pairwise(beats)} == {RENEW_MS + STEP_MS}
    assert {frame.outcome.name for frame in frames} == {"extended", "passed"}
    assert all(GUESS in frame.after.locks for frame in frames)
    assert at_ms(frames[-1].after) == 3 * STEP_MS + 5 * 60_000, "in all exactly what the learner asked for"
    assert take(walker_of(player), "moveToFinished", token="w1").outcome.name == "completed"


def test_one_beat_renews_every_lock_that_its_worker_holds(player: Player) -> None:
    walker = walker_of(player)
    picked_up(walker)
    picked_up(walker, RIVAL)
    picked_up(walker, THIRD, worker="w2")
    begins(player, "heartbeat_starts")
    frames = pass_by(player, 10 * RENEW_MS)
    jobs = [frame.step.id for frame in frames if frame.step is not None and frame.step.actor == HEART]
    assert jobs == [RIVAL, GUESS] * 9, "in active the newest is on the left"
    assert all({GUESS, RIVAL} <= set(frame.after.locks) for frame in frames)
    assert THIRD not in frames[-1].after.locks, "w2's heart does not beat"


@pytest.mark.parametrize("ending", ["kill_worker", "heartbeat_stops"])
def test_it_ends_with_its_worker_or_when_it_is_stopped(player: Player, ending: str) -> None:
    picked_up(walker_of(player))
    begins(player, "heartbeat_starts")
    pass_by(player, RENEW_MS)
    begins(player, ending, worker="w9")
    assert HEART in acting(locking(), player.walk.frames), "somebody else's end is none of its own"
    begins(player, ending)
    frames = pass_by(player, 2 * LOCK_MS)
    assert acts(frames) == []
    assert GUESS not in frames[-1].after.locks
    assert player.walk.shown.memberships[GUESS] == ("active",), "and nothing moves by itself"


def test_a_beat_too_late_is_refused_and_changes_nothing(player: Player) -> None:
    walker = walker_of(player)
    picked_up(walker, lock_ms=10_000)
    begins(player, "heartbeat_starts", every_ms=10_000, lock_ms=10_000)
    beats = [frame for frame in pass_by(player, 20_000) if frame.step is not None and frame.step.actor == HEART]
    assert [(frame.outcome.name, frame.outcome.refused) for frame in beats] == [("not_the_holder", "0")]
    assert beats[0].before.same_apart_from_time(beats[0].after)


def test_it_renews_for_as_long_and_as_often_as_it_was_told(player: Player) -> None:
    picked_up(walker_of(player))
    begins(player, "heartbeat_starts", every_ms=4_000, lock_ms=9_000)
    frames = pass_by(player, 4_000)
    assert acts(frames) == [(HEART, "extendLock", 4_040)]
    assert left_ms(walker_of(player)) == 9_000


def test_a_job_that_was_handed_on_is_no_longer_renewed_by_the_one_before(player: Player) -> None:
    walker = walker_of(player)
    picked_up(walker)
    take(walker, "moveJobFromActiveToWait", token="w1")
    take(walker, "moveToActive", None, worker="w2")
    begins(player, "heartbeat_starts")
    assert acts(pass_by(player, RENEW_MS)) == [(HEART, "heartbeat_finds_nothing", 15_060)]


def test_two_workers_have_two_hearts(player: Player) -> None:
    walker = walker_of(player)
    picked_up(walker)
    picked_up(walker, RIVAL, worker="w2")
    begins(player, "heartbeat_starts")
    begins(player, "heartbeat_starts", worker="w2", every_ms=5_000)
    begins(player, "kill_worker", worker="w1")
    assert list(acting(locking(), player.walk.frames)) == ["heartbeat of w2"]
    assert [verb for _, verb, _ in acts(pass_by(player, 10_500))] == ["extendLock"] * 2


# The sweep ------------------------------------------------------------------------------------------------------------


def test_the_sweep_marks_and_on_its_second_run_recovers(player: Player) -> None:
    walker = walker_of(player)
    picked_up(walker)
    begins(player, "sweeps_start")
    first, second = pass_by(player, SWEEP_MS), pass_by(player, SWEEP_MS)
    assert acts(first) == [(SWEEP, "moveStalledJobsToWait", 30_040)]
    marking, recovering = ([frame for frame in frames if frame.calls][-1] for frames in (first, second))
    assert (marking.outcome.name, marking.after.sides["stalled"]) == ("none_recovered", (GUESS,))
    assert marking.after.memberships[GUESS] == ("active",)
    assert recovering.outcome.name == "recovered"
    assert recovering.after.memberships[GUESS] == ("wait",)
    assert "stalled" not in recovering.after.sides
    assert field(walker, b"stc") == b"1"
    assert all(frame.broken == () for frame in (*first, *second))


def test_no_sweep_of_its_own_is_ever_throttled(player: Player) -> None:
    """It acts again no sooner than its own interval has run out on the server."""
    begins(player, "sweeps_start")
    sweeps = [frame for frame in pass_by(player, 10 * SWEEP_MS) if frame.calls]
    assert len(sweeps) == 9
    assert all("stalled-check" not in frame.before.sides for frame in sweeps)
    assert all(frame.kind != "between" for frame in player.walk.frames)


def test_it_ends_when_it_is_stopped(player: Player) -> None:
    begins(player, "sweeps_start", every_ms=5_000)
    assert len(acts(pass_by(player, 5_000))) == 1
    begins(player, "sweeps_stop")
    assert acts(pass_by(player, 60_000)) == []


# Together -------------------------------------------------------------------------------------------------------------


def test_who_is_due_first_acts_first_whoever_began_first(player: Player) -> None:
    picked_up(walker_of(player))
    begins(player, "sweeps_start", every_ms=20_000)
    begins(player, "heartbeat_starts")
    assert [who for who, _, _ in acts(pass_by(player, 46_000))] == [HEART, SWEEP, HEART, SWEEP, HEART]


@pytest.mark.parametrize("order", [("heartbeat_starts", "sweeps_start"), ("sweeps_start", "heartbeat_starts")])
def test_of_those_due_at_the_same_time_who_began_first_acts_first(player: Player, order: tuple[str, str]) -> None:
    picked_up(walker_of(player))
    begins(player, order[0], every_ms=5_000 + STEP_MS)
    begins(player, order[1], every_ms=5_000)
    actors = acting(locking(), player.walk.frames)
    assert len({actor.next_ms for actor in actors.values()}) == 1
    assert [who for who, _, _ in acts(pass_by(player, 5_000))] == list(actors)


def test_a_moment_that_steps_have_passed_comes_as_soon_as_time_passes(player: Player) -> None:
    walker = walker_of(player)
    picked_up(walker)
    begins(player, "heartbeat_starts", every_ms=5)
    take(walker, "getState")
    frames = pass_by(player, 1)
    assert acts(frames[:1]) == [(HEART, "extendLock", 50)]


def test_a_restless_actor_comes_to_an_end(player: Player) -> None:
    begins(player, "heartbeat_starts", every_ms=1)
    frames = pass_by(player, 200)
    assert at_ms(frames[-1].after) >= STEP_MS + 200
    assert frames[-1].outcome.name == "passed"


# What they are not ----------------------------------------------------------------------------------------------------


def test_their_frames_are_none_of_the_paths_steps(player: Player) -> None:
    player.choose("heartbeat")
    walk = player.jump(7)
    setting = Setting("e", "l", "p", 7)
    objects = [frame_object(CORE, setting, frame, walk.frames[:at]) for at, frame in enumerate(walk.frames)]
    assert [each["step"] for each in objects if each["step"] is not None] == [1, 2, 3, 4, 5, 6, 7]
    for frame, each in zip(walk.frames, objects, strict=True):
        actor = frame.step.actor if frame.step is not None else "nobody"
        assert (each["step"] is None) == bool(actor) == (not frame.of_path)
        assert frame.expected == () or not actor
    assert all(expected.met for frame in walk.frames for expected in frame.expected)
    assert (player.taken, player.shown_step, player.coming) == (7, 7, None)
    assert len(walk.frames) > 7 + 12


def test_a_jump_counts_the_paths_steps_alone(player: Player) -> None:
    player.choose("heartbeat")
    player.jump(7)
    frames = player.walk.frames
    for number in range(8):
        walk = player.jump(number)
        assert player.shown_step == number
        assert walk.frames is frames
        if number:
            assert walk.frame is not None
            assert walk.frame.step == frames[walk.cursor - 1].step
            assert walk.frame.of_path
    player.jump(4)
    assert player.step().cursor == player.jump(4).cursor + 1, "forward is one frame, not one step"


def test_the_learners_own_time_is_no_step_and_the_path_goes_on_after_it(player: Player) -> None:
    player.step()
    player.step()
    walk = player.let_time_pass(5_000)
    assert walk.frame is not None
    assert walk.frame.step == Step("time_passes", given={"ms": 5_000}, label="time", actor="you")
    assert (player.taken, player.shown_step, at_ms(walk.shown)) == (2, 2, 5_020)
    player.back()
    player.let_time_pass(1)
    assert (len(player.walk.frames), player.walk.at_end) == (4, True)
    walk = player.step()
    assert (player.taken, walk.frames[-1].outcome.name) == (3, "completed")


# What is drawn of them ------------------------------------------------------------------------------------------------


def told(player: Player) -> list[tuple[str, str, bool]]:
    views = actors_of(CORE, player.walk.shown, player.walk.frames)
    return [(view.name, view.told, view.acts) for view in views]


def test_a_line_each_whether_they_act_or_not(player: Player) -> None:
    assert told(player) == [("renew", "every 15 s · off", False), ("sweep", "every 30 s · by hand", False)]
    picked_up(walker_of(player))
    begins(player, "heartbeat_starts", every_ms=4_500)
    begins(player, "sweeps_start")
    pass_by(player, 1_000)
    assert told(player) == [("renew", "w1, 4.5 s: in 3.5 s", True), ("sweep", "30 s: in 29.0 s", True)]
    begins(player, "kill_worker")
    begins(player, "sweeps_stop")
    assert told(player) == [("renew", "every 15 s · off", False), ("sweep", "every 30 s · by hand", False)]


# Real time ------------------------------------------------------------------------------------------------------------


@needs_server
class TestOnAServerByUrl:
    def test_they_act_in_real_time(self, url_engine: Engine) -> None:
        player = Player(the_lesson(), url_engine)
        picked_up(walker_of(player))
        begins(player, "heartbeat_starts", every_ms=20)
        frames = pass_by(player, 50)
        assert 1 <= len(acts(frames)) <= 3
        assert {frame.outcome.name for frame in frames} == {"extended", "passed"}

    def test_who_leaves_meanwhile_waits_for_nothing_more(self, url_engine: Engine) -> None:
        player = Player(the_lesson(), url_engine)
        picked_up(walker_of(player))
        begins(player, "heartbeat_starts", every_ms=60_000)
        player.leave()
        frames = pass_by(player, 10 * 60_000)
        assert [frame.outcome.name for frame in frames] == ["interrupted", "interrupted"]
