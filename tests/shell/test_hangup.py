"""A terminal that goes away takes the program with it, at whatever moment."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

pty = pytest.importorskip("pty", reason="this system has no pseudo terminals")

# A signal's exit code, or the signal itself where it comes before the program listens for it; 0 where the end of the
# input is noticed first.
LEFT = (128 + signal.SIGHUP, -signal.SIGHUP, 0)
_SECONDS = 40


def ended(pid: int) -> int:
    """How the process ended; AssertionError where it has not after far more than it may take."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError("the program outlived its terminal")


@pytest.mark.parametrize("read_bytes", [1, 4_000, 20_000])
def test_a_terminal_that_goes_away_ends_the_program(read_bytes: int) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="120", LINES="36")
        os.execv(sys.executable, [sys.executable, "-m", "visualizer", "states-as-locations"])
    got = 0
    while got < read_bytes:
        got += len(os.read(terminal, 4_096))
    os.close(terminal)
    assert ended(pid) in LEFT
