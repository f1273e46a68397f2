"""A small right lesson in pieces, to be changed and read by tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from visualizer.lesson import Lesson, LessonFaults, load
from visualizer.lesson_faults import Fault
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS

NAMED = NAMED_STEPS
HERE = Path(__file__).parent
RED = "PLR0KCUfUXQup6"

HEAD = """
title = "T"
course = "C"
machine = "leased"
queue = "q"
summary = "S"
intro = "I"
[jobs.one]
id = "JOB0KHTOWnGLuC"
payload = "text"
[jobs.two]
id = "ORD0KHTOYgD5Um"
payload_hex = "83 00 ff"
"""
PATH = """
[[paths]]
name = "p"
title = "P"
job = "one"
"""
STEP = """
[[paths.steps]]
do = "{do}"
with = {{ {given} }}
say = "s"
ask = "a"
[paths.steps.expect]
{expect}
"""
CLAIM = STEP.format(do="claim", given="", expect="")


def step(do: str, given: str = "", expect: str = "") -> str:
    return STEP.format(do=do, given=given, expect=expect)


def read(file: Path, pace: float = 1.0) -> Lesson:
    return load(file, MACHINES, NAMED, pace)


def written(folder: Path, *parts: str, pace: float = 1.0) -> Lesson:
    file = folder / "written.toml"
    file.write_text("".join(parts), encoding="utf-8")
    return read(file, pace)


def faults_of(folder: Path, *parts: str | bytes) -> tuple[Fault, ...]:
    file = folder / "written.toml"
    file.write_bytes(b"".join(part if isinstance(part, bytes) else part.encode() for part in parts))
    with pytest.raises(LessonFaults) as refused:
        read(file)
    assert str(refused.value) == "\n".join(map(str, refused.value.faults))
    return refused.value.faults
