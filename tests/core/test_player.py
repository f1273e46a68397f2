"""What every front end drives: the path's steps, going anywhere in it, and steps that need a deadline ahead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.core.walking import GUESS, HOUR_MS, LEASED, Tap, held, space_on
from visualizer.engine import Engine
from visualizer.lesson import Job, Lesson, LessonPath, UnknownLessonError
from visualizer.model import Step
from visualizer.player import ARMING_TRIES, DeadlinePassedError, Player, why_not_here
from visualizer.readout import readout
from visualizer.walk import Walker

JOB = Job(GUESS, b"payload")


def step(do: str, needs: Any = None, **given: Any) -> Step:
    return Step(do, GUESS, given, JOB.payload, do.replace("_", " "), needs=needs)


CLAIM, COMPLETE = step("claim", worker="w1", lease_ms=HOUR_MS), step("complete", token="w1")
HAPPY = (step("enqueue"), CLAIM, COMPLETE)
EARLY = (step("schedule", delay_ms=HOUR_MS), step("promote", needs="not_due"), step("update_progress", progress="1"))
FENCED = (step("enqueue"), CLAIM, step("reap", needs="lease_running"))


def lesson(**paths: tuple[Step, ...]) -> Lesson:
    told = tuple(LessonPath(name, name, JOB, steps) for name, steps in paths.items())
    return Lesson("slug", Path("slug.toml"), "T", "C", "leased", "cm", "S", "I", {"guess": JOB}, {}, told)


def player_on(engine: Engine, steps: tuple[Step, ...] = HAPPY, **options: Any) -> Player:
    return Player(lesson(only=steps, other=EARLY), engine, **options)


def done(player: Player) -> list[str]:
    return [frame.step.do for frame in player.walk.frames if frame.step]


def first_line(player: Player) -> str:
    frame = player.walk.frames[-1]
    return readout(LEASED, frame, player.walk.frames[:-1])[0].text


# Stepping -------------------------------------------------------------------------------------------------------------


def test_the_paths_steps_run_one_by_one_and_then_no_more(engine: Engine, tap: Tap) -> None:
    player = player_on(engine)
    assert (player.taken, player.shown_step, player.coming) == (0, 0, HAPPY[0])
    for number, each in enumerate(HAPPY, start=1):
        assert player.step().frames[-1].step is each
        assert (player.taken, player.shown_step) == (number, number)
    assert player.coming is None
    walk = player.walk
    tap.sent.clear()
    assert player.step() is walk
    assert tap.sent == []


def test_a_step_after_looking_back_goes_forward_and_runs_nothing(engine: Engine, tap: Tap) -> None:
    player = player_on(engine)
    player.step()
    player.step()
    player.first()
    tap.sent.clear()
    assert player.step().cursor == 1
    assert player.shown_step == 1
    assert player.taken == 2
    assert player.step().cursor == 2
    assert tap.sent == []
    assert len(player.step().frames) == 3


def test_back_first_and_last_run_nothing(engine: Engine, tap: Tap) -> None:
    player = player_on(engine)
    player.jump(3)
    tap.sent.clear()
    assert player.back().cursor == 2
    assert player.first().cursor == 0
    assert player.last().cursor == 3
    assert tap.sent == []


@pytest.mark.parametrize(("number", "shown", "taken"), [(0, 0, 0), (2, 2, 2), (3, 3, 3), (99, 3, 3), (-5, 0, 0)])
def test_a_jump_runs_what_has_not_run_yet(engine: Engine, number: int, shown: int, taken: int) -> None:
    player = player_on(engine)
    player.jump(number)
    assert (player.shown_step, player.taken) == (shown, taken)
    assert done(player) == [each.do for each in HAPPY[:taken]]


def test_a_jump_back_only_looks(engine: Engine) -> None:
    player = player_on(engine)
    player.jump(3)
    player.jump(1)
    assert (player.shown_step, player.taken, player.walk.cursor) == (1, 3, 1)
    player.jump(0)
    assert player.walk.cursor == 0


def test_a_frame_between_two_steps_is_no_step(engine: Engine) -> None:
    player = player_on(engine)
    player.step()
    engine.client.hset(space_on(engine).key("meta"), "paused", 1)
    player.look()
    assert (player.taken, player.shown_step, player.walk.cursor) == (1, 1, 2)
    engine.client.delete(space_on(engine).key("meta"))
    player.jump(2)
    assert (player.taken, player.shown_step) == (2, 2)
    assert [frame.kind for frame in player.walk.frames] == ["script", "between", "between", "script"]
    player.jump(1)
    assert player.walk.cursor == 1


def test_a_restart_begins_on_an_empty_queue(engine: Engine) -> None:
    player = player_on(engine)
    player.jump(2)
    assert player.restart().frames == ()
    assert (held(engine), player.taken, player.coming) == ({}, 0, HAPPY[0])


def test_another_path_begins_at_its_start(engine: Engine) -> None:
    player = player_on(engine)
    player.jump(2)
    player.choose("other")
    assert (player.path.name, player.taken, player.coming, held(engine)) == ("other", 0, EARLY[0], {})
    with pytest.raises(UnknownLessonError, match="did you mean other"):
        player.choose("othr")
    assert player.path.name == "other"


# Deadlines ------------------------------------------------------------------------------------------------------------


class Clock:
    """The server's clock as walks see it: ahead for the first so many questions, then right."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
        self.wrong = wrong
        self.asked = 0
        right = Walker.server_now_ms

        def now_ms(walker: Walker) -> int:
            self.asked += 1
            return right(walker) + (2 * HOUR_MS if self.asked <= self.wrong else 0)

        monkeypatch.setattr(Walker, "server_now_ms", now_ms)


