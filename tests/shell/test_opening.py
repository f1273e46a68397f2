"""Opening a lesson: what is refused at the prompt, before the screen is, and what is handed to the screen."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.serving import free_port
from tests.shell.conftest import ENQUEUE, HEAD, PATH, SMALL, FakeTerminal, Server, Shell
from visualizer.cli import opening
from visualizer.engine import EmbeddedServer, Engine

Written = Callable[[str], str]

# Why no screen can be drawn -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [(), ("states-as-locations",), ("--theme", "x")])
@pytest.mark.parametrize(
    ("terminals", "missing"),
    [
        ((False, False, False), "the standard input is none"),
        ((False, True, True), "the standard input is none"),
        ((True, False, True), "the standard output is none"),
        ((True, True, False), "the standard error output is none"),
    ],
)
def test_the_screen_says_in_one_line_why_it_cannot_open(
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    terminals: tuple[bool, ...],
    missing: str,
) -> None:
    streams = [FakeTerminal() if terminal else io.StringIO() for terminal in terminals]
    monkeypatch.setattr(opening, "sys", FakeSystem(*streams))
    monkeypatch.setattr(opening, "spawned", lambda _: pytest.fail("a server was started"))
    ended = shell(*arguments)
    assert (ended.code, ended.out) == (2, b"")
    assert len(ended.complaint.splitlines()) == 1
    assert missing in ended.complaint
    assert "`visualizer walk LESSON`" in ended.complaint
    assert "--plain" in ended.complaint


class FakeSystem:
    """The streams that `opening` looks at."""

    def __init__(self, stdin: io.StringIO, stdout: io.StringIO, stderr: io.StringIO) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr


def test_a_dumb_terminal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "sys", FakeSystem(FakeTerminal(), FakeTerminal(), FakeTerminal()))
    monkeypatch.setenv("TERM", "dumb")
    assert "TERM says dumb" in (opening.why_no_screen() or "")
    monkeypatch.setenv("TERM", "xterm")
    assert opening.why_no_screen() is None


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("stream", [1, 2])
def test_an_encoding_that_is_not_utf_8_is_told(monkeypatch: pytest.MonkeyPatch, encoding: str, stream: int) -> None:
    streams = [FakeTerminal() for _ in range(3)]
    streams[stream].encoding = encoding
    monkeypatch.setattr(opening, "sys", FakeSystem(*streams))
    monkeypatch.setenv("TERM", "xterm")
    told = opening.why_no_screen() or ""
    assert f"written in {encoding}." in told
    assert "PYTHONUTF8=1" in told
    assert "UTF-8 locale" in told
    for other in ("utf-8", "UTF8", "utf_8"):
        streams[stream].encoding = other
        assert opening.why_no_screen() is None


def test_a_pipe_in_a_process_of_its_own() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "visualizer"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.count(b"\n") == 1


# Refused before the screen opens --------------------------------------------------------------------------------------


class FakeScreen:
    """What is run in place of the screen, where a terminal could draw one: it keeps what it was handed."""

    def __init__(self) -> None:
        self.handed: dict[str, Any] | None = None
        self.meanwhile: Callable[[], None] = lambda: None

    def run(self, lessons: object, opened: object, **handed: Any) -> int:
        assert lessons
        self.handed = {"opened": opened, **handed}
        self.meanwhile()
        return 0


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> FakeScreen:
    from visualizer.tui import app

    fake = FakeScreen()
    monkeypatch.setattr(app, "run", fake.run)
    monkeypatch.setattr(opening, "why_no_screen", lambda: None)
    return fake


FAULTY = [
    (("--queue", "a}b"), "The queue name 'a}b' holds a brace"),
    (("--queue", ""), "A queue name cannot be empty"),
    (("--engine", "foo"), "There is no engine foo."),
    (("--engine", ""), "There is no engine of that name."),
    (("--engine", "redis://h:99999"), "The server's URL cannot be read"),
    (("--engine", "redis://h?retry=1"), "an option that is not known here"),
    (("--take-over",), "--take-over is for a server"),
    (("--take-over", "--engine", "fakeredis"), "--take-over is for a server"),
]


@pytest.mark.parametrize("lesson", [(), ("states-as-locations",)])
@pytest.mark.parametrize("plain", [(), ("--plain",)])
@pytest.mark.parametrize(("options", "sentence"), FAULTY)
def test_what_no_engine_can_be_opened_with_ends_at_the_prompt(
    shell: Shell,
    screen: FakeScreen,
    monkeypatch: pytest.MonkeyPatch,
    lesson: tuple[str, ...],
    plain: tuple[str, ...],
    options: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.setattr(opening, "spawned", lambda _: pytest.fail("a server was started"))
    ended = shell(*lesson, *plain, *options)
    assert (ended.code, ended.out, screen.handed) == (2, b"", None)
    assert sentence in ended.complaint.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--path", "happy"), "--path needs the lesson"),
        (("--plain", "--path", "happy"), "--path needs the lesson"),
        (("--path", ""), "--path needs the lesson"),
        (("states-as-locations", "--plain", "--theme", "echomq-dark"), "--theme is for the screen"),
        (("--plain", "--theme", "nonsense"), "--theme is for the screen"),
        (("states-as-locations", "--path", ""), "There are: happy, retry"),
        (("states-as-locations", "--plain", "--path", ""), "There are: happy, retry"),
        (("check", "--take-over"), "--take-over is for a server"),
        (("check", "--queue", ""), "A queue name cannot be empty"),
        (("check", "--engine", "foo"), "There is no engine foo."),
    ],
)
def test_options_that_do_not_go_together_are_misuse(
    shell: Shell, screen: FakeScreen, arguments: tuple[str, ...], sentence: str
) -> None:
    ended = shell(*arguments)
    assert (ended.code, ended.out, screen.handed) == (2, b"", None)
    assert sentence in ended.complaint


def test_a_private_server_and_the_pace_are_handed_to_the_screen(shell: Shell, screen: FakeScreen) -> None:
    ended = shell("states-as-locations", "--pace", "0.5", "--queue", "q", "--engine", "valkey")
    assert (ended.code, ended.err) == (0, b"")
    assert screen.handed is not None
    assert (screen.handed["pace"], screen.handed["queue"], screen.handed["engine"]) == (0.5, "q", None)
    assert isinstance(screen.handed["spawned"], EmbeddedServer)
    assert screen.handed["spawned"]._closed


# A server by URL is opened first --------------------------------------------------------------------------------------


def test_a_server_that_cannot_be_reached_ends_at_the_prompt(shell: Shell, screen: FakeScreen) -> None:
    ended = shell("states-as-locations", "--engine", f"redis://127.0.0.1:{free_port()}")
    assert (ended.code, ended.out, screen.handed) == (2, b"", None)
    assert "nothing listens there" in ended.complaint
    assert ended.complaint.count("\n") == 1


def test_a_queue_of_others_ends_at_the_prompt(
    shell: Shell, screen: FakeScreen, lesson_file: Written, server: Server
) -> None:
    server.client.zadd(b"emq:{small}:pending", {b"JOB0KHTOWnGLuC": 0})
    ended = shell(lesson_file(SMALL), "--engine", server.url)
    assert (ended.code, ended.out, screen.handed) == (2, b"", None)
    assert "emq:{small}:pending" in ended.complaint
    assert ended.complaint.count("\n") == 1
    assert server.names() == {b"emq:{small}:pending"}


@pytest.mark.parametrize(("options", "queue"), [((), "small"), (("--queue", "other"), "other")])
def test_the_screen_gets_the_open_engine_and_nothing_stays_behind(
    shell: Shell, screen: FakeScreen, lesson_file: Written, server: Server, options: tuple[str, ...], queue: str
) -> None:
    held: list[set[bytes]] = []
    screen.meanwhile = lambda: held.append(server.names())
    ended = shell(lesson_file(HEAD + PATH.format(name="only") + ENQUEUE), "--engine", server.url, *options)
    assert (ended.code, ended.err) == (0, b"")
    assert screen.handed is not None
    engine = screen.handed["engine"]
    assert isinstance(engine, Engine)
    assert (engine.kind, engine.queue, screen.handed["spawned"]) == ("url", queue, None)
    assert held == [{f"emq:{{{queue}}}:visualizer:owner".encode()}]
    assert server.names() == set()


def test_without_a_lesson_no_server_is_asked(shell: Shell, screen: FakeScreen) -> None:
    ended = shell("--engine", f"redis://127.0.0.1:{free_port()}")
    assert (ended.code, ended.err) == (0, b"")
    assert screen.handed is not None
    assert screen.handed["engine"] is None


def test_a_screen_that_does_not_come_about_leaves_no_key(
    shell: Shell, screen: FakeScreen, lesson_file: Written, server: Server
) -> None:
    def refuse() -> None:
        raise ValueError("there is no theme x; there are: y")

    screen.meanwhile = refuse
    ended = shell(lesson_file(SMALL), "--engine", server.url, "--theme", "x")
    assert (ended.code, ended.out) == (2, b"")
    assert "there is no theme x" in ended.complaint
    assert server.names() == set()
