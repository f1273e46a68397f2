"""What tests of the core share: walks on an engine, a tap on what the engine sends, values read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from redis import exceptions

from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.machine import MACHINES
from visualizer.model import Frame, Step
from visualizer.readout import readout
from visualizer.spans import Line
from visualizer.walk import Walker

LEASED = MACHINES["leased"]
GUESS, RIVAL, THIRD = b"JOB0KHTOWnGLuC", b"JOB0KHTOYgD5Um", b"JOB0KHTOfMv2X2"
GROUP = b"PRT0KHTOfMv2X2"
LANE = f"g:{GROUP.decode()}:pending"
HOUR_MS = 3_600_000


def space_on(engine: Engine) -> Keyspace:
    return Keyspace(engine.queue, LEASED.row_prefix)


def walker_on(engine: Engine, *captured: bytes, **options: Any) -> Walker:
    """A walk of the leased machine; without ids, GUESS is captured."""
    return Walker(engine, LEASED, space_on(engine), captured or (GUESS,), **options)


def take(walker: Walker, do: str, job: bytes | None = GUESS, /, **given: Any) -> Frame:
    """Takes one step and answers its frame."""
    payload = given.pop("payload_bytes", b"payload")
    frame = walker.take(Step(do, job, given, payload)).frame
    assert frame is not None
    return frame


def claimed(walker: Walker, job: bytes = GUESS, lease_ms: int = HOUR_MS) -> Frame:
    """A fresh job, claimed by w1."""
    take(walker, "enqueue", job)
    return take(walker, "claim", job, worker="w1", lease_ms=lease_ms)


def lines(walker: Walker, frame: Frame | None = None) -> tuple[Line, ...]:
    """The readout of a frame of the walk, the last one where none is given."""
    frame = frame or walker.walk.frames[-1]
    return readout(LEASED, frame, walker.walk.frames[: frame.number - 1])


def texts(walker: Walker, frame: Frame | None = None) -> list[str]:
    return [line.text for line in lines(walker, frame)]


def held(engine: Engine) -> dict[bytes, tuple[bytes, int]]:
    """Every key of the queue: its dump, and when it expires (-1: never)."""
    client: Any = engine.client
    keys = sorted(client.scan_iter(match=engine.pattern, count=1000))
    return {key: (client.dump(key), client.pexpiretime(key)) for key in keys}


class Tap:
    """Stands in the engine's way of sending: keeps the words of every call, and can act around them.

    ``before`` and ``after`` are asked with the words; what ``instead`` answers, where it is not None, is the reply and
    nothing is sent. ``lose`` is a word: the reply to the next call that holds it is lost, though the call was sent.
    """

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self._send = engine.send
        self.sent: list[tuple[Any, ...]] = []
        self.lose: Any = None
        self.before: Callable[[tuple[Any, ...]], None] = lambda _: None
        self.after: Callable[[tuple[Any, ...]], None] = lambda _: None
        self.instead: Callable[[tuple[Any, ...]], Any] = lambda _: None
        monkeypatch.setattr(engine, "send", self)

    def __call__(self, *words: Any) -> Any:
        self.sent.append(words)
        self.before(words)
        answer = self.instead(words)
        if answer is not None:
            if isinstance(answer, Exception):
                raise answer
            return answer
        reply = self._send(*words)
        self.after(words)
        if self.lose is not None and self.lose in words:
            self.lose = None
            raise exceptions.ConnectionError("Connection closed by server.")
        return reply

    def commands(self) -> list[Any]:
        return [words[0] for words in self.sent]
