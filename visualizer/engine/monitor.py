r"""What a script of ours issues on our own private server, heard by MONITOR on a connection of its own.

MONITOR tells every client's commands, so this is for a server that has no other clients. A line of it reads
``1700000000.123456 [0 lua] "ZADD" "emq:{q}:active" "1" "\x83h"``: the commands of a script are marked ``lua``.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator
from typing import Any

import redis
from redis import exceptions

from visualizer.engine.base import Watch
from visualizer.model import Issued

Words = tuple[bytes, ...]

_BY_A_SCRIPT = re.compile(rb"\d+\.\d+ \[\d+ lua\] ")
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED = re.compile(rb"\\(?:x([0-9a-f]{2})|(.))", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b"}


def words_of(quoted: bytes) -> Words:
    """The words that stand quoted in a line, byte for byte as they were sent."""
    return tuple(_ESCAPED.sub(_byte, word) for word in _QUOTED.findall(quoted))


def _byte(escape: re.Match[bytes]) -> bytes:
    in_hex, character = escape.groups()
    return bytes.fromhex(in_hex.decode()) if in_hex is not None else _NAMED.get(character, character)


def words_of_a_script(line: bytes) -> Words | None:
    """The command in a line where a script issued it, else None."""
    head = _BY_A_SCRIPT.match(line)
    return words_of(line[head.end() :]) if head is not None else None


@contextlib.contextmanager
def monitored(client: redis.Redis) -> Iterator[Watch]:
    """Listens while the block sends one call; afterwards the watch has what its script issued.

    Whatever goes wrong with the listening is no concern of the call: the watch then has nothing to tell.
    """
    watch = Watch()
    wire = _listening(client)
    try:
        yield watch
        if wire is not None and not watch.lost:
            watch.issued = _heard(wire)
    finally:
        if wire is not None:
            wire.disconnect()  # out of monitor mode, and nothing that comes late is taken for a reply
            client.connection_pool.release(wire)


def _listening(client: redis.Redis) -> Any:
    """A connection in monitor mode; None where there is none to be had."""
    wire: Any = None
    try:
        wire = client.connection_pool.get_connection()
        wire.send_command("MONITOR")
        wire.read_response()
    except (exceptions.RedisError, OSError):
        if wire is not None:
            wire.disconnect()
            client.connection_pool.release(wire)
        return None
    return wire


def _heard(wire: Any) -> tuple[Issued, ...] | None:
    """What scripts have issued since the wire listens; None where the connection breaks.

    The lines of a call may come after its reply, so an ECHO with a random word marks where they end.
    """
    marker = secrets.token_hex(16).encode()
    ending = b'"ECHO" "' + marker + b'"'
    issued: list[Issued] = []
    try:
        wire.send_command("ECHO", marker)
        while True:
            line = wire.read_response()
            if line == marker or line.endswith(ending):
                return tuple(issued)
            words = words_of_a_script(line)
            if words is not None:
                issued.append(Issued(words))
    except (exceptions.RedisError, OSError):
        return None
