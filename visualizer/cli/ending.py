"""Runs the command line and turns however it ends into an exit code and at most one sentence on stderr.

0: all is well. 1: something that was checked does not hold. 2: it was asked wrongly, or the engine cannot do it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from visualizer.visible import visible

OK, FAILED, REFUSED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; answers its exit code. What is a bug of ours is raised."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot encode a sign gets its escape instead of ending the program.
        _reconfigure(stream, errors="backslashreplace")
    try:
        # Imported here: it takes a moment in which Ctrl-C may come.
        from visualizer.cli.commands import visualizer

        with visualizer.make_context("visualizer", list(arguments)) as context:
            code = visualizer.invoke(context)
            sys.stdout.flush()
        return code if isinstance(code, int) else OK
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as misuse:
        _tell_misuse(misuse)
        return REFUSED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return PIPE_CLOSED
    except Exception as failure:
        sentence = _sentence(failure)
        if sentence is None:
            raise
        complain(sentence)
        return REFUSED


def complain(sentence: str) -> None:
    """Writes lines to stderr, each safe to show."""
    for line in sentence.splitlines():
        _write(sys.stderr, visible(line))


def say(line: str = "") -> None:
    """Writes one line to stdout, safe to show, at once."""
    _write(sys.stdout, visible(line))


def write_json(value: object) -> None:
    """Writes a JSON value as one line of printable ASCII to stdout, at once."""
    import json  # imported late: the screen does not need it

    _write(sys.stdout, json.dumps(value, ensure_ascii=True))


def _write(stream: TextIO, line: str) -> None:
    # Flushed: whoever reads a pipe sees each frame as it is made.
    stream.write(line + "\n")
    stream.flush()


def _sentence(failure: Exception) -> str | None:
    """What an expected failure says, None for a bug."""
    # Imported late: only a failure needs them.
    from visualizer.engine import EngineError
    from visualizer.explore import UnknownChoiceError
    from visualizer.ids import IdError
    from visualizer.keyspace import QueueNameError
    from visualizer.lesson import LessonFaults, UnknownLessonError
    from visualizer.player import DeadlinePassedError
    from visualizer.race import TurnError
    from visualizer.script import ScriptError

    expected = (
        *(EngineError, QueueNameError, LessonFaults, UnknownLessonError, UnknownChoiceError),
        *(DeadlinePassedError, ScriptError, IdError, TurnError),
    )
    return with_capital(str(failure)) if isinstance(failure, expected) else None


def with_capital(sentence: str) -> str:
    """A sentence with a capital; what begins with an id, a file or an option stays as it is."""
    begins_with_a_word = re.match(r"[a-z]+ ", sentence)
    return sentence[:1].upper() + sentence[1:] if begins_with_a_word else sentence


def _tell_misuse(misuse: click.ClickException) -> None:
    if isinstance(misuse, click.UsageError) and misuse.ctx is not None:
        complain(misuse.ctx.get_usage())
    complain(f"Error: {misuse.format_message()}")


def _reconfigure(stream: TextIO, *, errors: str) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=errors)
