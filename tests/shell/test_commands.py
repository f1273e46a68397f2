"""The small commands: lessons, script, id, help; and how a misuse is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.shell.conftest import Shell
from visualizer.cli.commands import visualizer
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


# Help ---------------------------------------------------------------------------------------------------------------


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
