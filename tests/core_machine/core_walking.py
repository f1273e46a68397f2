"""What tests of the core machine share: walks on an engine, the lesson of this folder, what a plain connection sees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.core.walking import GUESS as GUESS
from tests.core.walking import RIVAL as RIVAL
from tests.core.walking import THIRD as THIRD
from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.lesson import Lesson, load
from visualizer.lesson_clock import START_MS, LessonClock
from visualizer.machine import MACHINES
from visualizer.model import Frame, Observation, Step
from visualizer.perform import NAMED_STEPS
from visualizer.readout import readout
from visualizer.walk import Walker

CORE = MACHINES["core"]
IDS = (GUESS, RIVAL, THIRD)
BASE = b"emq:{cm}:"
# What one step takes of the lesson's clock, and the machine's own durations.
STEP_MS, LOCK_MS, RENEW_MS, SWEEP_MS = 10, 30_000, 15_000, 30_000
WORKER = {"worker": "w1"}


def walker_on(engine: Engine, *captured: bytes, **options: Any) -> Walker:
    """A walk of the core machine; without ids, all three are captured."""
    return Walker(engine, CORE, Keyspace(engine.queue, CORE.row_prefix), captured or IDS, **options)


def take(walker: Walker, do: str, job: bytes | None = GUESS, /, **given: Any) -> Frame:
    """Takes one step and answers its frame."""
    frame = walker.take(Step(do, job, given, b'{"n":7}')).frame
    assert frame is not None
    return frame


def picked_up(walker: Walker, job: bytes = GUESS, **given: Any) -> Frame:
    """A fresh job that w1 has."""
    take(walker, "addStandardJob", job)
    return take(walker, "moveToActive", None, **{**WORKER, **given})


def passes(walker: Walker, ms: int) -> Frame:
    return take(walker, "time_passes", None, ms=ms)


def clock_of(walker: Walker) -> LessonClock:
    assert walker.clock is not None
    return walker.clock


def at_ms(seen: Observation) -> int:
    """What a reading says of the time, in ms since the lesson began."""
    return seen.clock_ms - START_MS


def left_ms(walker: Walker, job: bytes = GUESS) -> int | None:
    """What is left of a job's lock by the last reading, None where it has none."""
    lock = walker.walk.frames[-1].after.locks.get(job)
    return None if lock is None else lock.ttl_ms


def field(walker: Walker, name: bytes, job: bytes = GUESS) -> bytes | None:
    """A field of a job's row by the last reading; None where it has none, or no row."""
    row = walker.walk.frames[-1].after.rows[job]
    return None if row is None else row.fields.get(name)


def on_the_server(engine: Engine) -> dict[bytes, tuple[bytes, int]]:
    """Every key of the queue that a plain connection sees, without the base: its dump, and when it expires."""
    client: Any = engine.client
    keys = sorted(client.scan_iter(match=engine.pattern, count=1000))
    return {key.removeprefix(BASE): (client.dump(key), client.pexpiretime(key)) for key in keys}


def names_on_the_server(engine: Engine) -> set[bytes]:
    return set(on_the_server(engine))


def the_lesson(file: str = "lesson.toml") -> Lesson:
    return load(Path(__file__).parent / file, MACHINES, NAMED_STEPS)


def texts(walker: Walker, frame: Frame | None = None) -> list[str]:
    """The readout of a frame of the walk (the last one where none is given), without what differs from run to run."""
    frame = frame or walker.walk.frames[-1]
    lines = readout(CORE, frame, walker.walk.frames[: frame.number - 1])
    found = [line.text for line in lines]
    patterns: Mapping[str, str] = {r"\d+\.\d\d ms$": "MS", r"\b[0-9a-f]{7}…": "SHA…"}
    for pattern, word in patterns.items():
        found = [re.sub(pattern, word, text) for text in found]
    return found
