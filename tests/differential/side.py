"""One side of the comparison: a server with one set of scripts. It runs a step and reads all that the queue then holds.

What is read is brought into one form, so that equal means equal: fields, sets and members without the order that the
server happens to keep, JSON without the order of its keys, and of a time to live only how long it roughly is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from msgspec import Struct

from tests.differential.calls import BASE, LOCK_MS, Call, Step
from tests.differential.left_out import IGNORED_KEYS, IGNORED_META
from visualizer.caller import ErrorReply

Words = tuple[bytes | str | int, ...]
# Sends commands and answers their replies; an error stands in its place.
Exchange = Callable[..., list[Any]]

READ = """
local held = {}
local keys = redis.call('KEYS', '*')
table.sort(keys)
for _, key in ipairs(keys) do
  local kind = redis.call('TYPE', key).ok
  local value = false
  if kind == 'string' then value = redis.call('GET', key)
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then value = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'stream' then value = redis.call('XLEN', key) end
  held[#held + 1] = {key, kind, redis.call('PTTL', key), value}
end
return held
"""


class Held(Struct, frozen=True):
    """One key: its type, its value in one form, and how many lock durations it lives at most (0: for ever)."""

    kind: str
    value: Any
    lives: int = 0


# Every key on the server, by what stands after the queue's base.
State = Mapping[str, Held]


class Seen(Struct, frozen=True):
    """What a step answered and what the queue held after it."""

    reply: Any
    state: State


class Side:
    """A server that holds nothing but this queue, with the scripts by name."""

    def __init__(self, exchange: Exchange, sources: Mapping[str, str]) -> None:
        self._exchange = exchange
        self._read = self._load(READ)
        self._scripts = {name: self._load(source) for name, source in sources.items()}

    @property
    def scripts(self) -> set[str]:
        """The names of its scripts."""
        return set(self._scripts)

    @contextmanager
    def having(self, sources: Mapping[str, str]) -> Iterator[None]:
        """In this block it runs other texts of some scripts; what the server has to say against one is raised."""
        before = self._scripts
        self._scripts = before | {name: self._load(source) for name, source in sources.items()}
        try:
            yield
        finally:
            self._scripts = before

    def run(self, step: Step, everything: bool = False) -> Seen:
        """Runs the step and reads, in one exchange; ``everything`` reads what is left out of the comparison as well."""
        if isinstance(step, Call):
            words: Words = ("EVALSHA", self._scripts[step.script], len(step.keys), *step.keys, *step.args)
        else:
            words = step.words
        reply, held = self._exchange(words, ("EVALSHA", self._read, 0))
        return Seen(_reply(reply), _state(held, everything))

    def put(self, state: State) -> None:
        """Makes the queue hold exactly this."""
        writes: list[Words] = [("FLUSHDB",)]
        for name, held in state.items():
            writes.append(_write(BASE + name, held))
            if held.lives:
                writes.append(("PEXPIRE", BASE + name, held.lives * LOCK_MS))
        failed = [reply for reply in self._exchange(*writes) if isinstance(reply, Exception)]
        assert failed == []

    def _load(self, source: str) -> str:
        (sha1,) = self._exchange(("SCRIPT", "LOAD", source))
        if isinstance(sha1, Exception):
            raise sha1
        return str(sha1, "ascii")


def _write(key: str, held: Held) -> Words:
    match held.kind:
        case "string":
            return ("SET", key, held.value)
        case "list":
            return ("RPUSH", key, *held.value)
        case "set":
            return ("SADD", key, *sorted(held.value))
        case "zset":
            return ("ZADD", key, *(part for member, score in held.value for part in (repr(score), member)))
        case "hash":
            return ("HSET", key, *(part for pair in held.value.items() for part in pair))
    raise AssertionError(f"{key} is a {held.kind}")


# One form -------------------------------------------------------------------------------------------------------------


def _state(entries: Sequence[Sequence[Any]], everything: bool) -> State:
    if isinstance(entries, Exception):
        raise entries
    state = {}
    for key, kind, lives_ms, value in entries:
        name = key.decode().removeprefix(BASE)
        form = _FORMS[kind](value)
        if not everything:
            if name in IGNORED_KEYS or name.startswith("metrics:"):
                continue
            if name == "meta" and kind == b"hash":
                form = {field: text for field, text in form.items() if field not in IGNORED_META}
                if not form:
                    continue
        state[name] = Held(kind.decode(), form, -(-lives_ms // LOCK_MS) if lives_ms > 0 else 0)
    return state


def _fields(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    fields = dict(zip(flat[::2], flat[1::2], strict=True))
    for name in (b"opts", b"parent"):
        if name in fields:
            fields[name] = _sorted_json(fields[name])
    return fields


@cache
def _sorted_json(text: bytes) -> bytes:
    value = json.loads(text) or {}  # fakeredis writes an empty map as an empty array
    return json.dumps(value, sort_keys=True).encode()


_FORMS: Mapping[bytes, Callable[[Any], Any]] = {
    b"string": bytes,
    b"list": tuple,
    b"set": frozenset,
    b"zset": lambda flat: tuple(zip(flat[::2], map(float, flat[1::2]), strict=True)),
    b"hash": _fields,
    b"stream": int,
}


def _reply(reply: Any) -> Any:
    """A reply in one form: a job's fields without their order, an error without the line that raised it."""
    if isinstance(reply, Exception):
        first = str(reply).partition(" ")[0]
        return ErrorReply(first if first.isupper() else "ERR")
    if isinstance(reply, list) and reply and isinstance(reply[0], list):
        return (_fields(reply[0]), *reply[1:])
    return tuple(reply) if isinstance(reply, list) else reply
