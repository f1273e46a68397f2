"""Races: who may run next, what an order of one's own does to the rest of the path, and where it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.core.walking import GUESS, HOUR_MS, LEASED, Tap, held
from visualizer.engine import Engine
from visualizer.lesson import Job, Lesson, LessonPath
from visualizer.model import Expect, Frame, Step
from visualizer.player import Player
from visualizer.race import Order, TurnError, actors_of, chosen_turns, order_line, other_turn, races_in
from visualizer.readout import readout
from visualizer.walk import Walker

JOB = Job(GUESS, b"payload")
NOTHING = Expect()


def step(do: str, turn: str = "", label: str = "", **given: object) -> Step:
    return Step(do, GUESS, given, JOB.payload, label or do, expect=NOTHING, turn=turn)


def turn(actor: str, number: int) -> Step:
    return step("update_progress", actor, f"{actor}{number}", progress=f"{actor}{number}")


BEFORE, AFTER = step("enqueue"), step("claim", worker="w1", lease_ms=HOUR_MS)
A1, A2, B1, B2 = turn("a", 1), turn("a", 2), turn("b", 1), turn("b", 2)
RACE = (BEFORE, A1, B1, A2, B2, AFTER)


def player_on(engine: Engine, steps: tuple[Step, ...] = RACE) -> Player:
    paths = (LessonPath("race", "race", JOB, steps), LessonPath("again", "again", JOB, steps))
    return Player(Lesson("slug", Path("slug.toml"), "T", "C", "leased", "cm", "S", "I", {"g": JOB}, {}, paths), engine)


def ran(player: Player) -> list[str]:
    return [frame.step.label for frame in player.walk.frames if frame.step]


def coming(player: Player) -> list[str]:
    return [each.label for each in player.path.steps[player.taken :]]


def announced(player: Player) -> list[bool]:
    return [bool(frame.expected) for frame in player.walk.frames]


def last_line(player: Player) -> str:
    frames = player.walk.frames
    return readout(LEASED, frames[-1], frames[:-1])[-1].text


# The order alone ------------------------------------------------------------------------------------------------------


def test_a_race_is_a_run_of_steps_that_say_whose_turn_they_are() -> None:
    assert list(races_in((BEFORE, A1, B1, AFTER, B2, A2))) == [range(1, 3), range(4, 6)]
    assert list(races_in((BEFORE, AFTER))) == []
    assert actors_of(RACE) == ("a", "b")


def test_each_actor_has_its_next_step_only_where_a_race_is_coming() -> None:
    order = Order(RACE)
    assert [dict(order.turns(taken)) for taken in range(8)] == [
        {},
        {"a": A1, "b": B1},
        {"a": A2, "b": B1},
        {"a": A2, "b": B2},
        {"b": B2},
        *({}, {}, {}),
    ]
    assert list(order.turns(2)) == ["a", "b"], "an actor keeps its place, whoever is next"


def test_another_turn_leaves_the_rest_as_it_is_written() -> None:
    order = Order((BEFORE, A1, A2, B1, B2, AFTER))
    order.put_next("b", 1)
    assert [each.label for each in order.steps] == ["enqueue", "b1", "a1", "a2", "b2", "claim"]
    order.put_next("b", 2)
    assert [each.label for each in order.steps] == ["enqueue", "b1", "b2", "a1", "a2", "claim"]
    assert [each.expect for each in order.steps] == [NOTHING, *[None] * 5]


def test_the_written_turn_changes_nothing() -> None:
    order = Order(RACE)
    for taken, each in enumerate(RACE):
        if each.turn:
            order.put_next(each.turn, taken)
    assert order.steps is not RACE
    assert all(now is was for now, was in zip(order.steps, RACE, strict=True))


def test_a_second_race_has_its_own_actors() -> None:
    order = Order((A1, B1, AFTER, turn("c", 1), B2))
    assert list(order.turns(3)) == ["c", "b"]
    with pytest.raises(TurnError, match=r"“a” at step 4: it has nothing left to run in this race; .* that of c or b"):
        order.put_next("a", 3)
    order.put_next("b", 3)
    assert [each.label for each in order.steps] == ["a1", "b1", "claim", "b2", "c1"]
    assert [each.expect for each in order.steps] == [NOTHING] * 3 + [None] * 2


@pytest.mark.parametrize(
    ("actor", "taken", "reason"),
    [
        ("a", 0, "it cannot be the turn of “a”: step 1 is no step of a race"),
        ("a", 6, "it cannot be the turn of “a”: what comes is no step of a race"),
        ("ghost", 1, "“ghost” at step 2: no actor of the race is called so; it can be that of a or b"),
        ("", 1, "“” at step 2: no actor of the race is called so"),
        ("a", 4, "“a” at step 5: it has nothing left to run in this race; it can be that of b"),
        ("\x1b[31m", 1, r"“\x1b[31m”"),
    ],
)
def test_a_turn_that_cannot_be_is_refused_and_changes_nothing(actor: str, taken: int, reason: str) -> None:
    order = Order(RACE)
    with pytest.raises(TurnError) as refused:
        order.put_next(actor, taken)
    assert reason in str(refused.value)
    assert order.steps is RACE


def test_all_turns_at_once() -> None:
    order = Order(RACE)
    order.put_all(["b", "b", "a"])
    assert [each.label for each in order.steps] == ["enqueue", "b1", "b2", "a1", "a2", "claim"]
    order.put_all(["a", "a"])
    assert [each.label for each in order.steps] == ["enqueue", "a1", "a2", "b1", "b2", "claim"]
    for wrong, reason in ((["b"] * 3, "nothing left"), (["a"] * 5, "5 turns are given, and the path has races of 4")):
        with pytest.raises(TurnError, match=reason):
            order.put_all(wrong)
    assert [each.label for each in order.steps][1:3] == ["a1", "a2"]
    with pytest.raises(TurnError, match="one turn is given, and the path has no race"):
        Order((BEFORE,)).put_all(["a"])


def test_the_other_one_is_the_next_that_has_something_to_run() -> None:
    c1 = turn("c", 1)
    assert other_turn({"a": A1, "b": B1}, A1) == "b"
    assert other_turn({"a": A1, "b": B1}, B1) == "a"
    assert other_turn({"a": A1, "b": B1, "c": c1}, B1) == "c"
    assert other_turn({"a": A1, "b": B1, "c": c1}, c1) == "a"
    assert other_turn({"a": A1}, A1) is None
    assert other_turn({}, None) is None


# The player -----------------------------------------------------------------------------------------------------------


def test_a_race_runs_as_it_is_written(engine: Engine) -> None:
    player = player_on(engine)
    assert (dict(player.turns), player.other) == ({}, None)
    player.step()
    assert (dict(player.turns), player.other) == ({"a": A1, "b": B1}, "b")
    player.jump(6)
    assert ran(player) == [each.label for each in RACE]
    assert all(announced(player))
    assert "Your own order" not in last_line(player)


def test_another_turn_runs_that_actors_step_and_nothing_is_announced_any_more(engine: Engine) -> None:
    player = player_on(engine)
    player.jump(2)
    walk = player.take_turn("a")
    assert walk.frame is walk.frames[-1]
    assert ran(player) == ["enqueue", "a1", "a2"]
    assert (coming(player), player.other) == (["b1", "b2", "claim"], None)
    assert last_line(player) == "lesson Your own order (A A): nothing is announced for it."
    player.jump(6)
    assert announced(player) == [True, True, False, False, False, False]
    assert last_line(player) == "lesson Your own order (A A B B): nothing is announced for it."
    assert all(frame.laws for frame in walk.frames), "the laws are judged as always"


def test_the_turn_that_is_written_announces_as_before(engine: Engine) -> None:
    player = player_on(engine)
    player.step()
    for actor in ("a", "b", "a", "b"):
        player.take_turn(actor)
    player.step()
    assert all(announced(player))


def test_a_turn_after_looking_back_runs_at_the_walks_end(engine: Engine) -> None:
    player = player_on(engine)
    player.jump(3)
    player.first()
    player.take_turn("b")
    assert ran(player) == ["enqueue", "a1", "b1", "b2"]
    assert player.shown_step == 4


def test_a_wrong_turn_sends_nothing(engine: Engine, tap: Tap) -> None:
    player = player_on(engine)
    player.jump(1)
    tap.sent.clear()
    with pytest.raises(TurnError):
        player.take_turn("c")
    assert (tap.sent, coming(player)) == ([], ["a1", "b1", "a2", "b2", "claim"])


def test_a_restart_gives_the_written_order_again(engine: Engine) -> None:
    player = player_on(engine)
    player.step()
    player.take_turn("b")
    player.restart()
    assert coming(player) == [each.label for each in RACE]
    player.jump(2)
    assert dict(player.turns) == {"a": A2, "b": B1}
    player.jump(6)
    assert all(announced(player))
    player.plan(["b"])
    player.choose("again")
    assert player.path.steps is player.lesson.paths[1].steps


def test_looking_jumping_and_rewinding_keep_the_order(engine: Engine) -> None:
    player = player_on(engine)
    player.step()
    player.take_turn("b")
    player.take_turn("b")
    player.jump(1)
    assert (ran(player), player.shown_step) == (["enqueue", "b1", "b2"], 1)
    player.jump(2)
    player.rewind()
    assert (ran(player), coming(player)) == (["enqueue", "b1"], ["b2", "a1", "a2", "claim"])
    player.take_turn("a")
    player.jump(6)
    assert ran(player) == ["enqueue", "b1", "a1", "a2", "b2", "claim"]


def test_after_a_rewind_to_before_the_race_the_written_order_announces_again(engine: Engine) -> None:
    player = player_on(engine)
    player.step()
    player.take_turn("b")
    player.jump(1)
    player.rewind()
    assert coming(player)[0] == "b1"
    player.take_turn("a")
    player.jump(6)
    assert all(announced(player))


def test_a_replay_takes_the_order_that_was_chosen(engine: Engine) -> None:
    lapsing = (BEFORE, step("claim", worker="w1", lease_ms=300), step("wait_until_lapsed"), A1, B1, A2)
    player = player_on(engine, lapsing)
    player.jump(3)
    player.take_turn("b")
    player.jump(6)
    player.jump(2)
    _, how = player.rewind()
    assert how.startswith("Replayed from the start")
    assert (ran(player), coming(player)) == (["enqueue", "claim"], ["wait_until_lapsed", "b1", "a1", "a2"])


def test_arming_again_replays_the_order_that_was_chosen(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    early = replace(step("promote", "b"), needs="not_due")
    player = player_on(engine, (step("schedule", delay_ms=HOUR_MS), A1, B1, A2, early))
    player.step()
    player.take_turn("b")
    player.jump(4)
    first = player.walk.frames[0]
    right, asked = Walker.server_now_ms, iter((2 * HOUR_MS, 0))
    monkeypatch.setattr(Walker, "server_now_ms", lambda walker: right(walker) + next(asked))
    player.step()
    assert player.walk.frames[0] is not first
    assert ran(player) == ["schedule", "b1", "a1", "a2", "promote"]


def test_the_queue_holds_what_the_chosen_order_wrote_last(engine: Engine) -> None:
    player = player_on(engine, (BEFORE, A1, B1))
    player.step()
    player.take_turn("b")
    player.step()
    assert b"a1" in next(dump for key, (dump, _) in held(engine).items() if b":job:" in key)


def test_an_order_is_told_by_first_letters_where_they_differ() -> None:
    assert order_line(("reaper", "worker", "reaper")) == "Your own order (R W R): nothing is announced for it."
    assert order_line(("w1", "w2")) == "Your own order (w1, w2): nothing is announced for it."


def test_frames_of_no_lesson_have_no_order() -> None:
    def frame(step: Step | None) -> Frame:
        return Frame(1, step, None, (), None, None, (), ())  # type: ignore[arg-type]  # only its step is looked at

    chosen = replace(A1, expect=None)
    assert chosen_turns(frame(chosen), [frame(B1)]) == ("b", "a")
    assert chosen_turns(frame(A1), [frame(B1)]) == ()
    assert chosen_turns(frame(replace(BEFORE, expect=None)), []) == ()
    assert chosen_turns(frame(None), [frame(chosen)]) == ()
