"""Calls a script on a server by named keys and arguments, and keeps every call with its bytes, its reply and its time.

A call is sent once. EVALSHA goes first, with the SHA-1 computed here; on NOSCRIPT the script is loaded once, its answer
must equal our SHA-1, and the same EVALSHA goes again: the server ran nothing the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from visualizer.model import WireCall
from visualizer.script import Named, Script, ScriptError, Value, arrange, encode

Reply = Any


class ReplyLostError(Exception):
    """The connection broke before a reply came: the server may have run the call. It is not sent again."""


class ShaDiffersError(ScriptError):
    """The server computed another SHA-1 of the text that it got than we did of ours: it is not the same text."""

    def __init__(self, script: str, answer: str) -> None:
        super().__init__(f"{script}: the server computed another SHA-1 ({answer}) than we did")
        self.answer = answer


class ErrorReply(Struct, frozen=True):
    """An error that the server answered, with its first word as it came (``EMQSTALE …``, ``WRONGTYPE …``)."""

    text: str

    @property
    def code(self) -> str:
        return self.text.partition(" ")[0]


class Server(Protocol):
    """What a caller needs of an engine."""

    @property
    def sent_bytes(self) -> int:
        """How many bytes `send` has put on the socket so far."""
        ...

    def send(self, *words: Value) -> Any:
        """Sends one command and answers the reply as it came; raises what redis-py raises."""
        ...

    def hold(self, names: Iterable[bytes]) -> None:
        """Notes, before a call is sent, which keys it may write (on a server that is not ours)."""
        ...


class Caller:
    """Sends calls to one engine and keeps every one of them, with its reply and time, until `drain`.

    ``watching`` watches the one script call that is sent meanwhile, as the engine's own does; without it none is.
    """

    def __init__(self, server: Server, watching: Callable[[], AbstractContextManager[Any]] | None = None) -> None:
        self._server = server
        self._watching = watching
        self._calls: list[WireCall] = []

    def drain(self) -> tuple[WireCall, ...]:
        """The calls since the last drain."""
        calls, self._calls = tuple(self._calls), []
        return calls

    def call(self, script: Script, keys: Named, args: Named) -> Reply:
        """Runs a script. The reply as it came, or an `ErrorReply`. ReplyLostError when the connection broke."""
        arranged_keys = arrange(script.name, "KEYS", script.header.keys, keys)
        arranged_args = arrange(script.name, "ARGV", script.header.args, args)
        self._server.hold(arranged_keys)
        reply = self._evalsha(script, arranged_keys, arranged_args)
        if isinstance(reply, ErrorReply) and reply.code == "NOSCRIPT":
            self.load(script)
            reply = self._evalsha(script, arranged_keys, arranged_args)
        return reply

    def call_by_sha_alone(self, script: Script, keys: Named, args: Named) -> Reply:
        """One EVALSHA and no more: NOSCRIPT is answered as it came."""
        arranged = arrange(script.name, "KEYS", script.header.keys, keys)
        self._server.hold(arranged)
        return self._evalsha(script, arranged, arrange(script.name, "ARGV", script.header.args, args))

    def call_by_text(self, script: Script, keys: Named, args: Named) -> Reply:
        """Runs a script by EVAL: its whole text goes out with the call, and stands before the call's arguments."""
        arranged = arrange(script.name, "KEYS", script.header.keys, keys)
        source = script.source.encode()
        others = arrange(script.name, "ARGV", script.header.args, args)
        self._server.hold(arranged)
        words = ("EVAL", source, len(arranged), *arranged, *others)
        return self._send("EVAL", words, arranged, (source, *others), script)

    def command(self, command: str, *args: Value, keys: Sequence[bytes] = ()) -> Reply:
        """Sends one plain command; its keys stand before its other arguments."""
        encoded = tuple(map(encode, args))
        return self._send(command, (*command.split(" "), *keys, *encoded), tuple(keys), encoded, None)

    def _evalsha(self, script: Script, keys: tuple[bytes, ...], args: tuple[bytes, ...]) -> Reply:
        return self._send("EVALSHA", ("EVALSHA", script.sha1, len(keys), *keys, *args), keys, args, script)

    def load(self, script: Script) -> str:
        """Loads a script and answers the SHA-1 that the server computed; `ShaDiffersError` where it is not ours."""
        source = script.source.encode()
        reply = self._send("SCRIPT LOAD", ("SCRIPT", "LOAD", source), (), (source,), script)
        if isinstance(reply, ErrorReply):
            raise ScriptError(f"{script.name}: the server did not load it: {reply.text}")
        answer = reply.decode("utf-8", "backslashreplace") if isinstance(reply, bytes) else str(reply)
        if answer != script.sha1:
            raise ShaDiffersError(script.name, answer)
        return answer

    def _send(
        self, command: str, words: tuple[Any, ...], keys: tuple[bytes, ...], args: tuple[bytes, ...], of: Script | None
    ) -> Reply:
        already = self._server.sent_bytes
        issued = None
        if self._watching is not None and command == "EVALSHA":
            with self._watching() as watch:
                answer = self._answer(words)
                watch.lost = answer.failure is not None and error_text(answer.failure) is None
            issued = watch.issued
        else:
            answer = self._answer(words)
        failure = answer.failure
        text = None if failure is None else error_text(failure)
        error = text if failure is None or text is not None else f"no reply: {failure}"
        name, sha1 = (of.name, of.sha1) if of else (None, None)
        sent_bytes = self._server.sent_bytes - already
        call = WireCall(command, keys, args, answer.reply, error, answer.ms, name, sha1, sent_bytes, issued)
        self._calls.append(call)
        if failure is None:
            return answer.reply
        if text is None:
            raise ReplyLostError(f"the connection broke before {command} was answered: {failure}") from failure
        return ErrorReply(text)

    def _answer(self, words: tuple[Any, ...]) -> _Answer:
        started = perf_counter()
        try:
            reply, failure = self._server.send(*words), None
        except Exception as raised:  # noqa: BLE001 - judged by `error_text`, which raises what is no answer again
            reply, failure = None, raised
        return _Answer(reply, failure, (perf_counter() - started) * 1000)


class _Answer(NamedTuple):
    """What sending a command gave: a reply or what was raised, and the time it took."""

    reply: Reply
    failure: Exception | None
    ms: float


def error_text(failure: Exception) -> str | None:
    """A redis-py exception as the error reply that came, None where the connection broke and no reply came.

    redis-py takes the first word off the errors that it has a class for, and counts some replies as broken
    connections. An exception that is neither is raised again.
    """
    from redis import exceptions  # imported late: the first frame does not wait for it

    code = _CODES.get(type(failure).__name__)
    if code is not None:
        return str(failure) if str(failure).startswith(code) else f"{code} {failure}"
    if isinstance(failure, exceptions.ResponseError):
        return str(failure)
    if isinstance(failure, exceptions.ConnectionError | exceptions.TimeoutError):
        return None
    raise failure


_CODES = {
    "NoScriptError": "NOSCRIPT",
    "ReadOnlyError": "READONLY",
    "NoPermissionError": "NOPERM",
    "OutOfMemoryError": "OOM",
    "ExecAbortError": "EXECABORT",
    "AuthenticationError": "NOAUTH",
    "BusyLoadingError": "LOADING",
}
