"""What a lesson of one machine cannot ask for, because only the other one has it: refused when the lesson is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lessons.writing import HEAD, PATH, STEP, step
from visualizer.lesson import LessonFaults, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS

CORE_HEAD = HEAD.replace('machine = "leased"', 'machine = "core"')


def faults(folder: Path, *parts: str) -> list[tuple[str, str]]:
    """The key and the reason of each fault of a lesson, none where it loads."""
    file = folder / "written.toml"
    file.write_text("".join(parts), encoding="utf-8")
    try:
        load(file, MACHINES, NAMED_STEPS)
    except LessonFaults as refused:
        return [(fault.key, fault.reason) for fault in refused.faults]
    return []


@pytest.mark.parametrize("do", ["wait_until_due", "wait_until_lapsed", "naive_enqueue", "naive_claim_flag"])
def test_the_core_machine_has_no_such_step(tmp_path: Path, do: str) -> None:
    [(key, reason)] = faults(tmp_path, CORE_HEAD, PATH, step("addStandardJob"), step(do))
    assert key == "paths[1].steps[2].do"
    assert f"“{do}”" in reason or do in reason


@pytest.mark.parametrize("do", ["heartbeat_starts", "heartbeat_stops", "sweeps_start", "sweeps_stop"])
def test_the_leased_machine_has_no_such_actor(tmp_path: Path, do: str) -> None:
    [(key, reason)] = faults(tmp_path, HEAD, PATH, step("enqueue"), step(do))
    assert key == "paths[1].steps[2].do"
    assert do in reason


@pytest.mark.parametrize(
    "do", ["heartbeat_starts", "sweeps_start", "time_passes", "kill_worker", "restart_server", "flush_scripts"]
)
def test_the_core_machine_has_these(tmp_path: Path, do: str) -> None:
    given = {"time_passes": "ms = 5", "kill_worker": 'worker = "w1"'}.get(do, "")
    assert faults(tmp_path, CORE_HEAD, PATH, step("moveToActive"), step(do, given)) == []


@pytest.mark.parametrize("needs", ["not_due", "lease_running"])
def test_a_core_lesson_has_no_deadline_to_keep_ahead(tmp_path: Path, needs: str) -> None:
    """Its clock stands still while the reader takes their time."""
    asking = STEP.format(do="addStandardJob", given="", expect="").replace('ask = "a"', f'ask = "a"\nneeds = "{needs}"')
    [(key, reason)] = faults(tmp_path, CORE_HEAD, PATH, asking)
    assert key == "paths[1].steps[1].needs"
    assert reason == "a lesson of the core machine has no such deadline to keep ahead"