@pytest.mark.parametrize(("steps", "word"), [(EARLY, "was due"), (FENCED, "had lapsed")])
def test_a_step_whose_deadline_has_passed_is_armed_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, steps: tuple[Step, ...], word: str
) -> None:
    clock = Clock(monkeypatch, wrong=1)
    player = player_on(engine, steps)
    number = next(at for at, each in enumerate(steps) if each.needs)
    player.jump(number)
    arming = player.walk.frames[-1]
    player.step()
    assert clock.asked == 2
    assert done(player) == [each.do for each in steps[: number + 1]], "the path as if it had been walked once"
    assert player.walk.frames[number - 1] is not arming, "the deadline is a new one"
    assert first_line(player) == f"Time had passed and the job {word}, so the path was replayed up to here first."
    assert player.walk.frames[-1].moves == ()


def test_a_step_whose_deadline_lies_ahead_is_just_taken(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, wrong=0)
    player = player_on(engine, EARLY)
    player.step()
    first = player.walk.frames[0]
    player.step()
    assert (clock.asked, player.walk.frames[0]) == (1, first)
    assert first_line(player) == "Nothing moved.  promote answered 0."
    player.step()
    assert clock.asked == 1, "no other step is asked for"


def test_a_step_that_needs_a_deadline_is_taken_where_there_is_none(engine: Engine) -> None:
    player = player_on(engine, (step("enqueue"), step("promote", needs="not_due")))
    player.jump(2)
    assert done(player) == ["enqueue", "promote"]


def test_after_so_many_replays_the_player_gives_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, wrong=99)
    restarts = []
    player = player_on(engine, EARLY)
    player.step()
    clear = engine.clear_queue

    def counted() -> None:
        restarts.append(1)
        clear()

    monkeypatch.setattr(engine, "clear_queue", counted)
    with pytest.raises(DeadlinePassedError) as gave_up:
        player.step()
    assert str(gave_up.value) == (
        "step 2 (promote) only teaches before its deadline, and the path was replayed 3 times without reaching it in "
        "time; a larger --pace leaves more time"
    )
    assert (len(restarts), clock.asked, ARMING_TRIES) == (3, 4, 3)
    clock.wrong = 0
    assert player.step().frames[-1].step is EARLY[1], "the same key tries again"


