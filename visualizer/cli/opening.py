"""Opens what a command works with: the lesson, the engine, and the screen or its plain form."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

from visualizer.cli.ending import OK, REFUSED, complain, say
from visualizer.engine import EmbeddedServer, Engine, open_engine
from visualizer.engine.embedded import server_binary

if TYPE_CHECKING:
    from visualizer.lesson import Lesson


def spawned(spec: str) -> EmbeddedServer | None:
    """A private server, started at once so that it is ready when it is needed; None where none is wanted."""
    if spec == "valkey" or (spec == "auto" and server_binary() is not None):
        return EmbeddedServer.spawn()
    return None


@contextlib.contextmanager
def opened(spec: str, queue: str, take_over: bool = False) -> Iterator[Engine]:
    """An open engine, closed at the end however that comes; what its client raises becomes an EngineError."""
    with _ended_in_order():
        engine = open_engine(spec, queue=queue, take_over=take_over, spawned=spawned(spec))
        try:
            yield engine
        except Exception as error:
            from redis.exceptions import RedisError  # imported late: the engine has loaded it by now

            if isinstance(error, RedisError):
                raise engine.failure(error) from error
            raise
        finally:
            left_behind = engine.close()
            if left_behind:
                complain(left_behind)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP an exception, so that an engine is closed and no keys stay behind."""
    names = ("SIGTERM", "SIGHUP")
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: Any) -> NoReturn:
        raise SystemExit(128 + number)

    kept = {number: signal.signal(number, end) for name in names if (number := getattr(signal, name, None)) is not None}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def loaded(name: str, pace: float) -> Lesson:
    """The lesson of that name or file, its durations multiplied by the pace. LessonFaults, UnknownLessonError."""
    from visualizer.lesson import find, load
    from visualizer.machine import MACHINES
    from visualizer.walk import NAMED_STEPS

    return load(find(name), MACHINES, NAMED_STEPS, pace)


def why_no_screen() -> str | None:
    """None where the screen can open here, else why not, in one line with the way out."""
    way_out = "`visualizer walk LESSON` prints a lesson instead, and --plain steps through it in lines of text."
    for name, stream in (("input", sys.stdin), ("output", sys.stdout)):
        if not stream.isatty():
            return f"The screen needs a terminal, and the standard {name} is none. {way_out}"
    if os.environ.get("TERM") == "dumb":
        return f"The screen needs a terminal that can draw, and TERM says dumb. {way_out}"
    return None


def open_screen(
    lesson: str | None, path: str | None, spec: str, queue: str | None, pace: float, theme: str | None, take_over: bool
) -> int:
    """Opens the screen on a lesson, or on the home screen; answers the exit code."""
    why = why_no_screen()
    if why is not None:
        complain(why)
        return REFUSED
    # Started before everything slow: it is ready when the first frame is.
    server = spawned(spec)
    from visualizer.lesson import all_lessons

    opened_first = loaded(lesson, pace) if lesson is not None else None
    if opened_first is not None and path is not None:
        opened_first.path(path)
    known = tuple(loaded(str(file), pace) for file in all_lessons())
    from visualizer.tui.app import run

    try:
        return run(
            known,
            opened_first,
            path=path,
            engine_spec=spec,
            queue=queue,
            theme=theme,
            take_over=take_over,
            spawned=server,
        )
    except ValueError as misnamed:
        if theme is None or type(misnamed) is not ValueError:
            raise
        raise click.UsageError(str(misnamed)) from misnamed  # there is no such theme
    finally:
        if server is not None:
            server.close()


def open_plain(lesson: str | None, path: str | None, spec: str, queue: str | None, pace: float, take_over: bool) -> int:
    """A lesson as lines of text and keys; without a lesson it asks for one."""
    from visualizer.plain import PlainLesson, choose_lesson
    from visualizer.player import Player
    from visualizer.terminal_keys import keys_of

    with keys_of(sys.stdin) as keys:
        name = lesson or choose_lesson(keys, say)
        if name is None:
            return OK
        read = loaded(name, pace)
        chosen = read.path(path) if path else read.paths[0]
        with opened(spec, read.queue if queue is None else queue, take_over) as engine:
            player = Player(read, engine)
            player.choose(chosen.name)
            PlainLesson(player, keys, say, lambda other: loaded(other, pace)).run()
    return OK
