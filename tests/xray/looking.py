"""What tests of the x-ray share: paths of one job on an engine, scripts of a test's own, processes of a server."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.core.walking import GROUP, GUESS, HOUR_MS, RIVAL
from visualizer.called import Source
from visualizer.debugger import Session
from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.lesson import Job, Lesson, LessonPath
from visualizer.machine import MACHINES
from visualizer.model import Dump, Frame, Step, WireCall
from visualizer.player import Player
from visualizer.script import Header, Script
from visualizer.xray import Stop, Xray

BASE = b"emq:{cm}:"
PAYLOAD = b"\x83h\x02payload"
JOBS = {"guess": Job(GUESS, PAYLOAD), "rival": Job(RIVAL, PAYLOAD)}
ENQUEUE, CLAIM = Step("enqueue"), Step("claim", given={"worker": "w1", "lease_ms": HOUR_MS})
LOCAL = "local a = 1\nlocal b = 2\nreturn {a, b}"


def player_on(engine: Engine, *steps: Step, machine: str = "leased", payload: bytes = PAYLOAD) -> Player:
    """A player at the start of a path of these steps; those that name no job are about GUESS."""
    about = tuple(_about(step, payload) for step in steps)
    path = LessonPath("only", "only", JOBS["guess"], about)
    engine.clear_queue()
    lesson = Lesson("slug", Path("slug.toml"), "T", "C", machine, "cm", "S", "I", JOBS, {"group": GROUP}, (path,))
    return Player(lesson, engine)


def _about(step: Step, payload: bytes) -> Step:
    return Step(step.do, step.id or GUESS, step.given, payload, step.label or step.do, needs=step.needs)


def taken(player: Player, count: int | None = None) -> Frame:
    """Takes the path's next steps (all of them where no count is given); the last one's frame."""
    for _ in range(len(player.path.steps) - player.taken if count is None else count):
        player.step()
    return player.walk.frames[-1]


def own_script(source: str, name: str = "leased/own") -> Script:
    header = Header("A test's own.", "none", (), (), ("anything",), "none")
    return Script(name, source, hashlib.sha1(source.encode()).hexdigest(), header)


def source_for(script: Script, *, dumps: Mapping[bytes, Dump] | None = None, machine: str = "leased") -> Source:
    """What an x-ray needs to run a test's own script, once `xray.load` answers it."""
    call = WireCall("EVALSHA", (), (), None, None, 0.1, script.name, script.sha1)
    found = MACHINES[machine]
    return Source(found, Keyspace("cm", found.row_prefix), (GUESS,), Step("own", GUESS), dumps or {}, 0, call=call)


def stop_at(xray: Xray, text: str) -> Stop:
    """Runs to the line after the next one that holds this text: that line has run."""
    lines = xray.called.script.lines
    while not xray.ended:
        ran = xray.stops[-1].line
        stop = xray.step()
        if text in lines[ran - 1]:
            return stop
    raise AssertionError(f"the script never came to {text}")


def children_of(pid: int) -> set[int]:
    """The processes whose parent is that one and that have not ended (Linux)."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.add(int(stat.parent.name))
    return found


@contextlib.contextmanager
def session(socket_path: str, source: str, *args: bytes, keys: tuple[bytes, ...] = ()) -> Iterator[Session]:
    """A script in the debugger, at its first line; ended with the block."""
    made = Session(socket_path, source, keys, args)
    try:
        yield made
    finally:
        made.close()


def ended(made: Session) -> Any:
    """The reply of a session's script, run to its end."""
    while not made.at.ended:
        made.step()
    return made.at.reply
