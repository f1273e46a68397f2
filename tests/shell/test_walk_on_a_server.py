"""``visualizer walk`` on a server that is not ours: it leaves nothing behind and touches nothing of others."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.shell.conftest import ENQUEUE, HEAD, PATH, SMALL, Server, Shell, step

Written = Callable[[str], str]


def test_a_walk_leaves_nothing_behind(shell: Shell, lesson_file: Written, server: Server) -> None:
    ended = shell("walk", lesson_file(SMALL), "--engine", server.url)
    assert (ended.code, ended.err) == (0, b"")
    assert any(line.startswith("JOB0KHTOWnGLuC enters pending.") for line in ended.lines)
    assert not any(line.startswith("The queue ") for line in ended.lines), "no scan outside our own engines"
    assert server.names() == set()


@pytest.mark.parametrize("spec", [(), ("--take-over",)])
def test_a_queue_of_others_is_refused_and_untouched(
    shell: Shell, lesson_file: Written, server: Server, spec: tuple[str, ...]
) -> None:
    server.client.zadd(b"emq:{small}:pending", {b"JOB0KHTOWnGLuC": 0})
    before = server.client.dump(b"emq:{small}:pending")
    ended = shell("walk", lesson_file(SMALL), "--engine", server.url, *spec)
    assert (ended.code, ended.out) == (2, b"")
    assert "emq:{small}:pending" in ended.complaint
    assert server.names() == {b"emq:{small}:pending"}
    assert server.client.dump(b"emq:{small}:pending") == before
    assert shell("walk", lesson_file(SMALL), "--engine", server.url, "--queue", "other").code == 0


def test_a_path_that_needs_our_own_server_is_2(shell: Shell, lesson_file: Written, server: Server) -> None:
    flush = PATH.format(name="flush") + ENQUEUE + step("flush_scripts", 'outcome = "flushed"')
    ended = shell("walk", lesson_file(HEAD + flush), "--engine", server.url)
    assert ended.code == 2
    assert "The path flush was not played: " in ended.complaint
    assert server.names() == set()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_walk_that_is_ended_leaves_nothing_behind(
    lesson_file: Written, server: Server, number: signal.Signals
) -> None:
    long = HEAD + PATH.format(name="long") + ENQUEUE + step("time_passes", 'outcome = "passed"', "ms = 600000")
    command = [sys.executable, "-m", "visualizer", "walk", lesson_file(long), "--engine", server.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith(b"laws "):
            assert process.poll() is None
        assert b"emq:{small}:pending" in server.names()
        process.send_signal(number)
        process.wait(timeout=60)
    assert server.names() == set()
