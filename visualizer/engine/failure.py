"""Turns what a client raised into one sentence: the cause, and the way out where there is one."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from redis import exceptions

from visualizer.engine.base import EngineError, EngineGone
from visualizer.visible import visible

# How much of a server's own words a sentence quotes, in cells.
QUOTED = 300

_CODES = {
    "NOAUTH": "{X} wants a password. Put it in the URL, as in redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST.",
    "WRONGPASS": "{X} refuses the user name or password. Check both in the URL.",
    "NOPERM": "{X} does not let this user do that: {said}. Name a user in the URL that may run scripts on {keys}.",
    "READONLY": "{X} is a read-only replica. Name its primary in the URL.",
    "MASTERDOWN": "{X} is a replica that has lost its primary. Name the primary in the URL.",
    "LOADING": "{X} is still loading its data. Try again when it has finished.",
    "CLUSTERDOWN": "{X} belongs to a cluster that does not answer now: {said}. Try again when the cluster is whole.",
    "TRYAGAIN": "{X} is moving this queue's slot to another node. Try again when that is done.",
    "CROSSSLOT": "{X} says that the keys of the call lie in different slots of the cluster.",
    "MISCONF": "{X} refuses writes because it cannot save to disk. Its operator finds the reason in its log.",
    "NOREPLICAS": "{X} refuses writes because too few of its replicas answer.",
    "OOM": "{X} refuses writes because its memory is full. Name a server with free memory.",
    "BUSY": "{X} is busy with a script that does not end. Try again when it has ended.",
    "DENIED": "{X} takes no connections from other machines: {said}.",
}
_NO_CLIENTS_LEFT = "{X} takes no more clients (its limit is reached). Try again when some have left."
_NO_PASSWORD_SET = "{X} has no password, but the URL holds one. Leave it out of the URL."
_LOST = "The connection to {x} broke before its answer came."
_WITHOUT_TLS = "Without TLS the scheme is redis:// or valkey://."
_NO_ROUTE = "{X} did not take the connection in time. Check the host, the port, and any firewall in between."
_CAUSES: dict[type[OSError], str] = {
    ssl.SSLCertVerificationError: "{X} shows a certificate that is not trusted here ({reason}). Name the authority "
    "that signed it by adding ?ssl_ca_certs=FILE to the URL.",
    ssl.SSLError: "{X} does not answer in TLS, or in no version known here. " + _WITHOUT_TLS,
    socket.gaierror: "{X} cannot be found: no address is known for its host. Check the host's name in the URL.",
    ConnectionRefusedError: "{X} cannot be reached: nothing listens there. Start the server, or check the URL.",
    FileNotFoundError: "{X} cannot be reached: the URL names a file that does not exist (a socket or a certificate).",
    PermissionError: "{X} cannot be reached: this user may not open its socket.",
    OSError: "{X} cannot be reached: {reason}. Check the host and the port.",
}
_SILENT = "{X} did not answer in time."
_MAY_HAVE_RUN = " The server may have run the call."
_STEP_UNSENT = " The queue was only being read: the step was not sent."


def failure(
    error: Exception, called: str, base: bytes, secrets: tuple[str, ...] = (), *, reading: bool = False
) -> EngineError:
    """The exception as an EngineError with a sentence about the server ``called`` that; `EngineGone` for a lost one.

    ``base`` is what the queue's keys start with. None of ``secrets`` is in the sentence. ``reading`` says that only a
    reading was under way, before a step: the sentence then says that the step was not sent.
    """
    if isinstance(error, EngineError):
        return error
    told = _told(error, called, base, secrets)
    if reading:
        sentence = f"{told}{_STEP_UNSENT}"
        if isinstance(told, EngineGone):
            return EngineGone(sentence, may_have_run=False)
        return EngineError(sentence)
    if isinstance(told, EngineGone) and told.may_have_run:
        return EngineGone(f"{told}{_MAY_HAVE_RUN}", may_have_run=True)
    return told


def _told(error: Exception, called: str, base: bytes, secrets: tuple[str, ...]) -> EngineError:
    """The cause, without what became of the call."""
    said = visible(_without(str(error), secrets), QUOTED).rstrip(".")
    words = {"x": called, "X": called[:1].upper() + called[1:], "said": said, "keys": visible(base) + "*"}
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    if isinstance(error, exceptions.AuthenticationError) and code == "ERR":
        return EngineError(
            (_NO_PASSWORD_SET if "without any password" in str(error) else _CODES["WRONGPASS"]).format(**words)
        )
    if isinstance(error, exceptions.AskError):
        node = visible(f"{error.host}:{error.port}")
        return EngineError(
            "{X} is a cluster node that does not hold this queue. Name the node that does: {node}.".format(
                node=node, **words
            )
        )
    if code in _CODES:
        return EngineError(_CODES[code].format(**words))
    if isinstance(error, exceptions.RedisError) and "max number of clients" in str(error):
        return EngineError(_NO_CLIENTS_LEFT.format(**words))
    if isinstance(error, exceptions.TimeoutError) and "connecting" not in str(error):
        return EngineGone(_SILENT.format(**words), may_have_run=True)
    if isinstance(error, exceptions.ConnectionError | exceptions.TimeoutError):
        unreached = _unreached(error)
        if unreached is not None:
            sentence, reason = unreached
            return EngineGone(sentence.format(reason=reason, **words), may_have_run=False)
        return EngineGone(_LOST.format(**words), may_have_run=True)
    if isinstance(error, exceptions.InvalidResponse):
        return EngineGone("{X} does not speak the protocol of Redis and Valkey.".format(**words), may_have_run=True)
    if isinstance(error, exceptions.ResponseError):
        return EngineError("{X} answered with an error: {said}.".format(**words))
    return EngineError("{X} failed: {kind}: {said}.".format(kind=type(error).__name__, **words))


def at_first(error: Exception, tls: bool, called: str) -> EngineError | None:
    """What it usually means when a first connection gives no answer at all; None where the error itself tells more."""
    if getattr(error, "status_code", None) is not None or isinstance(error, exceptions.ResponseError):
        return None
    server = called[:1].upper() + called[1:]
    if isinstance(error, exceptions.TimeoutError):
        slow = tls and "connecting" in str(error)
        return EngineError(f"{server} did not answer in TLS. {_WITHOUT_TLS}") if slow else None
    if not isinstance(error, exceptions.ConnectionError | exceptions.InvalidResponse) or _unreached(error) is not None:
        return None
    return EngineError(
        f"{server} ended the connection before it answered a first question. "
        + (_WITHOUT_TLS if tls else "It may want TLS: then the scheme is rediss:// or valkeys://.")
    )


def _unreached(error: Exception) -> tuple[str, str] | None:
    """Why no connection came about, when none did (then nothing was sent): a sentence, and a reason to put into it."""
    if isinstance(error, exceptions.TimeoutError):
        return _NO_ROUTE, ""
    for cause in _causes(error):
        for kind, sentence in _CAUSES.items():
            if isinstance(cause, kind):
                reason = getattr(cause, "verify_message", "") or getattr(cause, "strerror", "") or str(cause)
                return sentence, visible(reason, 120)
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    # Only where no connection came about: a lost one has causes of the same types, and may have run the call.
    seen: BaseException | None = error if "onnecting to" in str(error) else None
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _without(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
