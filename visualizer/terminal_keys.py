"""Reads one key at a time from a terminal, or one line at a time from anything else, as key names.

Names are those of the table of actions: ``right``, ``question_mark``, ``n``.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Protocol, TextIO

NAMES = {
    " ": "space",
    "\r": "enter",
    "\n": "enter",
    "\t": "tab",
    "?": "question_mark",
    ".": "full_stop",
    "+": "plus",
    "=": "equals_sign",
    "-": "minus",
    "\x04": "end_of_input",
    "\x1b": "escape",
    "\x1b[C": "right",
    "\x1bOC": "right",
    "\x1b[D": "left",
    "\x1bOD": "left",
    "\x1b[H": "home",
    "\x1bOH": "home",
    "\x1b[1~": "home",
    "\x1b[7~": "home",
    "\x1b[F": "end",
    "\x1bOF": "end",
    "\x1b[4~": "end",
    "\x1b[8~": "end",
}
# What Windows sends after a first byte 00 or e0.
WINDOWS_NAMES = {"M": "right", "K": "left", "G": "home", "O": "end"}
ESCAPE = b"\x1b"
# How long the bytes of one key may be apart on a slow line.
SEQUENCE_SECONDS = 0.05


class Keys(Protocol):
    """Where keys come from."""

    def press(self) -> str | None:
        """The name of the next key, None when there are no more."""
        ...

    def line(self) -> str | None:
        """A line that is typed and ended with enter, without its end; None when esc left it or there are no more."""
        ...


class LineKeys:
    """Keys from a stream that is no terminal: one a line, its name or its character. An empty line is enter.

    Where a line is asked for, one that is the key esc leaves.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def press(self) -> str | None:
        text = self._next()
        if text is None:
            return None
        word = text.strip() or "enter"
        return NAMES.get(word, word)

    def line(self) -> str | None:
        text = self._next()
        return None if text is not None and NAMES.get(text, text) == "escape" else text

    def _next(self) -> str | None:
        text = self._stream.readline()
        return text.rstrip("\r\n") if text else None


@contextlib.contextmanager
def keys_of(stream: TextIO) -> Iterator[Keys]:
    """The keys of standard input: single presses where it is a terminal, which is left as it was found."""
    if not stream.isatty():
        yield LineKeys(stream)
    elif sys.platform == "win32":
        yield WindowsKeys(stream)
    else:
        terminal = TerminalKeys(stream)
        try:
            yield terminal
        finally:
            terminal.restore()


if sys.platform == "win32":
    import msvcrt

    class WindowsKeys(LineKeys):
        """Keys of a Windows console."""

        def press(self) -> str | None:
            character = msvcrt.getwch()
            if character in "\x00\xe0":
                return WINDOWS_NAMES.get(msvcrt.getwch(), "unknown")
            if character == "\x03":
                raise KeyboardInterrupt
            return NAMES.get(character, character)

else:
    import select
    import termios
    import tty

    # Where a terminal's attributes hold the local modes.
    LOCAL_FLAGS = 3

    class TerminalKeys(LineKeys):
        """Keys of a terminal, which shows nothing of them; ``ctrl+c`` still interrupts."""

        def __init__(self, stream: TextIO) -> None:
            super().__init__(stream)
            self._descriptor = stream.fileno()
            self._found = termios.tcgetattr(self._descriptor)
            # What was typed behind the end of a line, before the line was read.
            self._ahead = b""

        def press(self) -> str | None:
            # Set before every key: a shell gives the terminal back in its own mode after a stop.
            tty.setcbreak(self._descriptor, termios.TCSANOW)
            data = self._byte()
            if not data:
                return None
            if data == ESCAPE:
                return NAMES.get((data + self._rest_of_sequence()).decode("ascii", "replace"), "unknown")
            while data[0] >= 0xC0 and len(data) < 4 and self._more():
                data += self._byte()
            character = data.decode("utf-8", "replace")
            name = NAMES.get(character, character)
            return None if name == "end_of_input" else name

        def line(self) -> str | None:
            # The terminal edits the line and shows it; for it, esc ends one as enter does.
            *flags, characters = self._found
            characters = [*characters]
            characters[termios.VEOL] = ESCAPE
            flags[LOCAL_FLAGS] |= termios.ICANON | termios.ECHO
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, [*flags, characters])
            try:
                return self._typed_line()
            finally:
                self.restore()

        def _typed_line(self) -> str | None:
            data, self._ahead = self._ahead, b""
            while not (ended := re.match(rb"([^\n\x1b]*)([\n\x1b])", data)):
                more = os.read(self._descriptor, 4096)
                if not more:
                    return None
                data += more
            self._ahead = data[ended.end() :]
            if ended[2] == b"\n":
                return ended[1].decode("utf-8", "surrogateescape").rstrip("\r")
            tty.setcbreak(self._descriptor, termios.TCSANOW)
            self._rest_of_sequence()  # it may have been another key, whose bytes begin with esc
            with contextlib.suppress(OSError):  # a terminal that is open for reading only
                os.write(self._descriptor, b"\n")
            return None

        def _rest_of_sequence(self) -> bytes:
            """What comes at once behind an esc: the rest of one key."""
            data = b""
            while self._more() and len(data) < 7:
                data += self._byte()
                if len(data) > 1 and 0x40 <= data[-1] <= 0x7E:
                    break
            return data

        def _byte(self) -> bytes:
            """The next byte; none at the end of the input."""
            if not self._ahead:
                return os.read(self._descriptor, 1)
            first, self._ahead = self._ahead[:1], self._ahead[1:]
            return first

        def restore(self) -> None:
            """Gives the terminal its own mode back."""
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._found)

        def _more(self) -> bool:
            return bool(self._ahead or select.select([self._descriptor], [], [], SEQUENCE_SECONDS)[0])
