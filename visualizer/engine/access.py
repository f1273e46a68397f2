"""Finds out, before anything is written, whether a server lets us run what a lesson needs.

Every command is put into a transaction that is then discarded: the server checks permission, role, memory and slot
when it takes a command into the transaction, and runs none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import redis
from redis import exceptions

from visualizer.engine.base import EngineError
from visualizer.engine.client import connection, exchange
from visualizer.visible import visible

NAMED_COMMANDS = 6
# The first that know every command below.
OLDEST = "Valkey 7.2 or Redis 7.0"

# What our scripts call (tests compare this with `lua/`) and what we send beside them, with arguments of the right
# number; KEY stands for a key of the queue. PUBLISH is left out: only one verb needs it, and says so when refused.
KEY = b""
NEEDED: tuple[str, ...] = (
    "EVALSHA 0000000000000000000000000000000000000000 1 KEY",
    "SCRIPT LOAD return",
    *(
        "EXISTS KEY",
        "TYPE KEY",
        "DEL KEY",
        "DUMP KEY",
        "PTTL KEY",
        "PEXPIRE KEY 1",
        "PEXPIRETIME KEY",
        "RESTORE KEY 0 x REPLACE ABSTTL",
    ),
    *("TIME", "SCAN 0 MATCH x", "GET KEY", "SET KEY x NX PX 1"),
    *("HDEL KEY x", "HEXISTS KEY x", "HGET KEY x", "HGETALL KEY", "HINCRBY KEY x 1", "HLEN KEY", "HMGET KEY x"),
    *("HSET KEY x x", "ZADD KEY 0 x", "ZCARD KEY", "ZPOPMIN KEY", "ZRANGE KEY 0 0", "ZRANGEBYSCORE KEY 0 0"),
    *("ZRANK KEY x", "ZREM KEY x", "ZSCORE KEY x", "LLEN KEY", "LMOVE KEY KEY LEFT RIGHT", "LPOS KEY x", "LPUSH KEY x"),
    *("LRANGE KEY 0 0", "LREM KEY 0 x", "LTRIM KEY 0 0", "RPUSH KEY x", "SADD KEY x", "SCARD KEY", "SISMEMBER KEY x"),
    *("SMEMBERS KEY", "SREM KEY x", "INCR KEY", "RENAME KEY KEY", "RPOPLPUSH KEY KEY", "ZREVRANGEBYSCORE KEY 0 0"),
)
# Commands that a transaction cannot hold; tried for real, they change nothing.
OUTSIDE: tuple[str, ...] = ("WATCH KEY", "UNWATCH")


def check_access(client: redis.Redis, key: bytes, base: bytes, called: str, user: str) -> None:
    """Raises EngineError, or the server's own error, when something a lesson needs would be refused.

    ``key`` is a key of the queue that is ours; nothing is written to it. ``base`` is what the queue's keys start with,
    ``user`` the name that signed in.
    """
    with connection(client) as wire:
        outside = exchange(wire, *(_words(command, key) for command in OUTSIDE))
        begun = exchange(wire, ("MULTI",))[0]
        inside: list[object] = []
        if not isinstance(begun, Exception):  # without a transaction the commands would run
            inside = exchange(wire, *(_words(command, key) for command in NEEDED), ("DISCARD",))
    commands = (*OUTSIDE, "MULTI", *NEEDED, "DISCARD")
    refused = [
        (command, reply)
        for command, reply in zip(commands, [*outside, begun, *inside], strict=False)
        if isinstance(reply, exceptions.ResponseError)
    ]
    denied = [command for command, reply in refused if isinstance(reply, exceptions.NoPermissionError)]
    if denied:
        raise EngineError(_denied(denied, base, called, user))
    unknown = [command for command, reply in refused if str(reply).startswith("unknown command")]
    if unknown:
        raise EngineError(
            f"{called[:1].upper()}{called[1:]} does not know {_listed(unknown)}. It is too old, or has them switched "
            f"off. Name a server of {OLDEST} or newer."
        )
    if refused:
        raise refused[0][1]


def _words(command: str, key: bytes) -> tuple[bytes | str, ...]:
    return tuple(key if word == "KEY" else word for word in command.split(" "))


def _denied(commands: Sequence[str], base: bytes, called: str, user: str) -> str:
    return (
        f"{called[:1].upper()}{called[1:]} does not let the user {visible(user, 40)} run {_listed(commands)} on "
        f"{visible(base)}*. Name a user in the URL that may, or have this one allowed to."
    )


def _listed(commands: Sequence[str]) -> str:
    names = list(dict.fromkeys(_name(command) for command in commands))
    more = len(names) - NAMED_COMMANDS
    return ", ".join(names[:NAMED_COMMANDS]) + (f" and {more} more" if more > 0 else "")


def _name(command: str) -> str:
    return " ".join(command.split(" ")[: 2 if command.startswith("SCRIPT ") else 1])
