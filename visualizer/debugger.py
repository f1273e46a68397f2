"""Steps one script under the server's own Lua debugger, over a socket of its own.

It speaks to a throw-away private server and to no other: a connection that is armed for debugging and goes away at the
wrong moment can end the server. The session is forked, so what the script writes is seen inside the session alone. One
caller at a time.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import hiredis
from msgspec import Struct

from visualizer.caller import ErrorReply

# A server reads at most 16 KiB at once. Arming and EVAL have to arrive together, or another client's EVAL could be
# taken for ours; and a debugger command of 1,024 bytes or more ends the session by an assertion.
START_BYTES = 16_000
COMMAND_BYTES = 1_023
# What one answer of the debugger may take: it answers in well under a millisecond.
ANSWER_SECONDS = 10.0

Words = Sequence[bytes | str | int]

_STOPPED = re.compile(rb"^->[# ] ?(\d+)")
_VALUE = re.compile(rb"^<value> (.+?) = (.*)$", re.DOTALL)


class DebuggerError(Exception):
    """The debugger cannot go on; the message is a sentence part. The session is over."""


class TooLargeError(DebuggerError):
    """What should be sent is longer than the debugger takes. Nothing was sent."""


class Ran(Struct, frozen=True):
    """One command that the script ran: as the debugger prints it (cut, unquoted), and its exact reply."""

    text: bytes
    reply: Any

    @property
    def name(self) -> str:
        return self.text.partition(b" ")[0].decode("ascii", "replace").upper()


class At(Struct, frozen=True):
    """Where the debugger stands: before that line, or at the script's end (``line`` 0, with its ``reply``).

    ``ran`` are the commands that ran since it stood elsewhere. ``cut`` tells that the reply did not arrive whole: a
    server may end a session before it has written all of a long one.
    """

    line: int
    ran: tuple[Ran, ...] = ()
    reply: Any = None
    cut: bool = False

    @property
    def ended(self) -> bool:
        return self.line == 0


class Local(Struct, frozen=True):
    """One local variable as the debugger prints it; a number of more than six digits is rounded there."""

    name: str
    text: bytes


def packed(*commands: Words) -> bytes:
    """Commands as they go over the wire."""
    pack: Any = hiredis.pack_command  # its types allow one word only
    return b"".join(
        pack(tuple(word if isinstance(word, bytes) else str(word).encode() for word in command)) for command in commands
    )


def starting(source: str, keys: Sequence[bytes], args: Sequence[bytes]) -> bytes:
    """The one write that arms the debugger and starts the script. TooLargeError where it cannot be one write."""
    armed = packed(("SCRIPT", "DEBUG", "YES"), ("EVAL", source, len(keys), *keys, *args))
    if len(armed) > START_BYTES:
        raise TooLargeError(f"the call is {len(armed):,} bytes long, and the debugger takes {START_BYTES:,}")
    return armed


class Session:
    """One script in the debugger, stopped before its first line once it is made.

    DebuggerError where the server goes away or answers what cannot be; TooLargeError before anything was sent.
    """

    def __init__(self, socket_path: str, source: str, keys: Sequence[bytes], args: Sequence[bytes]) -> None:
        armed = starting(source, keys, args)
        self._reader = hiredis.Reader(notEnoughData=_NOTHING)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_SECONDS)
        self.over = False
        try:
            self._connect(socket_path)
            self._send(armed)
            self.at = self._standing(self._lines())
            if not self.over:
                self._exchange("maxlen", 0)
        except BaseException:
            self.close()
            raise

    def step(self) -> At:
        """Runs the line at which the script stands, calls included, and answers where it stands then."""
        if not self.over:
            self.at = self._standing(self._exchange("step"))
        return self.at

    def locals(self) -> tuple[Local, ...]:
        """The local variables of the running function, the outer blocks' first; functions and loop counters of the
        interpreter's own are left out."""
        found = [match for match in map(_VALUE.match, self._exchange("print")) if match]
        named = [(match[1].decode("utf-8", "replace"), match[2]) for match in found]
        return tuple(
            Local(name, text)
            for name, text in named
            if not name.startswith("(") and not text.lstrip().startswith(b'"function@')
        )

    def look(self, *words: bytes | str | int) -> Any:
        """Runs a reading command inside the session, which sees what the script has written; its reply."""
        if b"" in words or "" in words:
            raise DebuggerError("a command with an empty word would end the session")
        for ran in _ran(self._exchange("redis", *words)):
            return ran.reply
        raise DebuggerError("the debugger gave a command no reply")

    def close(self) -> None:
        """Ends the session wherever it stands: the forked child goes when its connection does."""
        self.over = True
        self._socket.close()

    # The wire ---------------------------------------------------------------------------------------------------------

    def _connect(self, socket_path: str) -> None:
        try:
            self._socket.connect(socket_path)
        except OSError as failure:
            self._lost(failure)

    def _exchange(self, *words: bytes | str | int) -> list[bytes]:
        command = packed(words)
        if len(command) > COMMAND_BYTES:
            raise TooLargeError(f"a command of {len(command):,} bytes is more than the debugger's {COMMAND_BYTES:,}")
        self._send(command)
        return self._lines()

    def _standing(self, lines: list[bytes]) -> At:
        """Where the script stands after these lines, with what ran before."""
        ran = tuple(_ran(lines))
        if b"<endsession>" in lines:
            try:
                return At(0, ran, self._reply_at_end())
            except DebuggerError:
                return At(0, ran, cut=True)
            finally:
                self.close()
        stopped = [int(match[1]) for match in map(_STOPPED.match, lines) if match]
        if not stopped:
            raise DebuggerError(f"the debugger answered {lines!r}, which names no line")
        return At(stopped[-1], ran)

    def _reply_at_end(self) -> Any:
        self._read()  # SCRIPT DEBUG's own OK arrives only now
        return _with_errors(self._read())

    def _lines(self) -> list[bytes]:
        answer = self._read()
        if not isinstance(answer, list):
            raise DebuggerError(f"the debugger answered {answer!r}")
        return answer

    def _send(self, command: bytes) -> None:
        try:
            self._socket.sendall(command)
        except OSError as failure:
            self._lost(failure)

    def _read(self) -> Any:
        while (answer := self._parsed()) is _NOTHING:
            try:
                arrived = self._socket.recv(65_536)
            except OSError as failure:
                self._lost(failure)
            if not arrived:
                self._lost(None)
            self._reader.feed(arrived)
        return answer

    def _parsed(self) -> Any:
        try:
            return self._reader.gets()
        except hiredis.ProtocolError as failure:
            self.close()
            raise DebuggerError(f"the debugger answered no reply at all: {failure}") from failure

    def _lost(self, failure: OSError | None) -> None:
        self.close()
        why = "gave no answer" if isinstance(failure, TimeoutError) else "is gone"
        raise DebuggerError(f"the private server {why}") from failure


