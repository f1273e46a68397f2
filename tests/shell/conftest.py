"""The command line, run in this process, and small lessons for it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from visualizer.cli import run

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
