"""Every benchmark runs and prints its lines; what it measures at this size says nothing, and is not looked at."""

from __future__ import annotations

import os
import re
import sys
from time import process_time

import pytest

from tests.benchmarks.__main__ import BENCHMARKS, main
from tests.benchmarks.figures import Finding, interleaved, p95
from tests.benchmarks.processes import usage
from visualizer.engine.embedded import server_binary

FIGURE = r"-?[\d.,e-]+ \S+"
OURS = rf"[^·]+: {FIGURE}( \(p95 {FIGURE}\))?"
LINE = re.compile(rf"{OURS}( · bare {FIGURE})?( · {FIGURE})? · bar (p95 )?≤ {FIGURE} · (holds|misses)( · .+)?")


@pytest.mark.skipif(server_binary() is None, reason="every benchmark needs the embedded Valkey")
@pytest.mark.parametrize("name", BENCHMARKS)
def test_it_prints_a_line_for_each_finding(name: str) -> None:
    lines = [finding.line() for finding in BENCHMARKS[name](0.002)]
    assert lines
    for line in lines:
        assert LINE.fullmatch(line), line


def test_a_bar_on_the_ratio_is_judged_by_the_ratio() -> None:
    assert Finding("x", ours=13.0, bar=1.3, bare=10.0, by_ratio=True).holds
    assert not Finding("x", ours=13.1, bar=1.3, bare=10.0, by_ratio=True).holds


def test_a_bar_on_the_worst_is_judged_by_the_95th_percentile() -> None:
    assert Finding("x", ours=3.0, bar=16.0, worst=16.0).holds
    assert not Finding("x", ours=3.0, bar=16.0, worst=16.1).holds
    assert p95([*range(100)]) == 95


def test_things_are_timed_in_turn_and_the_first_turn_is_not_counted() -> None:
    done: list[str] = []
    ours, bare = interleaved(2, lambda: done.append("a"), lambda: done.append("b"))
    assert done == ["a", "b"] * 3
    assert (len(ours), len(bare)) == (2, 2)


def test_a_name_that_is_none_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wire-cal"]) == 2
    assert "wire-call, observation" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_a_process_has_used_is_read() -> None:
    seen = usage(os.getpid())
    assert abs(seen.cpu_seconds - process_time()) < 1
    assert 2**20 < seen.resident_bytes < 2**40