def test_a_deadline_that_passed_while_the_step_ran_counts_as_passed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = player_on(engine, (step("schedule", delay_ms=1), step("promote", needs="not_due")))
    real = Walker.server_now_ms
    monkeypatch.setattr(Walker, "server_now_ms", lambda walker: real(walker) - HOUR_MS)
    take = Walker.take

    def late(walker: Walker, each: Step, note: str = "") -> Any:
        if each.do == "promote":
            due_ms = walker.walk.shown.score("schedule", GUESS) or 0
            while real(walker) < due_ms:
                pass
        return take(walker, each, note)

    monkeypatch.setattr(Walker, "take", late)
    player.step()
    with pytest.raises(DeadlinePassedError):
        player.step()
    assert done(player) == ["schedule"], "the late step is still to come"


# Rewinding ------------------------------------------------------------------------------------------------------------


def test_a_rewind_puts_the_queue_back_and_says_so(engine: Engine) -> None:
    player = player_on(engine)
    player.jump(1)
    moment = held(engine)
    player.jump(3)
    player.jump(1)
    walk, how = player.rewind()
    assert how == "Rewound: the queue's keys are as they were here, and 2 frames after it dropped."
    assert (len(walk.frames), walk.cursor, player.coming) == (1, 1, CLAIM)
    assert held(engine) == moment
    assert player.step().frames[-1].outcome.name == "claimed"


def test_there_may_be_nothing_to_rewind(engine: Engine) -> None:
    player = player_on(engine)
    player.jump(2)
    walk, how = player.rewind()
    assert (how, len(walk.frames)) == ("This is the newest frame: there is nothing to rewind.", 2)


def test_where_a_deadline_has_passed_the_path_is_replayed(engine: Engine) -> None:
    # Longer than the step takes on any machine: a lease that had lapsed before the wait is none that lapsed since.
    steps = (step("enqueue"), step("claim", worker="w1", lease_ms=300), step("wait_until_lapsed"), step("reap"))
    player = player_on(engine, steps)
    player.jump(4)
    first = player.walk.frames[0]
    player.jump(2)
    walk, how = player.rewind()
    assert how == "Replayed from the start, since a time in active has passed since; 2 frames after it dropped."
    assert (len(walk.frames), walk.cursor, player.coming) == (2, 2, steps[2])
    assert walk.frames[0] is not first
    assert player.jump(4).frames[-1].moves[0].enters == ("pending",)


def test_what_was_too_large_to_keep_cannot_be_rewound(engine: Engine) -> None:
    player = player_on(engine)
    engine.client.zadd(space_on(engine).key("dead"), {f"JOB{number:011}": 0 for number in range(2_001)})
    player.jump(2)
    player.jump(1)
    cursor = player.walk.cursor
    walk, how = player.rewind()
    reason = r"this walk's keys hold 2,\d{3} members, more than the 2,000 that are kept for rewinding"
    assert re.fullmatch(f"No rewind here: {reason}\\.", how)
    assert walk.cursor == cursor
    assert player.taken == 2


# Leaving, and what an engine cannot play ------------------------------------------------------------------------------


def test_leaving_ends_a_wait_and_runs_no_further_step(engine: Engine) -> None:
    player = player_on(engine, (step("enqueue"), CLAIM, step("wait_until_lapsed"), COMPLETE))
    player.jump(2)
    player.leave()
    assert player.step().frames[-1].outcome.name == "interrupted"
    player.jump(4)
    assert done(player) == ["enqueue", "claim", "wait_until_lapsed"]


@pytest.mark.parametrize(
    ("do", "reason"),
    [
        ("restart_server", "fakeredis lives in this process and cannot be restarted; use --engine valkey."),
        ("claim", None),
    ],
)
def test_an_engine_that_cannot_play_a_path_says_why(fake: Engine, do: str, reason: str | None) -> None:
    path = LessonPath("p", "p", JOB, (step("enqueue"), step(do)))
    assert why_not_here(path, fake) == reason


def test_a_real_engine_plays_everything(valkey: Engine) -> None:
    path = LessonPath("p", "p", JOB, (step("restart_server"), step("flush_scripts")))
    assert why_not_here(path, valkey) is None
