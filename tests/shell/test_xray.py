"""``visualizer xray``: one step's script line by line, in text and as JSON, and what it says where there is none."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.serving import needs_server
from tests.shell.conftest import CLAIM, ENQUEUE, HEAD, PATH, SMALL, Shell, step
from visualizer.debugger import DebuggerError
from visualizer.script import load
from visualizer.xray import Stop, Xray

Written = Callable[[str], str]
WAITS = HEAD + PATH.format(name="waits") + ENQUEUE + step("time_passes", 'outcome = "passed"', "ms = 1")


@needs_server
def test_each_line_is_told_with_what_both_sides_see(shell: Shell, lesson_file: Written) -> None:
    ended = shell("xray", lesson_file(SMALL), "--step", "2")
    assert (ended.code, ended.err) == (0, b"")
    script = load("leased/claim")
    assert f"inside {script.name}.lua · a preview on a copy: the lesson is unchanged" in ended.lines[0]
    assert script.sha1 in ended.lines[1]
    assert "KEYS 1  pending = emq:{small}:pending" in ended.lines
    popped = next(at for at, line in enumerate(ended.lines) if "redis.call('ZPOPMIN', pending)" in line)
    ran, local, inside, outside = ended.lines[popped + 1 : popped + 5]
    assert "ZPOPMIN emq:{small}:pending" in ran
    assert "leaves pending" in ran
    assert local.split() == ["local", "+", "id", "JOB0KHTOWnGLuC"]
    assert inside.split(" | ")[0].split(None, 1) == ["inside", "JOB0KHTOWnGLuC is in no set"]
    assert outside.split(" | ")[0].split(None, 1) == ["outside", "JOB0KHTOWnGLuC is in pending"]
    assert ended.lines[-1].endswith("now every client sees what it wrote")


@needs_server
def test_json_is_one_object_a_stop(shell: Shell, lesson_file: Written) -> None:
    ended = shell("xray", lesson_file(SMALL), "--step", "2", "--json")
    stops: list[dict[str, Any]] = [json.loads(line) for line in ended.lines]
    assert ended.code == 0
    assert [stop["stop"] for stop in stops] == list(range(1, len(stops) + 1))
    source = load("leased/claim").lines
    for stop in stops[:-1]:
        assert stop["source"] == source[stop["line"] - 1]
    for before, after in itertools.pairwise(stops):
        assert after["ran_line"] == before["line"]
    popped = next(stop for stop in stops if stop["commands"])
    assert popped["commands"] == [{"command": "ZPOPMIN emq:{small}:pending", "reply": ["JOB0KHTOWnGLuC", "0"]}]
    assert (popped["inside"]["holds_id"], popped["outside"]["holds_id"]) == ([], ["pending"])
    assert popped["changed"] == ["id"]
    assert [name for name, _ in popped["keys"]] == ["pending", "active"]
    assert (stops[-1]["ended"], stops[-1]["inside"], stops[-1]["outside"]["holds_id"]) == (True, None, ["active"])
    assert stops[-1]["reply"] == ["JOB0KHTOWnGLuC", {"hex": "836804"}, 1]


@needs_server
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_copy_that_dies_is_a_sentence_after_what_was_read(
    shell: Shell, lesson_file: Written, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    def breaks_off(xray: Xray) -> Stop:
        xray.step()
        raise DebuggerError("the private server is gone")

    monkeypatch.setattr(Xray, "to_end", breaks_off)
    ended = shell("xray", lesson_file(SMALL), "--step", "2", *more)
    assert (ended.code, ended.err) == (
        2,
        b"The preview broke off: the private server is gone. The lesson is untouched.\n",
    )
    assert any("local pending, active = KEYS[1], KEYS[2]" in line for line in ended.lines)


@needs_server
@pytest.mark.parametrize("number", ["0", "4", "-1"])
def test_a_step_that_there_is_not_is_named_with_those_there_are(
    shell: Shell, lesson_file: Written, number: str
) -> None:
    ended = shell("xray", lesson_file(SMALL), "--step", number)
    assert (ended.code, ended.lines) == (2, [])
    assert ended.err.decode() == f"The path only has steps 1 to 3, and --step says {number}.\n"


@needs_server
def test_a_step_without_a_script_has_no_inside(shell: Shell, lesson_file: Written) -> None:
    ended = shell("xray", lesson_file(WAITS), "--step", "2")
    assert (ended.code, ended.lines) == (2, [])
    assert b"runs no script, so there is no inside." in ended.err


def test_the_emulation_tells_what_the_script_issued(shell: Shell, lesson_file: Written) -> None:
    claimed = HEAD + PATH.format(name="only") + ENQUEUE + CLAIM
    ended = shell("xray", lesson_file(claimed), "--step", "2", "--engine", "fakeredis")
    assert ended.code == 2
    assert b"fakeredis has no script debugger" in ended.err
    assert ended.lines[0].startswith("Instead, what leased/claim.lua issued when it ran")
    assert any('ZPOPMIN pending → ["JOB0KHTOWnGLuC", "0"]' in line for line in ended.lines)
