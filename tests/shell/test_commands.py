"""The small commands: lessons, script, id, doctor, help, and the screen that cannot open."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.shell.conftest import Shell
from visualizer import doctor
from visualizer.cli.commands import visualizer
from visualizer.engine import EngineError, embedded
from visualizer.ids import is_job_id
from visualizer.script import all_names, load

# Lessons and scripts --------------------------------------------------------------------------------------------------


def test_lessons_are_listed(shell: Shell) -> None:
    ended = shell("lessons")
    assert (ended.code, ended.err) == (0, b"")
    line = next(line for line in ended.lines if line.startswith("states-as-locations"))
    for part in (
        "R3.04.1",
        "States as locations",
        "leased",
        "happy",
        "retry",
        "dead",
        "lease-lapses",
        "place-not-flag",
    ):
        assert part in line


def test_lessons_in_json(shell: Shell) -> None:
    ended = shell("lessons", "--json")
    (lesson,) = (each for each in map(json.loads, ended.lines) if each["slug"] == "states-as-locations")
    assert list(lesson) == ["slug", "course", "title", "machine", "paths"]
    assert (lesson["course"], lesson["machine"]) == ("R3.04.1", "leased")
    assert lesson["paths"][:2] == ["happy", "retry"]


def test_a_faulty_lesson_is_told_and_the_others_listed(
    shell: Shell, tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.shell.conftest import SMALL
    from visualizer import lesson

    folder = Path(str(tmp_path))
    (folder / "good.toml").write_text(SMALL, encoding="utf-8")
    (folder / "bad.toml").write_text(SMALL.replace("claim", "clam"), encoding="utf-8")
    monkeypatch.setattr(lesson, "lessons_folder", lambda: folder)
    ended = shell("lessons")
    assert ended.code == 1
    assert [line.split()[0] for line in ended.lines] == ["good"]
    assert "bad.toml" in ended.complaint
    assert "did you mean claim?" in ended.complaint


def test_scripts_are_listed(shell: Shell) -> None:
    ended = shell("script")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.lines] == all_names()
    assert any(load("leased/claim").sha1[:7] in line for line in ended.lines)


@pytest.mark.parametrize("name", all_names())
def test_a_source_is_exactly_what_is_sent(shell: Shell, name: str) -> None:
    ended = shell("script", name, "--source")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.out == load(name).source.encode()


def test_a_contract_is_shown(shell: Shell) -> None:
    script = load("leased/retry")
    ended = shell("script", "leased/retry")
    assert ended.code == 0
    assert ended.lines[0] == f"leased/retry  SHA-1 {script.sha1}"
    assert ended.lines[1] == script.header.sentence
    for slot in (*script.header.keys, *script.header.args):
        assert any(slot.name in line and slot.meaning in line for line in ended.lines)
    for reply in script.header.returns:
        assert f"RETURNS {reply}" in ended.lines


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("script", "leased/clam"), "did you mean leased/claim? `visualizer script` lists them."),
        (("script", "claim"), "There is no script claim; did you mean leased/claim? `visualizer script` lists them."),
        (("script", "zzz"), "There is no script zzz. `visualizer script` lists them."),
        (("script", "../lua/leased/claim"), "There is no script"),
        (("script", "--source"), "--source needs the name"),
        (("id",), "Either an ID or --mint"),
        (("id", "JOB0KHTOWnGLuC", "--mint", "JOB"), "Either an ID or --mint"),
        (("id", "JOB0KHTOWnGLu"), "it has 13 bytes, not 14"),
        (("id", "USRzzzzzzzzzzz"), "beyond the largest value"),
        (("id", "--mint", "job"), "a namespace is three capitals"),
        (("show", "place"), "'place' is not one of"),
        (("lessons", "extra"), "unexpected extra argument"),
        (("wlak", "states-as-locations"), "There is no command wlak; did you mean walk?"),
        (("docter",), "did you mean doctor?"),
        (("state-as-location",), "did you mean states-as-locations? `visualizer lessons` lists them"),
        (("nonsense", "--path", "happy"), "There is no lesson called nonsense. `visualizer lessons` lists them"),
        (("nonsense.toml",), "There is no lesson file nonsense.toml."),
        (("show",), "Choose state or transition."),
        (("verbs", "clam"), "did you mean claim? `visualizer verbs` lists them."),
        (("verbs", "zzz"), "There is no verb or named step zzz. `visualizer verbs` lists them."),
        (("--them", "x"), "Usage: visualizer [LESSON] [OPTIONS]"),
    ],
)
def test_misuse_is_2_and_a_sentence(shell: Shell, arguments: tuple[str, ...], sentence: str) -> None:
    ended = shell(*arguments)
    assert (ended.code, ended.out) == (2, b"")
    assert sentence in ended.complaint
    assert "Traceback" not in ended.complaint


# Ids ------------------------------------------------------------------------------------------------------------------


def test_an_id_is_explained(shell: Shell) -> None:
    ended = shell("id", "USR0KHTOWnGLuC")
    assert ended.code == 0
    said = dict(line.split(maxsplit=1) for line in ended.lines)
    assert (said["namespace"], said["node"], said["sequence"]) == ("USR", "0", "0")
    assert said["placement"] == "234878118  (hash)"
    assert said["value"] == "274557032793636864  (Snowflake)"
    assert said["minted"] == "2026-01-27T15:11:37.641Z"


def test_an_id_is_minted(shell: Shell) -> None:
    first, second = (shell("id", "--mint", "JOB").out.strip() for _ in range(2))
    assert is_job_id(first)
    assert first < second


# Doctor ---------------------------------------------------------------------------------------------------------------


def test_the_doctor_finds_all_well(shell: Shell) -> None:
    ended = shell("doctor")
    assert (ended.code, ended.err) == (0, b"")
    marks = {line.split()[1]: line.split()[0] for line in ended.lines}
    needed = ("python", "scripts", "lessons", "ids", "valkey", "fakeredis", "walk")
    assert [marks[what] for what in needed] == ["ok"] * len(needed)
    assert marks["terminal"] == "--", "a test's output is no terminal"
    assert sum("enqueued, claimed, completed; " in line for line in ended.lines) == 2
    assert any(version in line for line in ended.lines for version in ("Valkey 9", "Valkey 1"))


def test_an_engine_that_does_not_open_is_told_with_the_way_out(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(spec: str, **_: object) -> None:
        raise EngineError(f"{spec} found no folder. Set TMPDIR.")

    monkeypatch.setattr(doctor, "open_engine", refuse)
    ended = shell("doctor")
    assert ended.code == 1
    assert "no  valkey    valkey found no folder. Set TMPDIR." in ended.lines


def test_a_platform_without_the_wheel_is_well(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "server_binary", lambda: None)
    ended = shell("doctor")
    assert ended.code == 0
    assert any(line.startswith("--  valkey") and "fakeredis" in line for line in ended.lines)


def test_an_id_codec_that_is_wrong_is_1(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "self_check", lambda: [("a vector", False)])
    ended = shell("doctor")
    assert ended.code == 1
    assert any(line.startswith("no  ids") and "a vector" in line for line in ended.lines)


def test_an_old_python_is_not_well() -> None:
    assert doctor.python((3, 10, 9)).well is False
    assert "3.11 or newer" in doctor.python((3, 10, 9)).says
    assert doctor.python((3, 11, 0)).well is True


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "well", "words"),
    [
        ({"TERM": "xterm-256color"}, True, "256 colours"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, True, "true colour"),
        ({"TERM": "linux"}, True, "16 colours"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, True, "no colours"),
        ({"TERM": "dumb"}, None, "--plain"),
        ({}, True, "TERM is not set"),
    ],
)
def test_a_terminal_is_described(environment: dict[str, str], well: bool | None, words: str) -> None:
    (finding,) = doctor.terminal([FakeTerminal()] * 3, environment)
    assert finding.well is well
    assert words in finding.says


@pytest.mark.parametrize(
    ("columns", "lines", "well", "words"),
    [
        ("120", "36", True, "120×36,"),
        ("70", "20", True, "at 80×24"),
        ("30", "40", None, "40×15"),
        ("80", "9", None, "40×15"),
    ],
)
def test_a_small_terminal_is_told(
    monkeypatch: pytest.MonkeyPatch, columns: str, lines: str, well: bool | None, words: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("LINES", lines)
    (finding,) = doctor.terminal([FakeTerminal()] * 3, {"TERM": "xterm"})
    assert finding.well is well
    assert words in finding.says


@pytest.mark.parametrize("stream", [1, 2])
def test_an_encoding_without_our_signs_is_told(stream: int) -> None:
    streams = [FakeTerminal() for _ in range(3)]
    streams[stream].encoding = "latin-1"
    *_, finding = doctor.terminal(streams, {"TERM": "xterm"})
    assert (finding.what, finding.well) == ("encoding", None)
    assert "latin-1" in finding.says
    assert "PYTHONUTF8=1" in finding.says


def test_errors_that_go_elsewhere_are_no_terminal() -> None:
    (finding,) = doctor.terminal([FakeTerminal(), FakeTerminal(), io.StringIO()], {"TERM": "xterm"})
    assert finding.says.startswith("not one")


def test_one_file_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.lua").write_text("")
    monkeypatch.setattr(doctor, "lua_folder", lambda: tmp_path)
    scripts, lessons = doctor.files()
    assert scripts.says == f"1 file in {tmp_path}"
    assert lessons.says.split(" in ")[0].removesuffix("s").endswith(" file")


# The screen, and help -------------------------------------------------------------------------------------------------


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
    from visualizer.cli import opening

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
    from visualizer.cli import opening

    monkeypatch.setattr(opening, "sys", FakeSystem(FakeTerminal(), FakeTerminal(), FakeTerminal()))
    monkeypatch.setenv("TERM", "dumb")
    assert "TERM says dumb" in (opening.why_no_screen() or "")
    monkeypatch.setenv("TERM", "xterm")
    assert opening.why_no_screen() is None


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("stream", [1, 2])
def test_an_encoding_that_is_not_utf_8_is_told(monkeypatch: pytest.MonkeyPatch, encoding: str, stream: int) -> None:
    from visualizer.cli import opening

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


def test_the_help_names_every_command_and_option(shell: Shell) -> None:
    ended = shell("--help")
    assert (ended.code, ended.err) == (0, b"")
    text = ended.out.decode()
    for name, command in visualizer.commands.items():
        assert (name in text) != command.hidden
    for option in ("--path", "--engine", "--queue", "--pace", "--theme", "--plain", "--take-over"):
        assert option in text
    assert "Usage: visualizer [LESSON] [OPTIONS]" in text


@pytest.mark.parametrize("name", [name for name, command in visualizer.commands.items() if not command.hidden])
def test_every_command_has_help(shell: Shell, name: str) -> None:
    ended = shell(name, "--help")
    assert (ended.code, ended.err) == (0, b"")
    assert f"Usage: visualizer {name}" in ended.out.decode()


def test_the_version_is_told(shell: Shell) -> None:
    ended = shell("--version")
    assert ended.code == 0
    assert ended.lines[0].startswith("visualizer, version ")


def slow_imports() -> Iterator[tuple[str, ...]]:
    yield ("lessons",)
    yield ("script", "leased/claim")
    yield ("id", "JOB0KHTOWnGLuC")
    yield ("walk", "states-as-locations", "--path", "happy", "--engine", "fakeredis")


@pytest.mark.parametrize("arguments", slow_imports(), ids=" ".join)
def test_no_command_without_a_screen_imports_textual(arguments: tuple[str, ...]) -> None:
    program = (
        "import sys; from visualizer.cli import run; code = run(sys.argv[1:]); "
        "assert code == 0, code; assert 'textual' not in sys.modules"
    )
    ended = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_json_of_the_lessons_is_one_object_a_line(shell: Shell) -> None:
    for line in shell("lessons", "--json").lines:
        assert isinstance(msgspec.json.decode(line), dict)
