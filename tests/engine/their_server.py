"""A server of somebody else's, in tests: what is on it, and what an engine of ours may do to it."""

from __future__ import annotations

from collections.abc import Callable

import redis

from visualizer.engine import Engine
from visualizer.engine.url import UrlEngine

BASE = b"emq:{cm}:"
OWNER = BASE + b"visualizer:owner"
KEYS = BASE + b"visualizer:keys"
FOREIGN = {b"other": b"1", b"emq:{cn}:pending": b"1", b"emq:{cm}": b"1", b"emq:{cmx}:job:1": b"1", b"xemq:{cm}:a": b"1"}

Opener = Callable[..., Engine]


def abandon(engine: Engine, admin: redis.Redis) -> None:
    """What a killed visualizer leaves: its keys, and an owner key that has run out."""
    assert isinstance(engine, UrlEngine)
    engine._ownership._ended.set()  # the renewing thread dies with the process
    admin.delete(OWNER)


def put(engine: Engine, *names: bytes) -> None:
    """Writes keys the way every caller does: noted first."""
    engine.hold([BASE + name for name in names])
    for name in names:
        engine.client.set(BASE + name, b"1")
