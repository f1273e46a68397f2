"""``visualizer check``: every lesson of ours is true, and every broken or untrue one is refused with its own reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shell.conftest import CLAIM, COMPLETE, ENQUEUE, HEAD, PATH, SMALL, Shell, step
from visualizer.lesson import all_lessons

LESSONS = Path(__file__).parents[1] / "lessons"
REFUSED = sorted((*LESSONS.glob("broken/*.toml"), *LESSONS.glob("untrue/*.toml")))

Written = Callable[[str], str]


def wants(file: Path) -> list[str]:
    """The reasons that a refused lesson names in its first lines."""
    return re.findall(r"^# wants: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_every_lesson_is_true(shell: Shell, spec: str) -> None:
    ended = shell("check", "--engine", spec)
    assert (ended.code, ended.err) == (0, b"")
    left_out = [line for line in ended.lines if line.startswith("not played  ")]
    played = [line for line in ended.lines if line.startswith("ok  ")]
    assert len(played) == len(all_lessons())
    assert len(ended.lines) == len(played) + len(left_out)
    # Only a server of its own can be restarted.
    assert [re.findall(r"\(path (\S+)\)", line) for line in left_out] == ([["restart"]] if spec == "fakeredis" else [])


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_faulty_lesson_is_refused_with_its_reason(shell: Shell, file: Path) -> None:
    ended = shell("check", str(file), "--engine", "fakeredis")
    assert (ended.code, ended.err) == (1, b"")
    assert wants(file)
    for reason in wants(file):
        assert any(reason in line for line in ended.lines), ended.out.decode()
    assert all(line.startswith(str(file)) for line in ended.lines), "nothing else is told"


def test_there_are_refused_lessons() -> None:
    assert {file.parent.name for file in REFUSED} == {"broken", "untrue"}


def test_one_faulty_lesson_does_not_hide_the_others(shell: Shell, lesson_file: Written) -> None:
    ended = shell("check", *map(str, REFUSED), lesson_file(SMALL), "--engine", "fakeredis")
    assert ended.code == 1
    for file in REFUSED:
        assert any(line.startswith(str(file)) for line in ended.lines)
    assert ended.lines[-1].startswith("ok  ")
    assert "1 path, 3 steps, on fakeredis" in ended.lines[-1]


def test_every_failed_announcement_is_a_line(shell: Shell, lesson_file: Written) -> None:
    wrong = (
        HEAD + PATH.format(name="first") + ENQUEUE + PATH.format(name="second") + COMPLETE + CLAIM.replace("w1", "w2")
    )
    ended = shell("check", lesson_file(wrong.replace('token = "w1"', "token = 1")), "--engine", "fakeredis")
    assert ended.code == 1
    places = {line.split(".toml:")[1].split(": announced")[0] for line in ended.lines}
    lines = [number for number, line in enumerate(wrong.splitlines(), 1) if line == "[[paths.steps]]"]
    assert places == {
        f"{lines[1]}: paths[2].steps[1] (path second, step 1 · complete)",
        f"{lines[2]}: paths[2].steps[2] (path second, step 2 · claim)",
    }
    assert any("announced refused nothing, read 0" in line for line in ended.lines)
    assert any("announced enters active, read nothing" in line for line in ended.lines)


def test_two_files_of_one_name_are_refused(shell: Shell, tmp_path: Path) -> None:
    files = [tmp_path / folder / "small.toml" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(SMALL, encoding="utf-8")
    ended = shell("check", *map(str, files), "--engine", "fakeredis")
    assert ended.code == 1
    assert f"{files[1]}: a second lesson called small; the first is {files[0]}" in ended.lines


def test_a_path_that_cannot_be_played_here_is_told(shell: Shell, lesson_file: Written) -> None:
    restart = PATH.format(name="restarts") + step("restart_server", 'outcome = "restarted"')
    ended = shell("check", lesson_file(SMALL + restart), "--engine", "fakeredis")
    assert (ended.code, ended.err) == (0, b"")
    (not_played,) = [line for line in ended.lines if line.startswith("not played  ")]
    assert "paths[2] (path restarts): fakeredis lives in this process" in not_played
    assert ended.lines[-1].endswith("1 path, 3 steps, on fakeredis 2.41.0; 1 path not played")


def test_a_lesson_of_which_nothing_can_be_played_is_not_ok(shell: Shell, lesson_file: Written) -> None:
    restart = PATH.format(name="restarts") + step("restart_server", 'outcome = "restarted"')
    ended = shell("check", lesson_file(HEAD + restart), "--engine", "fakeredis")
    assert (ended.code, ended.err) == (0, b"")
    assert [line.split()[:2] for line in ended.lines] == [["not", "played"]]
    assert "fakeredis lives in this process" in ended.lines[0]


def test_a_file_that_is_not_there_is_2(shell: Shell) -> None:
    ended = shell("check", "nowhere.toml")
    assert (ended.code, ended.out) == (2, b"")
    assert "There is no lesson file nowhere.toml." in ended.complaint


def test_a_deadline_that_cannot_be_kept_is_a_fault(
    shell: Shell, lesson_file: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    from visualizer.walk import Walker

    monkeypatch.setattr(Walker, "server_now_ms", lambda _: 2**60)
    later = step("schedule", 'enters = ["schedule"]\noutcome = "scheduled"', "delay_ms = 60000")
    early = step("promote", 'outcome = "promoted"', more='needs = "not_due"')
    ended = shell("check", lesson_file(HEAD + PATH.format(name="p") + later + early), "--engine", "fakeredis")
    assert ended.code == 1
    assert "paths[1] (path p): step 2 (promote) only teaches before its deadline" in ended.lines[0]


def test_a_change_between_two_steps_names_the_path_and_both(
    shell: Shell, lesson_file: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    from visualizer.model import Step, Walk
    from visualizer.walk import Walker

    take = Walker.take

    def disturbed(walker: Walker, taken: Step, note: str = "") -> Walk:
        if taken.do == "claim":
            walker._engine.client.zadd(b"emq:{check}:dead", {b"JOB0KHTOWnGLuC": 0})
        return take(walker, taken, note)

    monkeypatch.setattr(Walker, "take", disturbed)
    ended = shell("check", lesson_file(SMALL), "--engine", "fakeredis")
    assert ended.code == 1
    between = [line for line in ended.lines if "paths[1] (path only): between steps 1 and 2: the law " in line]
    assert between
