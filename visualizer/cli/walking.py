"""``visualizer walk``: plays paths without a screen, as readouts or as one JSON object a frame."""

from __future__ import annotations

from collections.abc import Sequence

from visualizer.cli.ending import FAILED, OK, REFUSED, complain, say, write_json
from visualizer.cli.opening import loaded, opened
from visualizer.cli.playing import amid_own_race, failures, play
from visualizer.frame_json import Setting, frame_object
from visualizer.lesson import Lesson, LessonPath
from visualizer.model import Frame
from visualizer.player import DeadlinePassedError, Player, why_not_here
from visualizer.race import Order
from visualizer.race_end import verdicts
from visualizer.readout import readout
from visualizer.survey import survey
from visualizer.wire_log import wire_log


def walk_lesson(
    name: str,
    path: str | None,
    as_json: bool,
    wire: bool,
    spec: str,
    queue: str | None,
    pace: float,
    take_over: bool,
    turns: Sequence[str] = (),
) -> int:
    """Plays the path, or every one; answers the exit code.

    ``wire`` tells every call, and what its script issued; ``turns`` choose the order in the path's races, of which
    nothing is announced: such a race fails where it has done harm at its end. TurnError.
    """
    lesson = loaded(name, pace)
    paths = lesson.paths if path is None else (lesson.path(path),)
    if turns:
        Order(paths[0].steps).put_all(turns)  # refused before anything is opened
    code = OK
    with opened(spec, lesson.queue if queue is None else queue, take_over) as engine:
        player = Player(lesson, engine, keep_dumps=False, watch=wire)
        for number, each in enumerate(paths):
            why = why_not_here(each, engine)
            if why is not None:
                complain(f"The path {each.name} was not played: {why}")
                code = REFUSED
                continue
            if not as_json:
                _tell_path(lesson, each, player, first=number == 0)
            try:
                code = max(code, _walk_path(player, each, as_json, wire, turns))
            except DeadlinePassedError as passed:
                complain(f"The path {each.name} was left: {passed}")
                code = REFUSED
    return code


def _walk_path(player: Player, path: LessonPath, as_json: bool, wire: bool, turns: Sequence[str]) -> int:
    player.choose(path.name)
    player.plan(turns)
    setting = Setting(player.engine.label, player.lesson.slug, path.name, len(path.steps))
    code = OK
    for frame, earlier in play(player):
        if as_json:
            write_json(frame_object(player.machine, setting, frame, earlier))
        else:
            _tell_frame(player, frame, earlier)
            if wire:
                _tell_wire(player, frame)
        if failures(frame) and not amid_own_race(player, frame, earlier):
            code = FAILED
    for verdict in verdicts(player.walk.frames):
        if verdict.own and verdict.harm:
            code = FAILED
        if not as_json:
            say()
            say(verdict.told)
    if not as_json and player.engine.own:
        found = survey(player.engine, player.machine, player.space, player.walk.shown)
        say()
        say(found.sentence())
    return code


def _tell_path(lesson: Lesson, path: LessonPath, player: Player, *, first: bool) -> None:
    engine = player.engine
    if first:
        say(f"{lesson.title} · {lesson.course} · {engine.badge} {engine.label} · emq:{{{engine.queue}}}:")
        if player.real_locks:
            say(player.real_locks)
    say()
    say(f"path {path.name} · {path.title}")


def _tell_frame(player: Player, frame: Frame, earlier: tuple[Frame, ...]) -> None:
    say()
    if frame.step is None:
        say("between two steps")
    elif frame.step.actor:
        say(frame.step.actor)
    else:
        number = 1 + sum(past.of_path for past in earlier)
        say(f"{number} of {len(player.path.steps)} · {frame.step.heading}")
    for line in readout(player.machine, frame, earlier):
        say(line.text)


def _tell_wire(player: Player, frame: Frame) -> None:
    say()
    for line in wire_log(frame, player.space.base, player.engine.may("watch")):
        say(line.text)
