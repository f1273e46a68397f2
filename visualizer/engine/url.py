"""An engine on a server that is not ours: every rule that keeps it unharmed is applied here."""

from __future__ import annotations

import atexit
import socket
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import redis
from redis import exceptions

from visualizer.engine.access import check_access
from visualizer.engine.address import Address, read_address
from visualizer.engine.base import Engine, EngineError, Feature, QueueLostError
from visualizer.engine.client import client_of, label_of
from visualizer.engine.failure import at_first, failure
from visualizer.engine.ownership import Ownership
from visualizer.visible import visible

GREETING_SECONDS = 1.0

_REFUSALS: dict[Feature, str] = {
    "restart": "A server named by its URL is never restarted from here; this step needs --engine valkey.",
    "flush_scripts": "The scripts of a server named by its URL are never flushed, since others may use them; "
    "this step needs --engine valkey or fakeredis.",
    "scan": "On a server named by its URL only the queue's own keys are read; this needs --engine valkey or fakeredis.",
    "watch": "What a script issues is not watched on a server named by its URL, since that would show every client's "
    "commands; this needs --engine valkey or fakeredis.",
    "debug": "The script debugger is not used on a server named by its URL; this needs --engine valkey.",
}


def open_url(url: str, queue: str, base: bytes, take_over: bool) -> UrlEngine:
    """Connects, checks that the server will do what a lesson needs, and makes the queue ours. EngineError if not."""
    address = read_address(url)
    called = f"the server at {address.shown}"
    try:
        return UrlEngine(address, queue, base, take_over)
    except exceptions.RedisError as error:
        raise failure(error, called, base, address.secrets) from error


class UrlEngine(Engine):
    """An engine on the server of a URL. It touches the keys of one queue, and of those only what it wrote itself."""

    kind = "url"
    real = True
    own = False

    def __init__(self, address: Address, queue: str, base: bytes, take_over: bool) -> None:
        self._address = address
        self.shown_url = address.shown
        self._secrets = address.secrets
        client = _connect(address, self.check)
        super().__init__(client, queue, base, "")
        self._ownership = Ownership(lambda: _connect(address), queue, base, self.pattern, self.called)
        self.owner_key = self._ownership.owner_key
        self.owner_token = self._ownership.token
        try:
            self.label = self._first_answer()
            _refuse_replica(client, self.called)
            leftover = self._ownership.look(take_over)
            check_access(client, self.owner_key, base, self.called, address.user or "default")
            self._ownership.claim(leftover)
        except BaseException:
            self._closed = True
            client.close()
            self._ownership.abandon()
            raise
        atexit.register(self.close)

    @property
    def called(self) -> str:
        return f"the server at {self.shown_url}"

    def may(self, feature: Feature) -> str | None:
        return _REFUSALS.get(feature)

    def throwaway(self) -> Engine:
        from visualizer.engine import private_engine

        return private_engine(self.queue, self.base)

    def check(self) -> None:
        super().check()
        if self._ownership.lost is not None:
            raise QueueLostError(self._ownership.lost)

    def hold(self, names: Iterable[bytes]) -> None:
        self.check()
        try:
            self._ownership.hold(names)
        except exceptions.RedisError as error:
            raise self.failure(error) from error

    def owner_lost(self, seen: bytes | None) -> str | None:
        if seen == self.owner_token and self._ownership.lost is None:
            return None
        return self._ownership.lose(seen)

    def clear_queue(self) -> None:
        self.check()
        try:
            self._ownership.clear()
        except exceptions.RedisError as error:
            raise self.failure(error) from error

    def put_back(self, dumps: Mapping[bytes, tuple[bytes, int]], gone: Iterable[bytes]) -> None:
        self.check()
        gone = tuple(gone)
        # What was never noted was not written by us: it is neither deleted nor overwritten.
        ours = self._ownership.noted({*dumps, *gone})
        commands = [self._restoring(key, *dump) for key, dump in dumps.items() if key in ours]
        if deleted := tuple(key for key in gone if key in ours):
            commands.insert(0, ("DEL", *deleted))
        try:
            self._ownership.run(commands)
        except exceptions.RedisError as error:
            raise self.failure(error) from error

    def _first_answer(self) -> str:
        """The server's label, from the first question it is asked."""
        try:
            return label_of(self.client)
        except exceptions.NoPermissionError:
            return "a server that does not tell its version"
        except exceptions.RedisError as error:
            told = at_first(error, self._address.tls, self.called)
            if told is None:
                raise
            greeting = _greeting(self._address)
            raise (self.failure(exceptions.ResponseError(greeting)) if greeting else told) from error

    def _close(self) -> str | None:
        atexit.unregister(self.close)
        self.client.close()
        return self._ownership.release()


def _connect(address: Address, gate: Callable[[], None] | None = None) -> redis.Redis:
    kinds = {"unix": redis.UnixDomainSocketConnection}
    kind: type[Any] = kinds.get(address.scheme, redis.SSLConnection if address.tls else redis.Connection)
    return client_of(kind, address.settings, gate)


def _greeting(address: Address) -> str:
    """The error that a server says at once to those it will not serve (too many clients, protected mode), else "".

    It then ends the connection, and that end is all that redis-py tells of.
    """
    if address.unix:
        return ""
    try:
        with socket.create_connection((address.settings["host"], address.settings["port"]), GREETING_SECONDS) as wire:
            said = wire.recv(512)
    except OSError:
        return ""  # it waits for a question, as it should
    return said[1:].decode(errors="replace").strip() if said.startswith(b"-") else ""


def _refuse_replica(client: redis.Redis, called: str) -> None:
    try:
        facts: dict[str, Any] = client.info("replication")
    except exceptions.NoPermissionError:
        return  # then the first refused write tells
    if facts.get("role") == "slave":
        primary = visible(f"{facts.get('master_host')}:{facts.get('master_port')}")
        raise EngineError(
            f"{called[:1].upper()}{called[1:]} is a replica, and what is written to a replica is lost. "
            f"Name its primary in the URL: {primary}."
        )
