"""The command line, run in this process, and small lessons for it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from visualizer.cli import run
from visualizer.engine import EmbeddedServer
from visualizer.engine.client import unix_client

HEAD = """
title = "A small lesson"
course = "T1"
machine = "leased"
queue = "small"
summary = "Three steps."
intro = "Words before the first step."

[jobs.one]
id = "JOB0KHTOWnGLuC"
payload_hex = "83 68 04"
"""
PATH = """
[[paths]]
name = "{name}"
title = "{name}"
job = "one"
"""
STEP = """
[[paths.steps]]
do = "{do}"
with = {{ {given} }}
{more}
say = "Look."
ask = "Where?"
[paths.steps.expect]
{expect}
"""


def step(do: str, expect: str, given: str = "", more: str = "") -> str:
    """One step of a lesson, as TOML."""
    return STEP.format(do=do, given=given, more=more, expect=expect)


ENQUEUE = step("enqueue", 'enters = ["pending"]\noutcome = "enqueued"')
CLAIM = step("claim", 'leaves = ["pending"]\nenters = ["active"]\noutcome = "claimed"', 'worker = "w1"')
COMPLETE = step("complete", 'leaves = ["active"]\noutcome = "completed"\nrow = "gone"', 'token = "w1"')
SMALL = HEAD + PATH.format(name="only") + ENQUEUE + CLAIM + COMPLETE
TWO_PATHS = SMALL + PATH.format(name="again") + ENQUEUE + CLAIM
# Two actors, each with one step.
RACE = (
    HEAD
    + PATH.format(name="race")
    + ENQUEUE
    + CLAIM
    + COMPLETE.replace("\nsay =", '\nturn = "worker"\nsay =')
    + step("reap", 'outcome = "reaped"', more='turn = "reaper"')
)


class Ended(Struct, frozen=True):
    """How a command ended, and the bytes it wrote."""

    code: int
    out: bytes
    err: bytes

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()

    @property
    def complaint(self) -> str:
        return self.err.decode()


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


Shell = Callable[..., Ended]


@pytest.fixture
def shell(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs ``visualizer`` with these arguments, and with these lines on its standard input."""

    def ran(*arguments: str, lines: str | None = None) -> Ended:
        capfdbinary.readouterr()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", io.StringIO(lines or ""))
            code = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = capfdbinary.readouterr()
        return Ended(code, out, err)

    return ran


@pytest.fixture
def lesson_file(tmp_path: Path) -> Callable[[str], str]:
    """Writes a lesson and answers its path."""

    def written(text: str, name: str = "small.toml") -> str:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    return written


class Server:
    """A Valkey that somebody else runs, and a client of theirs."""

    def __init__(self, process: EmbeddedServer) -> None:
        self.url = f"unix://{process.socket_path}"
        self.client: Any = unix_client(process.socket_path, 10.0)

    def names(self) -> set[bytes]:
        return set(self.client.keys(b"*"))


@pytest.fixture
def server() -> Iterator[Server]:
    process = EmbeddedServer.spawn()
    try:
        process.wait()
        yield Server(process)
    finally:
        process.close()


# Lessons told in lines ------------------------------------------------------------------------------------------------

Told = Callable[..., list[str]]


@pytest.fixture
def told(shell: Shell, lesson_file: Callable[[str], str]) -> Told:
    """What a lesson tells after these keys, one a line; each must be well and leave nothing on stderr."""

    from tests.shell.test_hostile_text import assert_printable  # it imports from here

    def tell(*keys: str, lesson: str = TWO_PATHS, spec: str = "fakeredis") -> list[str]:
        ended = shell(lesson_file(lesson), "--plain", "--engine", spec, lines="".join(f"{key}\n" for key in keys))
        assert (ended.code, ended.err) == (0, b"")
        assert_printable(ended.out)
        return ended.lines

    return tell


def after(lines: Sequence[str], label: str, times: int = 1) -> list[str]:
    """What was told after an action of that label, for the n-th time."""
    found = [at for at, line in enumerate(lines) if line == f"> {label}"]
    rest = lines[found[times - 1] + 1 :]
    end = next((at for at, line in enumerate(rest) if line.startswith("> ")), len(rest))
    return list(rest[:end])


def begins(lines: Sequence[str], words: str) -> bool:
    """Whether one of the lines begins so."""
    return any(line.startswith(words) for line in lines)
