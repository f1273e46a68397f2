"""Keys and lines from a terminal, and from what is none."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.serving import eventually
from tests.shell.conftest import SMALL
from visualizer.terminal_keys import NAMES, Keys, LineKeys, keys_of

Written = Callable[[str], str]

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is needed")


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A pseudo-terminal: what a keyboard writes to, and what a program reads from."""
    keyboard, program = os.openpty()
    yield keyboard, program
    os.close(keyboard)
    os.close(program)


@needs_terminal
def test_single_keys_are_read_and_the_terminal_is_given_back(terminal: tuple[int, int]) -> None:
    import termios

    keyboard, program = terminal
    found = termios.tcgetattr(program)
    with os.fdopen(os.dup(program), encoding="utf-8") as stream, keys_of(stream) as keys:
        for typed, name in (*NAMES.items(), ("n", "n"), ("é", "é"), ("\x1b[99~", "unknown")):
            os.write(keyboard, typed.encode())
            assert keys.press() == (None if name == "end_of_input" else name), repr(typed)
        os.write(keyboard, b"a line\n")
        assert keys.line() == "a line"
        os.write(keyboard, b"\x1b[Cq")
        assert [keys.press(), keys.press()] == ["right", "q"]
    assert termios.tcgetattr(program) == found


class Prompt:
    """A line being asked for on a terminal, in a thread: typed into only when the terminal is ready to edit it."""

    def __init__(self, keys: Keys, program: int) -> None:
        import termios

        self.answers: list[str | None] = []
        self._asking = threading.Thread(target=lambda: self.answers.append(keys.line()), daemon=True)
        self._asking.start()
        eventually(lambda: termios.tcgetattr(program)[6][termios.VEOL] == b"\x1b", "a line is asked for")

    def answered(self) -> list[str | None]:
        self._asking.join(timeout=60)
        return self.answers


@needs_terminal
@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (b"retry\n", "retry"),
        (b"retrx\x7fy\n", "retry"),
        ("lesson-\u00e9.toml\n".encode(), "lesson-\u00e9.toml"),
        (b"\xff\n", "\udcff"),
        (b"\n", ""),
        (b"\x1b", None),
        (b"ret\x1b", None),
        (b"ret\x1b[C", None),
        (b"\x04", None),
    ],
)
def test_a_line_is_edited_by_the_terminal_and_left_with_esc(
    terminal: tuple[int, int], typed: bytes, answer: str | None
) -> None:
    import termios

    keyboard, program = terminal
    found = termios.tcgetattr(program)
    with os.fdopen(os.dup(program), encoding="utf-8") as stream, keys_of(stream) as keys:
        prompt = Prompt(keys, program)
        os.write(keyboard, typed)
        assert prompt.answered() == [answer]
        assert termios.tcgetattr(program) == found
        os.write(keyboard, b"q")
        assert keys.press() == "q", "nothing of the line is left over"


@needs_terminal
def test_what_is_typed_ahead_of_a_line_is_its_own(terminal: tuple[int, int]) -> None:
    keyboard, program = terminal
    with os.fdopen(os.dup(program), encoding="utf-8") as stream, keys_of(stream) as keys:
        os.write(keyboard, b"p")
        assert keys.press() == "p"
        os.write(keyboard, b"retry\nn\x1b[C")
        assert keys.line() == "retry"
        assert [keys.press(), keys.press()] == ["n", "right"]


def test_lines_are_keys_where_there_is_no_terminal() -> None:
    keys = LineKeys(io.StringIO("right\n\n?\n n \nq"))
    assert [keys.press() for _ in range(6)] == ["right", "enter", "question_mark", "n", "q", None]


def test_esc_leaves_a_line_where_there_is_no_terminal_and_is_a_key_elsewhere() -> None:
    keys = LineKeys(io.StringIO("\x1b\n\x1b\nescape\nretry\n"))
    assert [keys.press(), keys.line(), keys.line(), keys.line(), keys.line()] == ["escape", None, None, "retry", None]


@needs_terminal
@pytest.mark.parametrize(("typed", "code"), [(b"q", 0), (b"\x03", 130), (b"\x04", 0)])
def test_a_terminal_drives_a_lesson(
    terminal: tuple[int, int], lesson_file: Written, tmp_path: Path, typed: bytes, code: int
) -> None:
    import termios

    keyboard, program = terminal
    found = termios.tcgetattr(program)
    (tmp_path / "t").mkdir()
    # A session of its own, whose terminal this is: ctrl+c must reach the program as a signal.
    script = "import os, sys, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    script += "from visualizer.cli import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", script, lesson_file(SMALL), "--plain", "--engine", "valkey"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "t")}
    with subprocess.Popen(
        command, stdin=program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        wait_for(process, b"next, step 1 of 3")
        os.write(keyboard, b"\x1b[C")
        wait_for(process, b"next, step 2 of 3")
        os.write(keyboard, b"\x1b[D")
        wait_for(process, b"> back")
        os.write(keyboard, typed)
        rest, complaint = process.stdout.read(), process.stderr.read()
        assert process.wait(timeout=60) == code
    assert complaint == b""
    assert b"\x1b" not in rest
    assert termios.tcgetattr(program) == found
    assert not list((tmp_path / "t").glob("emq-*"))


def wait_for(process: subprocess.Popen[bytes], beginning: bytes) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        assert b"\x1b" not in line
        if line.startswith(beginning):
            return
    raise AssertionError(f"it ended without a line that begins with {beginning!r}")
