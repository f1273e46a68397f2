"""Opens what a command works with: the lesson, the engine, and the screen or its plain form."""

from __future__ import annotations

import codecs
import contextlib
import gc
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

from visualizer.cli.ending import OK, REFUSED, complain, say
from visualizer.engine import EmbeddedServer, Engine, check_spec, is_url, open_engine
from visualizer.engine.embedded import server_binary

if TYPE_CHECKING:
    from visualizer.lesson import Lesson

ENGINELESS = "`visualizer walk LESSON` prints a lesson instead, and --plain steps through it in lines of text."


def check_engine_options(spec: str, queue: str | None, take_over: bool) -> None:
    """Refuses what no engine can be opened with, before anything is opened. EngineError, QueueNameError, UsageError."""
    from visualizer.keyspace import Keyspace

    check_spec(spec)
    if queue is not None:
        Keyspace(queue, "")
    if take_over and not is_url(spec):
        raise click.UsageError("--take-over is for a server that --engine names by its URL.")


def spawned(spec: str) -> EmbeddedServer | None:
    """A private server, started at once so that it is ready when it is needed; None where none is wanted."""
    if spec == "valkey" or (spec == "auto" and server_binary() is not None):
        return EmbeddedServer.spawn()
    return None


@contextlib.contextmanager
def opened(spec: str, queue: str, take_over: bool = False) -> Iterator[Engine]:
    """An open engine, closed at the end however that comes; what its client raises becomes an EngineError."""
    with reopening(spec, take_over) as open_one:
        yield open_one(queue)


@contextlib.contextmanager
def reopening(spec: str, take_over: bool) -> Iterator[Callable[[str], Engine]]:
    """What opens the engine with the queue of that name, after it has closed the one it opened before.

    The last one is closed at the end, however that comes; what its client raises becomes an EngineError.
    """
    current: list[Engine] = []

    def close() -> None:
        left_behind = current.pop().close() if current else None
        if left_behind:
            complain(left_behind)

    def open_one(queue: str) -> Engine:
        close()
        current.append(open_engine(spec, queue=queue, take_over=take_over, spawned=spawned(spec)))
        return current[0]

    with _ended_in_order():
        try:
            yield open_one
        except Exception as error:
            from redis.exceptions import RedisError  # imported late: the engine has loaded it by now

            if current and isinstance(error, RedisError):
                raise current[0].failure(error) from error
            raise
        finally:
            close()


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP an exception, so that an engine is closed and no keys stay behind."""
    names = ("SIGTERM", "SIGHUP")
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: Any) -> NoReturn:
        # A second one must not break off the closing that the first one began.
        for caught in kept:
            signal.signal(caught, signal.SIG_IGN)
        raise SystemExit(128 + number)

    kept: dict[int, Any] = {}
    for name in names:
        number = getattr(signal, name, None)
        if number is not None:
            kept[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def loaded(name: str, pace: float) -> Lesson:
    """The lesson of that name or file, its durations multiplied by the pace. LessonFaults, UnknownLessonError."""
    from visualizer.lesson import find, load
    from visualizer.machine import MACHINES
    from visualizer.perform import NAMED_STEPS

    return load(find(name), MACHINES, NAMED_STEPS, pace)


def why_no_screen() -> str | None:
    """None where the screen can open here, else why not, in one line with the way out."""
    # The screen is drawn on the standard error output.
    for name, stream in (("input", sys.stdin), ("output", sys.stdout), ("error output", sys.stderr)):
        if not stream.isatty():
            return f"The screen needs a terminal, and the standard {name} is none. {ENGINELESS}"
    if os.environ.get("TERM") == "dumb":
        return f"The screen needs a terminal that can draw, and TERM says dumb. {ENGINELESS}"
    for stream in (sys.stdout, sys.stderr):
        if codecs.lookup(stream.encoding).name != "utf-8":
            return (
                f"The screen is drawn in UTF-8, and here text is written in {stream.encoding}. Set PYTHONUTF8=1, or "
                f"LANG to a UTF-8 locale. {ENGINELESS}"
            )
    return None


def open_screen(
    lesson: str | None, path: str | None, spec: str, queue: str | None, pace: float, theme: str | None, take_over: bool
) -> int:
    """Opens the screen on a lesson, or on the home screen; answers the exit code.

    What can be refused before the screen is: also a server by URL is asked first, where a lesson is named.
    """
    why = why_no_screen()
    if why is not None:
        complain(why)
        return REFUSED
    # Started before everything slow: it is ready when the first frame is.
    server = spawned(spec)
    # The collector has nothing to find while modules load, and looking costs a tenth of the time to the first frame.
    gc.disable()
    with contextlib.ExitStack() as ending:
        ending.callback(gc.enable)
        if server is not None:
            ending.callback(server.close)
        from visualizer.lesson import all_lessons

        opened_first = loaded(lesson, pace) if lesson is not None else None
        if opened_first is not None and path is not None:
            opened_first.path(path)
        engine = None
        if opened_first is not None and is_url(spec):
            # The screen closes it; here it is closed where no screen came about.
            engine = ending.enter_context(opened(spec, opened_first.queue if queue is None else queue, take_over))
        from visualizer.tui.app import run

        try:
            return run(
                lambda: tuple(loaded(str(file), pace) for file in all_lessons()),
                opened_first,
                path=path,
                engine_spec=spec,
                queue=queue,
                theme=theme,
                take_over=take_over,
                spawned=server,
                engine=engine,
                pace=pace,
            )
        except ValueError as misnamed:
            if theme is None or type(misnamed) is not ValueError:
                raise
            raise click.UsageError(str(misnamed)) from misnamed  # there is no such theme


def open_plain(lesson: str | None, path: str | None, spec: str, queue: str | None, pace: float, take_over: bool) -> int:
    """A lesson as lines of text and keys; without a lesson it asks for one."""
    from visualizer.plain import PlainLesson, choose_lesson
    from visualizer.player import Player
    from visualizer.terminal_keys import keys_of

    with keys_of(sys.stdin) as keys:
        name = choose_lesson(keys, say) if lesson is None else lesson
        if name is None:
            return OK
        read = loaded(name, pace)
        chosen = read.paths[0] if path is None else read.path(path)
        with reopening(spec, take_over) as open_one:
            player = Player(read, open_one(read.queue if queue is None else queue), watch=True)
            player.choose(chosen.name)
            PlainLesson(player, keys, say, lambda other: loaded(other, pace), open_one, _columns).run()
    return OK


def _columns() -> int | None:
    """How wide the terminal is, None where the output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
