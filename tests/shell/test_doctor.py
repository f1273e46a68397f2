"""``visualizer doctor``: each thing that is needed here is looked at, and is well or told with the way out."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.shell.conftest import FakeTerminal, Shell
from visualizer import doctor
from visualizer.engine import EngineError, embedded


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
