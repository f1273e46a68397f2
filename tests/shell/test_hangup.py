"""A terminal that goes away takes the program with it, at whatever moment."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
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


# The program, with a terminal's driver that never lets go: what Textual does where its thread has died.
STUCK = """
import time
from textual.drivers.linux_driver import LinuxDriver
from visualizer.tui import app
app._LEAVING_SECONDS = 0.5
LinuxDriver.close = lambda self: time.sleep(600)
from visualizer.cli import run
raise SystemExit(run(["states-as-locations"]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_whatever_waits_for_the_terminal(number: signal.Signals) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="120", LINES="36")
        os.execv(sys.executable, [sys.executable, "-c", STUCK])
    got = b""
    while b"enqueue" not in got:
        got += os.read(terminal, 4_096)
    os.kill(pid, number)
    reader = threading.Thread(target=_read_on, args=(terminal,), daemon=True)
    reader.start()
    assert ended(pid) == 128 + number
    os.close(terminal)


def _read_on(terminal: int) -> None:
    """Takes what is still written, so that nobody waits for a full terminal."""
    with contextlib.suppress(OSError):  # the terminal ends with the program
        while os.read(terminal, 4_096):
            pass


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
