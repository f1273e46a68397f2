"""``visualizer check``: loads and plays every lesson, and tells each fault and each unmet announcement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from visualizer.cli.ending import FAILED, OK, say
from visualizer.cli.opening import opened
from visualizer.cli.playing import failures, play
from visualizer.engine import Engine
from visualizer.lesson import Lesson, LessonFaults, LessonPath, all_lessons, duplicate_slugs, find, load
from visualizer.lesson_faults import key_lines
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.player import DeadlinePassedError, Player, why_not_here


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
    lines = key_lines(lesson.file.read_text(encoding="utf-8"))
    code, steps, not_played = OK, 0, 0
    for number, path in enumerate(lesson.paths, start=1):
        why = why_not_here(path, engine)
        if why is not None:
            say(f"not played  {_where(lesson, lines, number)} (path {path.name}): {why}")
            not_played += 1
            continue
        steps += len(path.steps)
        for step, fault in _played(player, path):
            label = f", step {step} · {path.steps[step - 1].heading}" if step else ""
            say(f"{_where(lesson, lines, number, step)} (path {path.name}{label}): {fault}")
            code = FAILED
    paths = len(lesson.paths) - not_played
    if code == OK and paths:
        left_out = f"; {_count(not_played, 'path')} not played" if not_played else ""
        say(f"ok  {lesson.file}: {_count(paths, 'path')}, {_count(steps, 'step')}, on {engine.label}{left_out}")
    return code


def _played(player: Player, path: LessonPath) -> Iterator[tuple[int, str]]:
    """Each fault of a path in words, with the number of its step; 0 where it is no step's alone."""
    player.choose(path.name)
    try:
        for frame, earlier in play(player):
            number = sum(past.of_path for past in (*earlier, frame))
            for failure in failures(frame):
                if frame.step is not None:
                    yield number, failure
                else:
                    yield 0, f"between steps {number} and {number + 1}: {failure}"
    except DeadlinePassedError as passed:
        yield 0, str(passed)


def _where(lesson: Lesson, lines: Mapping[str, int], path: int, step: int = 0) -> str:
    """The place in the file, as faults of loading show it: ``FILE:LINE: paths[1].steps[2]``."""
    key = f"paths[{path}]" + (f".steps[{step}]" if step else "")
    line = f":{lines[key]}" if key in lines else ""
    return f"{lesson.file}{line}: {key}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
