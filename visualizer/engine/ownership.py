"""Keeps one queue on a server that is not ours: whose it is, which keys on it are ours, and that no other is touched.

Two keys beside the queue's own say so. ``…visualizer:owner`` holds a random token for a minute and is renewed while
we are open. ``…visualizer:keys`` is a set without an end, to which the name of every key is added before a call may
write it: what is in it was written by a visualizer, whatever became of that one. Nothing is deleted but in a
transaction that fails when the owner key is not our token.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import redis
from redis import exceptions

from visualizer.engine.base import BATCH, Command, EngineError, QueueLostError, scan
from visualizer.engine.client import Wire, connection, exchange
from visualizer.visible import visible

OWNED_MS = 60_000
RENEW_SECONDS = 20.0
LOOK_SECONDS = 1.0
LOOK_BATCH = 2_000
NAMED_KEYS = 5
# A renewal that falls between the reading of the owner key and the transaction makes it fail, and nothing runs.
ATTEMPTS = 5


class Ownership:
    """Our hold on one queue. ``claim`` comes first; then `hold`, `clear`, `release`.

    ``connect`` makes a client; the renewing thread gets one of its own. ``called`` is the server in sentences.
    """

    def __init__(
        self, connect: Callable[[], redis.Redis], queue: str, base: bytes, pattern: bytes, called: str
    ) -> None:
        self._client = connect()
        self._connect = connect
        self._place = f"the queue {visible(queue, 40)} on {called}"
        self._base = base
        self._pattern = pattern
        self.owner_key = base + b"visualizer:owner"
        self.keys_key = base + b"visualizer:keys"
        self.token = os.urandom(16).hex().encode()
        self.lost: str | None = None
        self._held: set[bytes] = set()
        self._ended = threading.Event()
        self._renewer: threading.Thread | None = None

    def look(self, take_over: bool) -> list[bytes]:
        """The keys a killed visualizer left in the queue. EngineError where it cannot be ours; nothing is written."""
        found = self._found()
        if self._client.type(self.owner_key) == b"string":
            left = max(1, -(-int(self._client.pttl(self.owner_key)) // 1000))
            raise EngineError(
                f"Another visualizer has {self._place}. Pick another queue with --queue NAME. (If that one was killed, "
                f"its hold ends in {left} s at most.)"
            )
        return self._leftover(found, take_over)

    def claim(self, leftover: Sequence[bytes]) -> None:
        """Makes the queue ours, deletes what `look` found and keeps the hold alive. EngineError if we are late."""
        if not self._client.set(self.owner_key, self.token, nx=True, px=OWNED_MS):
            raise EngineError(f"Another visualizer took {self._place} just now. Pick another queue with --queue NAME.")
        try:
            if leftover:  # looked at again: since the first look they may have become someone else's
                self._delete(self._leftover(self._found(), take_over=True))
        except BaseException:
            self._guarded(self._client, ("DEL", self.owner_key))
            raise
        self._renewer = threading.Thread(target=self._renew, name="queue owner", daemon=True)
        self._renewer.start()

    def hold(self, names: Iterable[bytes]) -> None:
        """Notes names before they are written; one round trip for new ones, none for known ones."""
        new = [name for name in names if name not in self._held]
        if not new:
            return
        for name in new:
            if not name.startswith(self._base):
                raise ValueError(f"{visible(name)} lies outside the queue")
        self._client.sadd(self.keys_key, *new)
        self._held.update(new)

    def lose(self, seen: bytes | None) -> str:
        """Notes that the owner key was read and is not our token; answers the sentence. Nothing is sent from now on."""
        if self.lost is None:
            what = (
                "is gone (the server was emptied or restarted, or this computer slept)"
                if seen is None
                else "names another visualizer"
            )
            self.lost = (
                f"{self._place[:1].upper()}{self._place[1:]} is no longer ours: its owner key {what}. "
                f"Nothing more is sent and nothing is deleted. Start again, or pick another queue with --queue NAME."
            )
            self._ended.set()
        return self.lost

    def clear(self) -> None:
        """Deletes the keys we noted. QueueLostError when the queue is no longer ours."""
        if not self._delete(sorted(self._held)):
            raise QueueLostError(self.lose(self._owner()))

    def noted(self, names: Iterable[bytes]) -> set[bytes]:
        """Those of the names that we noted."""
        return self._held.intersection(names)

    def run(self, commands: Sequence[Command]) -> None:
        """Runs commands on keys we noted, all in one transaction; QueueLostError, and none ran, when it is not ours."""
        if commands and not self._guarded(self._client, *commands, ("PEXPIRE", self.owner_key, OWNED_MS)):
            raise QueueLostError(self.lose(self._owner()))

    def release(self) -> str | None:
        """Deletes what we wrote and gives the queue up. Answers a sentence when something had to be left behind."""
        self._ended.set()
        if self._renewer is not None:
            self._renewer.join(timeout=1)
        try:
            ours = (
                self.lost is None
                and self._delete(sorted(self._held))
                and self._guarded(self._client, ("DEL", self.keys_key), ("DEL", self.owner_key))
            )
        except exceptions.RedisError:
            ours = False
        finally:
            self._client.close()
        if ours or not self._held:
            return None
        return (
            f"Keys may have been left in {self._place}: it could not be reached, or it is no longer ours. "
            f"The next start there with --take-over deletes them."
        )

    def abandon(self) -> None:
        """Ends what `claim` never began."""
        self._ended.set()
        self._client.close()

    # Reading and deleting ---------------------------------------------------------------------------------------------

    def _found(self) -> list[bytes]:
        """Every key of the queue; EngineError when they cannot be looked through in time."""
        deadline = time.monotonic() + LOOK_SECONDS
        found: dict[bytes, None] = {}
        for batch in scan(self._client, self._pattern, LOOK_BATCH):
            if time.monotonic() > deadline:
                raise EngineError(
                    f"Whether {self._place} is free is not known: the server holds more keys than can be looked "
                    f"through in {LOOK_SECONDS:.0f} s. Name another database of it, or a smaller server."
                )
            found.update(dict.fromkeys(batch))
        return list(found)

    def _leftover(self, found: Sequence[bytes], take_over: bool) -> list[bytes]:
        """What was found, without the owner key, when all of it was written by a visualizer and may be deleted."""
        names = [
            name for name in found if name != self.owner_key or self._client.type(name) not in (b"string", b"none")
        ]
        ours = self._ours(names)
        foreign = [name for name in names if name not in ours]
        if foreign:
            raise EngineError(
                f"{self._place[:1].upper()}{self._place[1:]} holds keys that no visualizer wrote: {_named(foreign)}. "
                f"They are left alone. Pick another queue with --queue NAME."
            )
        if names and not take_over:
            raise EngineError(
                f"{self._place[:1].upper()}{self._place[1:]} holds what a killed visualizer left behind: "
                f"{_named(names)}. Delete that and start with --take-over, or pick another queue with --queue NAME."
            )
        return names

    def _ours(self, names: Sequence[bytes]) -> set[bytes]:
        """Those of the names that a visualizer wrote. A keys set of another type is someone else's key."""
        if self._client.type(self.keys_key) != b"set":
            return set()
        ours = {self.keys_key} & set(names)
        with connection(self._client) as wire:
            for batch in _batches(names):
                known = exchange(wire, *(("SISMEMBER", self.keys_key, name) for name in batch))
                ours.update(name for name, answer in zip(batch, known, strict=True) if answer == 1)
        return ours

    def _delete(self, names: Sequence[bytes]) -> bool:
        """Deletes in batches, each only while the queue is ours; False when it is not, and then nothing more."""
        return all(
            self._guarded(self._client, ("DEL", *batch), ("PEXPIRE", self.owner_key, OWNED_MS))
            for batch in _batches(names)
        )

    def _guarded(self, client: redis.Redis, *commands: Command) -> bool:
        """Runs commands in one transaction that the server refuses unless the owner key is our token all along.

        False when it is not our token: then nothing ran.
        """
        with connection(client) as wire:
            for _ in range(ATTEMPTS):
                if _answered(wire, ("WATCH", self.owner_key), ("GET", self.owner_key)) != self.token:
                    exchange(wire, ("UNWATCH",))
                    return False
                _answered(wire, ("MULTI",))  # on its own: without a transaction the rest would run unguarded
                replies = _answered(wire, *commands, ("EXEC",))
                if replies is not None:
                    _raise_first_error(replies)
                    return True
        raise exceptions.WatchError("the owner key never kept still")

    def _owner(self, client: redis.Redis | None = None) -> bytes | None:
        seen = (client or self._client).get(self.owner_key)
        return seen if isinstance(seen, bytes) else None

    def _renew(self) -> None:
        client = self._connect()
        while not self._ended.wait(RENEW_SECONDS):
            try:
                if not self._guarded(client, ("PEXPIRE", self.owner_key, OWNED_MS)):
                    self.lose(self._owner(client))
            except exceptions.RedisError:
                continue  # the hold outlives two rounds; when it ends, the next reading tells
        client.close()


def _answered(wire: Wire, *commands: Command) -> Any:
    """The last command's reply. Its error is raised; errors of those before it make EXEC fail as well."""
    reply = exchange(wire, *commands)[-1]
    if isinstance(reply, exceptions.ResponseError):
        raise reply
    return reply


def _raise_first_error(replies: Iterable[Any]) -> None:
    """A transaction runs on when one of its commands fails, and its answer then holds the error."""
    for reply in replies:
        if isinstance(reply, exceptions.ResponseError):
            raise reply


def _batches(names: Iterable[bytes]) -> Iterable[list[bytes]]:
    rest = iter(names)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _named(names: Sequence[bytes]) -> str:
    shown = ", ".join(visible(name, 60) for name in sorted(names)[:NAMED_KEYS])
    more = len(names) - NAMED_KEYS
    return f"{shown} and {more:,} more" if more > 0 else shown
