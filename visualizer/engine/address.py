"""Reads the URL of a server: what connects to it, and how it may be shown. The password is shown by nothing here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from visualizer.engine.base import EngineError
from visualizer.visible import visible

DEFAULT_PORT = 6379
# Long enough for a server at the other end of the world; a lesson's call takes well under a millisecond of it.
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 10.0

_TLS = {"redis": False, "valkey": False, "rediss": True, "valkeys": True}
_ENCODE = "Characters such as @ / ? # in a user name or password are written percent-encoded (%40 %2F %3F %23)."


@dataclass(frozen=True, repr=False)
class Address:
    """A server to connect to. ``shown`` holds no password; ``secrets`` are the texts that must appear nowhere."""

    shown: str
    scheme: str
    user: str
    settings: Mapping[str, Any]
    secrets: tuple[str, ...] = field(default=())

    @property
    def tls(self) -> bool:
        return _TLS.get(self.scheme, False)

    @property
    def unix(self) -> bool:
        return self.scheme == "unix"


def read_address(url: str) -> Address:
    """The address that a URL names (``redis rediss valkey valkeys unix``); EngineError for a faulty one."""
    try:
        url.encode()
        parts = urlsplit(url)
        port = parts.port
        unquote(parts.hostname or "").encode("idna")
    except ValueError:  # UnicodeError is one
        raise EngineError(f"The server's URL cannot be read: its host or port is wrong. {_ENCODE}") from None
    if "#" in url or "@" in parts.query or ("@" in parts.path and parts.scheme != "unix"):
        raise EngineError(f"The server's URL cannot be read. {_ENCODE}")
    options = _options(parts)
    settings: dict[str, Any] = {
        "socket_connect_timeout": CONNECT_SECONDS,
        "socket_timeout": ANSWER_SECONDS,
        "db": _database(parts.path) if parts.scheme != "unix" else 0,
        "username": unquote(parts.username or "") or None,
        "password": unquote(parts.password or "") or None,
        **options,
    }
    if parts.scheme == "unix":
        settings["path"] = unquote(parts.netloc.rpartition("@")[2] + parts.path)
        if not settings["path"] or "\0" in settings["path"]:
            raise EngineError("The server's URL names no socket; write unix:///path/to/socket.")
        place = f"//{settings['path']}" if settings["path"].startswith("/") else settings["path"]
    else:
        settings["host"] = unquote(parts.hostname or "localhost")
        settings["port"] = port or DEFAULT_PORT
        host = f"[{settings['host']}]" if ":" in settings["host"] else settings["host"]
        place = f"//{host}:{settings['port']}" + (f"/{settings['db']}" if settings["db"] else "")
    password = settings["password"]
    who = quote(settings["username"] or "", safe="") + (":***" if password else "")
    if who:
        place = place.replace("//", f"//{who}@", 1)
    raw = parts.password or ""
    secrets = tuple({text for text in (password, raw, quote(password or "", safe="")) if text})
    return Address(visible(f"{parts.scheme}:{place}"), parts.scheme, settings["username"] or "", settings, secrets)


def _database(path: str) -> int:
    name = unquote(path).strip("/")
    if name and not name.isdecimal():
        raise EngineError("The server's URL cannot be read: after the host and port stands the number of a database.")
    return int(name or 0)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 3600:
        raise ValueError
    return seconds


def _yes(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


def _database_number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError
    return int(text)


# What a URL may set. Everything else that redis-py would take from a URL is refused: some of it (retries, health
# checks) sends calls again or by itself.
_ALLOWED: dict[str, Callable[[str], Any]] = {
    "db": _database_number,
    "username": str,
    "password": str,
    "socket_timeout": _seconds,
    "socket_connect_timeout": _seconds,
    "ssl_ca_certs": str,
    "ssl_ca_path": str,
    "ssl_certfile": str,
    "ssl_keyfile": str,
    "ssl_cert_reqs": str,
    "ssl_check_hostname": _yes,
}


def _options(parts: SplitResult) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _ALLOWED:
            raise EngineError(
                f"The server's URL has an option that is not known here; it may set {', '.join(_ALLOWED)}."
            )
        if name.startswith("ssl_") and not _TLS.get(parts.scheme):
            raise EngineError(f"The option {name} of the server's URL needs TLS: write rediss:// or valkeys://.")
        try:
            options[name] = _ALLOWED[name](text)
        except (ValueError, KeyError):
            raise EngineError(f"The option {name} of the server's URL has a value that it cannot take.") from None
    if options.get("ssl_cert_reqs", "required") not in ("required", "optional", "none"):
        raise EngineError("The option ssl_cert_reqs of the server's URL is one of required, optional, none.")
    return options
