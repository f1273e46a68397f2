"""The engine that runs scripts: what every kind of it can do, and its two errors.

This module and `embedded` import only the standard library, so that a server can be spawned before anything slow is
imported.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import redis

Kind = Literal["valkey", "fakeredis", "url"]
Feature = Literal["flush_scripts", "restart", "scan", "debug"]

# How many keys one SCAN looks at and one deletion names: large enough to be quick, small enough to block nobody.
BATCH = 500


class EngineError(Exception):
    """An engine cannot do what was asked; the message is a sentence with the cause and, where it can, a way out."""


class EngineGone(EngineError):
    """The engine cannot be reached any more. ``may_have_run`` says that the last call may have run on the server."""

    def __init__(self, sentence: str, *, may_have_run: bool) -> None:
        super().__init__(sentence)
        self.may_have_run = may_have_run


class Engine(ABC):
    """A server that runs scripts, with one client to it and one queue on it.

    ``client`` speaks bytes, sends nothing by itself and never sends a call twice. ``label`` is the product and its
    version (``Valkey 9.1.2``); ``shown_url`` is empty where the engine is our own, and never holds a password.
    """

    kind: Kind
    real: bool
    own: bool
    owner_key: bytes | None = None
    owner_token: bytes | None = None
    shown_url: str = ""

    def __init__(self, client: redis.Redis, queue: str, base: bytes, label: str) -> None:
        self.client = client
        self.queue = queue
        self.base = base
        self.label = label
        self._closed = False
        self._process = os.getpid()
        self._wire: Any = None

    @property
    def badge(self) -> str:
        """``REAL`` or ``EMULATED``."""
        return "REAL" if self.real else "EMULATED"

    @property
    @abstractmethod
    def called(self) -> str:
        """What a sentence calls this engine."""

    @property
    def pattern(self) -> bytes:
        """The glob that matches every key of the queue and nothing else."""
        return escaped(self.base) + b"*"

    @abstractmethod
    def may(self, feature: Feature) -> str | None:
        """None where the engine allows the feature, else the sentence that says why not."""

    @abstractmethod
    def throwaway(self) -> Engine:
        """A fresh private engine of our own with the same queue name; the caller closes it."""

    def check(self) -> None:
        """Raises EngineError when nothing may be sent any more."""
        if self._closed:
            raise EngineError(f"{self.called[:1].upper()}{self.called[1:]} is closed; open the lesson again.")

    def send(self, *words: bytes | str | int) -> Any:
        """Sends one command on a connection kept for the walk, once, and answers the reply as it came.

        It costs less than the client's own way, which asks its pool and its observers about every command. What goes
        wrong is raised as redis-py raises it. One caller at a time.
        """
        self.check()
        wire = self._wire
        if wire is None:
            wire = self._wire = self.client.connection_pool.get_connection()
        elif not self.own:
            _renew_if_closed(wire)
        try:
            wire.send_command(*words)
            return wire.read_response()
        except BaseException as failure:
            if not _is_answer(failure):
                # A reply that comes late must not be taken for the next one's.
                wire.disconnect()
            raise

    def hold(self, names: Iterable[bytes]) -> None:  # noqa: ARG002
        """Notes, before a call is sent, which keys of the queue it may write; EngineError when it may not be sent."""
        self.check()

    def owner_lost(self, seen: bytes | None) -> str | None:  # noqa: ARG002
        """Why nothing more may be sent, given the owner key as an observation read it; None while all is well."""
        return None

    def restart(self) -> None:
        """Stops and starts the server; it comes back empty. EngineError where `may` says no."""
        self._refuse("restart")
        raise NotImplementedError

    def flush_scripts(self) -> None:
        """Empties the script cache. EngineError where `may` says no."""
        self.check()
        self._refuse("flush_scripts")
        self.client.script_flush()

    def clear_queue(self) -> None:
        """Deletes the queue's keys: all of them on an engine of our own, only those we wrote elsewhere."""
        self.check()
        for names in scan(self.client, self.pattern):
            if names:
                self.client.unlink(*names)

    def restore(self, key: bytes, dump: bytes, expires_at_ms: int) -> None:
        """Puts a key back as DUMP gave it; ``expires_at_ms`` 0 means no TTL, and a lapsed one leaves no key."""
        self.hold([key])
        self.client.restore(key, expires_at_ms, dump, replace=True, absttl=True)

    def failure(self, error: Exception) -> EngineError:
        """A client's exception as an EngineError that says it in a sentence (EngineGone for a lost connection)."""
        from visualizer.engine.failure import failure  # imported late: it needs redis

        return failure(error, self.called, self.base)

    def close(self) -> str | None:
        """Ends the engine; answers a sentence where something of ours had to be left behind, else None.

        May be called again; does nothing in a forked child.
        """
        if self._closed or os.getpid() != self._process:
            return None
        self._closed = True
        return self._close()

    @abstractmethod
    def _close(self) -> str | None:
        """Called once, in the process that opened the engine."""

    def _refuse(self, feature: Feature) -> None:
        reason = self.may(feature)
        if reason is not None:
            raise EngineError(reason)


def _is_answer(failure: BaseException) -> bool:
    from redis.exceptions import ResponseError

    return isinstance(failure, ResponseError)


def _renew_if_closed(wire: Any) -> None:
    """A server may close a connection that was idle: better found out before a call than by losing its reply."""
    from redis.exceptions import ConnectionError as Broken

    try:
        unasked = wire.can_read(timeout=0)
    except (Broken, OSError):
        unasked = True
    if unasked:
        wire.disconnect()


def escaped(name: bytes) -> bytes:
    """A name as a glob that matches only that name."""
    return b"".join(b"\\" + bytes([byte]) if byte in b"\\*?[]" else bytes([byte]) for byte in name)


def scan(client: redis.Redis, pattern: bytes, count: int = BATCH) -> Iterator[list[bytes]]:
    """The keys that match, in batches that may be empty; a key may come twice, as SCAN has it."""
    cursor = 0
    while True:
        cursor, names = client.scan(cursor, match=pattern, count=count)
        yield [name for name in names if isinstance(name, bytes)]
        if not cursor:
            return