_NOTHING = object()


def _with_errors(reply: Any) -> Any:
    """A reply with its errors, inner ones too, as the core has them."""
    if isinstance(reply, list):
        return [_with_errors(item) for item in reply]
    return ErrorReply(str(reply)) if isinstance(reply, hiredis.ReplyError) else reply


def _ran(lines: Sequence[bytes]) -> Iterator[Ran]:
    command = None
    for line, following in zip_longest(lines, lines[1:], fillvalue=b""):
        mark, _, rest = line.partition(b" ")
        if mark in (b"<command>", b"<redis>"):
            command = rest
        elif mark == b"<reply>" and command is not None:
            reply = parse_reply(rest)
            # An error is printed like the string "-ERR …"; that it is one says the line after it.
            failed = following.startswith(b"<error>") and isinstance(reply, bytes)
            yield Ran(command, ErrorReply(reply[1:].decode("utf-8", "replace")) if failed else reply)
            command = None


# The debugger's own way of writing a reply ----------------------------------------------------------------------------

_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b'"': b'"', b"\\": b"\\"}
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"|(-?\d+)|(NULL|\(null\))|([\[\],])', re.DOTALL)


def parse_reply(text: bytes) -> Any:
    """A reply as the debugger prints it: bytes, an int, None, or a list of these. A status stands as ``+OK``, an error
    as ``-ERR …``. DebuggerError where it is none of these.
    """
    value, end = _value(text, 0)
    if end != len(text):
        raise DebuggerError(f"the debugger printed {text!r}, which is no reply")
    return value


def _value(text: bytes, at: int) -> tuple[Any, int]:
    match = _TOKEN.match(text, at)
    if match is None or match[4] in (b"]", b","):
        raise DebuggerError(f"the debugger printed {text[at:]!r}, which is no reply")
    quoted, number, _, bracket = match.groups()
    if quoted is not None:
        return _unquoted(quoted), match.end()
    if number is not None:
        return int(number), match.end()
    if bracket is None:
        return None, match.end()
    items: list[Any] = []
    at = match.end()
    if text[at : at + 1] == b"]":
        return items, at + 1
    while True:
        item, at = _value(text, at)
        items.append(item)
        mark, at = text[at : at + 1], at + 1
        if mark == b"]":
            return items, at
        if mark != b",":
            raise DebuggerError(f"the debugger printed {text!r}, which is no reply")


def _unquoted(quoted: bytes) -> bytes:
    def plain(match: re.Match[bytes]) -> bytes:
        escape = match[1]
        return bytes([int(escape[1:], 16)]) if len(escape) == 3 else _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(plain, quoted)
