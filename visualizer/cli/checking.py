"""``visualizer check``: loads and plays every lesson, and tells each fault and each unmet announcement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from visualizer.cli.ending import FAILED, OK, complain, say
from visualizer.cli.opening import opened
from visualizer.cli.playing import failures, play
from visualizer.engine import Engine
from visualizer.lesson import Lesson, LessonFaults, LessonPath, all_lessons, duplicate_slugs, find, load
from visualizer.machine import MACHINES
from visualizer.player import DeadlinePassedError, Player, why_not_here
from visualizer.walk import NAMED_STEPS


def check_lessons(names: Sequence[str], spec: str, queue: str, pace: float, take_over: bool) -> int:
    """Checks these lessons, or all that there are; answers the exit code."""
    files = [find(name) for name in names] if names else all_lessons()
    wrong = [str(fault) for fault in duplicate_slugs(files)]
    lessons: list[Lesson] = []
    for file in files:
        try:
            lessons.append(load(file, MACHINES, NAMED_STEPS, pace))
        except LessonFaults as faults:
            wrong.extend(map(str, faults.faults))
    for line in wrong:
        say(line)
    code = FAILED if wrong else OK
    if lessons:
        with opened(spec, queue, take_over) as engine:
            for lesson in lessons:
                code = max(code, _check(lesson, engine))
    return code


def _check(lesson: Lesson, engine: Engine) -> int:
    player = Player(lesson, engine, keep_dumps=False)
    code, steps, left_out = OK, 0, 0
    for number, path in enumerate(lesson.paths, start=1):
        why = why_not_here(path, engine)
        if why is not None:
            complain(f"{lesson.file}: paths[{number}] ({path.name}) was not played: {why}")
            left_out += 1
            continue
        steps += len(path.steps)
        for fault in _played(player, path):
            say(f"{lesson.file}: paths[{number}]{fault}")
            code = FAILED
    if code == OK:
        paths = len(lesson.paths) - left_out
        say(f"ok  {lesson.file}: {_count(paths, 'path')}, {_count(steps, 'step')}, on {engine.label}")
    return code


def _played(player: Player, path: LessonPath) -> Iterator[str]:
    """Each fault of a path, as what comes behind the path's number."""
    player.choose(path.name)
    try:
        for frame, earlier in play(player):
            number = sum(past.of_path for past in (*earlier, frame))
            where = f".steps[{number}]" if frame.step is not None else f", between steps {number} and {number + 1}"
            for failure in failures(frame):
                yield f"{where}: {failure}"
    except DeadlinePassedError as passed:
        yield f": {passed}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
