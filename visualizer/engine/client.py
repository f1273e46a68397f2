"""Makes redis-py clients that speak bytes, send nothing by themselves and never send a call twice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import redis
from redis import exceptions
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from visualizer.visible import visible

# One connection; redis-py leaves most of its methods without types.
Wire = Any


def quiet() -> dict[str, Any]:
    """The connection settings that every client of ours has.

    RESP2: replies are the same on every server, scores stay the text that was sent, and nothing arrives unasked. The
    rest turns off what redis-py does by itself: retries, health checks, its CLIENT SETINFO and CLIENT
    MAINT_NOTIFICATIONS.
    """
    return {
        "protocol": 2,
        "decode_responses": False,
        "retry": Retry(NoBackoff(), 0),
        "retry_on_timeout": False,
        "health_check_interval": 0,
        "driver_info": None,
    }


def unix_client(path: str, answer_seconds: float) -> redis.Redis:
    """A client to a unix socket; a reply that takes longer than ``answer_seconds`` counts as lost."""
    return client_of(redis.UnixDomainSocketConnection, {"path": path, "socket_timeout": answer_seconds})


class GatedRedis(redis.Redis):
    """A client that asks ``gate`` before it sends anything; the gate raises where nothing may be sent."""

    gate: Callable[[], None]

    def execute_command(self, *args: Any, **options: Any) -> Any:
        self.gate()
        return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # redis-py gives it no types

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:
        self.gate()
        return super().pipeline(transaction, shard_hint)


def client_of(
    connection_class: type[Any], settings: Mapping[str, Any], gate: Callable[[], None] | None = None
) -> redis.Redis:
    """A client with a pool of such connections, which it closes with itself; ``gate`` is asked before each call."""
    pool = redis.ConnectionPool(
        connection_class=connection_class,
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
        **{**settings, **quiet()},
    )
    client = GatedRedis(connection_pool=pool)
    client.gate = gate or _open
    client.auto_close_connection_pool = True
    return client


def _open() -> None:
    """The gate that lets everything pass."""


@contextlib.contextmanager
def connection(client: redis.Redis) -> Iterator[Wire]:
    """One connection of the client's pool, for calls that belong together. It is closed when anything goes wrong."""
    wire: Wire = client.connection_pool.get_connection()
    try:
        yield wire
    except BaseException:
        wire.disconnect()
        raise
    finally:
        client.connection_pool.release(wire)


def exchange(wire: Wire, *commands: tuple[bytes | str | int, ...]) -> list[Any]:
    """Sends commands at once and reads all their replies; an error reply is returned in its place, not raised."""
    wire.send_packed_command(wire.pack_commands(commands))
    return [_reply(wire) for _ in commands]


def _reply(wire: Wire) -> Any:
    try:
        return wire.read_response()
    except exceptions.ResponseError as error:
        return error


def label_of(client: redis.Redis) -> str:
    """What the server calls itself and its version: ``Valkey 9.1.2``."""
    facts: Mapping[str, Any] = client.info("server")
    for field, product in (
        ("valkey_version", "Valkey"),
        ("dragonfly_version", "Dragonfly"),
        ("redis_version", "Redis"),
    ):
        if field in facts:
            return f"{product} {visible(str(facts[field]), 40)}"
    return "a server without a version"
