"""The engine that runs scripts: what every kind of it can do, and its errors.

This module and `embedded` import only the standard library, so that a server can be spawned before anything slow is
imported.
"""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import redis

    from visualizer.model import Issued

Kind = Literal["valkey", "fakeredis", "url"]
Feature = Literal["flush_scripts", "restart", "scan", "debug", "watch"]

# How many keys one SCAN looks at and one deletion names: large enough to be quick, small enough to block nobody.
BATCH = 500

# An instant no lesson reaches (the year 2100): where a key's own expiry waits for a lesson's clock.
_FAR_MS = 4_102_444_800_000

Command = tuple[bytes | str | int, ...]


class EngineError(Exception):
    """An engine cannot do what was asked; the message is a sentence with the cause and, where it can, a way out."""


class EngineGone(EngineError):
    """The engine cannot be reached any more. ``may_have_run`` says that the last call may have run on the server."""

    def __init__(self, sentence: str, *, may_have_run: bool) -> None:
        super().__init__(sentence)
        self.may_have_run = may_have_run


class QueueLostError(EngineGone):
    """The queue on a server by URL is not ours any more: nothing is sent to it, and a new engine has to be opened."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, may_have_run=False)


class Watch:
    """What one script call issued: known when `Engine.watching` ends, None where it cannot be told.

    Whoever sends the call sets ``lost`` where no reply came: nothing more is waited for then.
    """

    issued: tuple[Issued, ...] | None = None
    lost = False


class Engine(ABC):
    """A server that runs scripts, with one client to it and one queue on it.

    ``client`` speaks bytes, sends nothing by itself and never sends a call twice. ``label`` is the product and its
    version (``Valkey 9.1.2``); ``shown_url`` is empty where the engine is our own, and never holds a password.
    ``loaded`` are the SHA-1s of the scripts that the server is known to hold: whoever loads scripts by another way than
    `send` adds them, and everything that may have emptied the server's cache empties it. ``sent_bytes`` counts what
    `send` has put on the socket, protocol and all.
    """

    kind: Kind
    real: bool
    own: bool
    owner_key: bytes | None = None
    owner_token: bytes | None = None
    shown_url: str = ""
    _secrets: tuple[str, ...] = ()

    def __init__(self, client: redis.Redis, queue: str, base: bytes, label: str) -> None:
        self.client = client
        self.queue = queue
        self.base = base
        self.label = label
        self.loaded: set[str] = set()
        self.sent_bytes = 0
        self._held_keys = 0
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
        """Raises EngineGone when nothing may be sent any more."""
        if self._closed:
            sentence = f"{self.called[:1].upper()}{self.called[1:]} is closed; open the lesson again."
            raise EngineGone(sentence, may_have_run=False)

    def send(self, *words: bytes | str | int) -> Any:
        """Sends one command on a connection kept for the walk, once, and answers the reply as it came.

        It costs less than the client's own way, which asks its pool and its observers about every command. What goes
        wrong is raised as redis-py raises it. Which scripts the server holds is noted in ``loaded``. One caller at a
        time.
        """
        self.check()
        wire = self._wire
        if wire is None:
            wire = self._kept_wire()
        elif not self.own:
            _renew_if_closed(wire)
        try:
            packed = wire.pack_command(*words)
            wire.send_packed_command(packed)
            self.sent_bytes += sum(map(len, packed))
            reply = wire.read_response()
        except BaseException as failure:
            if not _is_answer(failure):
                # A reply that comes late must not be taken for the next one's.
                wire.disconnect()
            elif _is_forgotten(failure):
                self.loaded.clear()
            raise
        if words[0] == "SCRIPT":
            self._note_scripts(words[1], reply)
        return reply

    def _kept_wire(self) -> Any:
        """The connection that `send` uses, connected by now."""
        if self._wire is None:
            self._wire = self.client.connection_pool.get_connection()
        return self._wire

    def watching(self) -> contextlib.AbstractContextManager[Watch]:
        """Watches the one script call that the block sends by `send`, and does nothing to it.

        Where `may` says no, or the watching fails, the watch has nothing to tell, and no error is raised.
        """
        return contextlib.nullcontext(Watch())

    def _note_scripts(self, what: bytes | str | int, reply: Any) -> None:
        if what == "LOAD" and isinstance(reply, bytes):
            self.loaded.add(reply.decode())
        elif what == "FLUSH":
            self.loaded.clear()

    def hold_clock(self) -> bool:
        """Leaves the expiry of keys to a lesson's own clock; False where the engine cannot."""
        return False

    def hold_key(self, key: bytes) -> int:
        """Keeps one key from expiring by the server's clock; answers the far instant at which it would.

        No two answers are alike, so a key that was set anew can be told from one that was not.
        """
        self._held_keys += 1
        instant_ms = _FAR_MS + self._held_keys
        self.send("PEXPIREAT", key, instant_ms)
        return instant_ms

    def expire_now(self, key: bytes) -> None:
        """Lets a key expire at once, as the server does it."""
        self.send("PEXPIREAT", key, 1)

    def hold(self, names: Iterable[bytes]) -> None:  # noqa: ARG002
        """Notes, before a call is sent, which keys of the queue it may write; EngineError when it may not be sent."""
        self.check()

    def owner_lost(self, seen: bytes | None) -> str | None:  # noqa: ARG002
        """Why nothing more may be sent, given the owner key as an observation read it; None while all is well."""
        return None

    def restart(self) -> None:
        """Stops and starts the server; it comes back empty. EngineError where `may` says no."""
        raise EngineError(self.may("restart") or f"{self.called} cannot be restarted.")

    def clear_queue(self) -> None:
        """Deletes the queue's keys: all of them on an engine of our own, only those we wrote elsewhere."""
        self.check()
        for names in scan(self.client, self.pattern):
            if names:
                self.client.unlink(*names)

    def put_back(self, dumps: Mapping[bytes, tuple[bytes, int]], gone: Iterable[bytes]) -> None:
        """Makes each key of ``dumps`` what DUMP gave, and deletes those of ``gone``, all in one transaction.

        A dump stands with the instant in ms at which its key expires (0: never); a lapsed one leaves no key. On a
        server by URL only keys that were noted as ours are touched, and QueueLostError is raised where the queue is no
        longer ours: then nothing was touched. EngineError where the server cannot be reached or refuses.
        """
        self.check()
        deleted = tuple(gone)
        commands = [self._restoring(key, dump, expires_at_ms) for key, (dump, expires_at_ms) in dumps.items()]
        if deleted:
            commands.insert(0, ("DEL", *deleted))
        if not commands:
            return
        from redis.exceptions import RedisError  # imported late: the engine has loaded it by now

        pipeline: Any = self.client.pipeline(transaction=True)
        for command in commands:
            pipeline.execute_command(*command)
        try:
            pipeline.execute()
        except RedisError as error:
            raise self.failure(error) from error

    def _restoring(self, key: bytes, dump: bytes, expires_at_ms: int) -> Command:
        """The command that puts a key back; a lapsed instant leaves no key."""
        return ("RESTORE", key, expires_at_ms, dump, "REPLACE", "ABSTTL")

    def failure(self, error: Exception, *, reading: bool = False) -> EngineError:
        """A client's exception as an EngineError that says it in a sentence (EngineGone for a lost connection).

        ``reading`` says that only a reading was under way, before a step: then the step was not sent, and the sentence
        says so.
        """
        from visualizer.engine.failure import failure  # imported late: it needs redis

        return failure(error, self.called, self.base, self._secrets, reading=reading)

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


def _is_answer(failure: BaseException) -> bool:
    from redis.exceptions import ResponseError

    return isinstance(failure, ResponseError)


def _is_forgotten(failure: BaseException) -> bool:
    """Whether the server does not know a script: something has emptied its cache, so that no other is known either."""
    from redis.exceptions import NoScriptError

    return isinstance(failure, NoScriptError)


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
