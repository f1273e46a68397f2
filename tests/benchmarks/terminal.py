"""A program in a terminal of its own: a real process under a pty, read byte by byte as a terminal would."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from time import perf_counter

SIZE = (120, 36)
PATIENCE_SECONDS = 60.0
# Control sequences: what is left of a screen without them is its words.
_CONTROL = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")


class EndedError(Exception):
    """The program has ended, and with it what could be read of it."""


class TerminalProgram:
    """A running program. ``started`` is the moment, on our clock, just before it was started."""

    def __init__(self, arguments: Sequence[str]) -> None:
        ours, theirs = pty.openpty()
        width, height = SIZE
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        # As on a learner's machine: compiled modules are kept, and the terminal can do colours.
        spoilt = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "NO_COLOR")
        environment = {name: value for name, value in os.environ.items() if name not in spoilt}
        self._terminal = ours
        self._seen = b""
        self.started = perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
        )
        os.close(theirs)

    def seconds_until(self, *words: str) -> float:
        """Reads until all these words have been painted; the seconds since the start. TimeoutError."""
        missing = {word.encode() for word in words}
        while missing:
            self._read(PATIENCE_SECONDS)
            read_at = perf_counter()
            plain = _CONTROL.sub(b"", self._seen)
            missing = {word for word in missing if word not in plain}
        return read_at - self.started

    def settle(self, seconds: float) -> None:
        """Reads on for that long, as a terminal does."""
        until = perf_counter() + seconds
        while (left := until - perf_counter()) > 0:
            if select.select([self._terminal], [], [], left)[0]:
                self._read(left)

    def press(self, key: str) -> None:
        """Sends a key and forgets what was painted before."""
        self._seen = b""
        os.write(self._terminal, key.encode())

    def end(self, key: str) -> None:
        """Ends the program by its own key, so that it takes what it started with it."""
        os.write(self._terminal, key.encode())
        try:
            while self.process.poll() is None:
                self._read(PATIENCE_SECONDS)
        except EndedError:
            pass
        finally:
            os.close(self._terminal)
            with contextlib.suppress(ProcessLookupError):
                if self.process.poll() is None:
                    self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE_SECONDS)

    def _read(self, seconds: float) -> None:
        if not select.select([self._terminal], [], [], seconds)[0]:
            raise TimeoutError(f"nothing came for {seconds:.0f} s; last was: {self._last_words()}")
        try:
            came = os.read(self._terminal, 65_536)
        except OSError:  # how Linux says that nobody else holds the terminal open any more
            came = b""
        if not came:
            raise EndedError(f"the program has ended; last was: {self._last_words()}")
        self._seen += came

    def _last_words(self) -> str:
        return _CONTROL.sub(b"", self._seen)[-400:].decode("utf-8", "replace")


@contextlib.contextmanager
def terminal_program(*arguments: str, quit_key: str = "q") -> Iterator[TerminalProgram]:
    """Starts ``python`` with these arguments in a terminal, and ends it by its quit key."""
    program = TerminalProgram(arguments)
    try:
        yield program
    finally:
        program.end(quit_key)
