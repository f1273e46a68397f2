"""The emulated engine: fakeredis, in our own process.

Its Lua is no sandbox (a script reaches ``os``, ``io`` and ``require``) and its RESTORE unpickles: it runs only scripts
of this repository and restores only what DUMP gave in the same process.

Its Lua has no ``cmsgpack``, which scripts need that take packed arguments. Ours lies in ``emulated/``; fakeredis loads
it by name, as its ``lua_modules`` says, from where LUA_PATH points. Lua reads that variable when the interpreter is
made, so it is made here at once, with LUA_PATH naming our folder alone: by its default, or after a ``;;``, Lua would
look in the folder that the user happens to be in, and run what it finds there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fakeredis
from fakeredis._helpers import SimpleError

from visualizer.engine.base import Command, Engine, Feature, Watch
from visualizer.model import Issued

# The version whose commands it is asked to know, and the one the emulation's answers are closest to.
VERSION = (9, 1)
LUA_MODULES = Path(__file__).with_name("emulated")

_REFUSALS: dict[Feature, str] = {
    "restart": "fakeredis lives in this process and cannot be restarted; use --engine valkey.",
    "debug": "fakeredis has no script debugger; use --engine valkey.",
}


class FakeEngine(Engine):
    """An engine in our own process, with a server of its own that no other client sees."""

    kind = "fakeredis"
    real = False
    own = True

    def __init__(self, queue: str, base: bytes) -> None:
        server = fakeredis.FakeServer(version=VERSION, server_type="valkey")
        client = fakeredis.FakeRedis(
            server=server,
            version=VERSION,
            server_type="valkey",
            protocol=2,
            decode_responses=False,
            lua_modules={path.stem for path in LUA_MODULES.glob("*.lua")},
        )
        with _lua_looks_only_in(LUA_MODULES):
            client.eval("return 1", 0)
        super().__init__(client, queue, base, f"fakeredis {fakeredis.__version__}")

    @property
    def called(self) -> str:
        return "fakeredis"

    def may(self, feature: Feature) -> str | None:
        return _REFUSALS.get(feature)

    def _restoring(self, key: bytes, dump: bytes, expires_at_ms: int) -> Command:
        # It knows no ABSTTL, and a TTL of 0 would make the key permanent.
        left_ms = expires_at_ms and expires_at_ms - self._now_ms()
        if left_ms < 0 or (expires_at_ms and not left_ms):
            return ("DEL", key)
        return ("RESTORE", key, left_ms, dump, "REPLACE")

    def _now_ms(self) -> int:
        seconds, micros = self.client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def hold_clock(self) -> bool:
        return True

    @contextlib.contextmanager
    def watching(self) -> Iterator[Watch]:
        watch = Watch()
        heard: list[Issued] = []
        with _heard_in(self._kept_wire().get_socket(), heard):
            yield watch
        watch.issued = None if watch.lost else tuple(heard)

    def throwaway(self) -> Engine:
        return FakeEngine(self.queue, self.base)

    def _close(self) -> None:
        self.client.close()


@contextlib.contextmanager
def _heard_in(socket: Any, heard: list[Issued]) -> Iterator[None]:
    """Adds what a script on this socket issues, with each reply.

    The emulation has no MONITOR. ``redis.call`` and ``redis.pcall`` both look up the socket's method that takes the
    words as Lua has them, and that one runs the command: both are listened to.
    """
    call, run = socket._lua_redis_call, socket._run_command
    words: tuple[Any, ...] = ()

    def calling(runtime: Any, expected_globals: Any, *given: Any) -> Any:
        nonlocal words
        words = given
        return call(runtime, expected_globals, *given)

    def running(function: Any, signature: Any, args: Any, from_script: bool) -> Any:
        result = run(function, signature, args, from_script)
        if from_script:
            sent = tuple(map(_as_sent, words))
            if isinstance(result, SimpleError):
                heard.append(Issued(sent, answered=True, error=result.value))
            else:
                heard.append(Issued(sent, socket._decode_result(result), answered=True))
        return result

    socket._lua_redis_call, socket._run_command = calling, running
    try:
        yield
    finally:
        del socket._lua_redis_call, socket._run_command  # the class has its own


def _as_sent(word: Any) -> bytes:
    """A word of a script's as it is sent; a number as Lua writes it."""
    return word if isinstance(word, bytes) else f"{word:.17g}".encode()


@contextlib.contextmanager
def _lua_looks_only_in(folder: Path) -> Iterator[None]:
    """An interpreter made in this block loads modules from there and from nowhere else."""
    before = os.environ.get("LUA_PATH")
    os.environ["LUA_PATH"] = str(folder / "?.lua")
    try:
        yield
    finally:
        if before is None:
            del os.environ["LUA_PATH"]
        else:
            os.environ["LUA_PATH"] = before
