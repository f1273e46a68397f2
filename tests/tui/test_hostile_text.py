"""Text that a server or an author sends stays text: in every widget, title and notice, and in the terminal's bytes."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tests.hostile import HOSTILE
from tests.tui.driving import lesson_open, press, text_of, the_lesson
from visualizer.engine import Engine
from visualizer.lesson import Job, Lesson
from visualizer.model import Step
from visualizer.player import Player
from visualizer.tui.scene import EngineLabel, Scene
from visualizer.tui.screens.choice import Choice, ChoiceScreen
from visualizer.tui.telling import lines_of
from visualizer.tui.widgets.lua_panel import LuaPanel
from visualizer.visible import visible

SHORT: Mapping[str, bytes] = {name: data for name, data in HOSTILE if len(data) < 200}


def _hostile_lesson(data: bytes) -> Lesson:
    """The retry path with hostile bytes as payload, error, labels, titles and questions."""
    lesson = the_lesson()
    text = data.decode("utf-8", "surrogateescape")
    path = lesson.path("retry")
    job = Job(path.job.id, data)

    def hostile(step: Step) -> Step:
        given = {**step.given, "error": data} if step.do == "retry" else step.given
        return replace(step, payload=data, given=given, label=text or "empty")

    steps = tuple(hostile(step) for step in path.steps)
    return replace(lesson, title=text, course=text, paths=(replace(path, title=text, job=job, steps=steps),))


def _walked(data: bytes, engine: Engine) -> Scene:
    """A scene of the hostile lesson after its retry, with hostile members, fields and side keys beside it."""
    engine.clear_queue()
    player = Player(_hostile_lesson(data), engine)
    for _ in range(3):
        player.step()
    engine.client.zadd(player.space.key("dead"), {data: 0})
    engine.client.hset(player.space.job(player.path.job.id), data, data)
    engine.client.hset(player.space.key("meta"), data, data)
    walk = player.look()
    shown = data.decode("utf-8", "backslashreplace")
    label = EngineLabel("EMULATED", shown, shown)
    return Scene(player.lesson, player.path, player.machine, label, walk, player.shown_step, player.taken)


async def test_no_widget_is_harmed_and_nothing_unprintable_is_drawn(valkey: Engine) -> None:
    async with lesson_open("retry") as (screen, pilot):
        for name, data in SHORT.items():
            screen.scene = scene = _walked(data, valkey)
            lines = lines_of(scene)
            screen.notify(lines[0].text, markup=False)
            await pilot.pause()
            assert unprintable(text_of(pilot)) == set(), name
            assert unprintable("".join(line.text for line in lines)) == set(), name


async def test_a_list_to_choose_from_shows_hostile_titles_as_text() -> None:
    async with lesson_open("retry", (120, 120)) as (screen, pilot):
        texts = [visible(data) for data in SHORT.values()]
        screen.app.push_screen(ChoiceScreen("".join(texts), [Choice(text, text, text) for text in texts]))
        await pilot.pause()
        assert unprintable(text_of(pilot)) == set()


def unprintable(text: str) -> set[str]:
    return {character for character in text if not character.isprintable() and character != "\n"}


async def test_commands_of_the_naive_queue_are_shown_as_text() -> None:
    lesson = the_lesson()
    path = lesson.path("place-not-flag")
    hostile = tuple(replace(step, payload=b"[/]\x1b[2J") for step in path.steps)
    changed = replace(lesson, paths=(replace(path, steps=hostile),))
    async with lesson_open("place-not-flag", lesson=changed) as (screen, pilot):
        await press(screen, pilot, "right")
        panel = screen.query_one(LuaPanel)
        assert panel.size.width > 0
        assert "[/]\\x1b[2J" in text_of(pilot)


# Each control is followed by a word of ours, so that what a terminal receives can be searched for the pair.
_CONTROLS = {
    "ESC": b"\x1b",
    "C1 CSI": b"\x9b",
    "C1 CSI as UTF-8": b"\xc2\x9b",
    "BEL": b"\x07",
    "NUL": b"\x00",
    "right-to-left override": "\u202e".encode(),
    "OSC 52": b"\x1b]52;c;",
    "OSC 8": b"\x1b]8;;",
}


def test_a_terminal_receives_none_of_the_controls_that_data_holds(tmp_path: Path) -> None:
    payload = b"".join(control + b"PWNED" for control in _CONTROLS.values())
    source = the_lesson().file.read_text(encoding="utf-8")
    start = source.index('payload_hex = """')
    end = source.index('"""', start + 20) + 3
    lesson = tmp_path / "hostile.toml"
    lesson.write_text(source[:start] + f'payload_hex = "{payload.hex()}"' + source[end:], encoding="utf-8")
    received = _received(lesson, [b"\x1b[C", b"\x1b[C", b"\t", b"\t"])
    assert b"PWNED" in received
    for name, control in _CONTROLS.items():
        assert control + b"PWNED" not in received, name


def _received(lesson: Path, keys: list[bytes]) -> bytes:
    """The bytes that a terminal gets while the keys are pressed in the real program."""
    command = [sys.executable, "-m", "visualizer", str(lesson), "--path", "happy", "--engine", "fakeredis"]
    terminal, program = pty.openpty()
    os.set_blocking(terminal, False)
    environment = {**os.environ, "COLUMNS": "120", "LINES": "36", "TERM": "xterm-256color"}
    child = subprocess.Popen(command, stdin=program, stdout=program, stderr=program, env=environment)
    os.close(program)
    received = b""
    waiting = [*keys, b"q"]
    quiet_since = time.monotonic()
    deadline = quiet_since + 60
    try:
        while child.poll() is None and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    received += os.read(terminal, 65_536)
                except OSError:
                    break
                quiet_since = time.monotonic()
            elif waiting and b"EMULATED" in received and time.monotonic() - quiet_since > 0.3:
                os.write(terminal, waiting.pop(0))
                quiet_since = time.monotonic()
        assert child.wait(timeout=10) == 0
    finally:
        if child.poll() is None:
            child.kill()
        os.close(terminal)
    return received
