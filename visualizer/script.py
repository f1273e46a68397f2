"""Reads a Lua file with its header contract, and puts named keys and arguments in the order that it declares."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from visualizer.resources import lua_folder

Value = bytes | str | int
Named = Mapping[str, "Value | Sequence[Value]"]

_USE = re.compile(r"^-- use (\w+)$", re.MULTILINE)
_SLOT = re.compile(r"^(KEYS|ARGV) (\d+)\s+(\w+)(…|\?)?(?: \((unused)\))? — (.+)$")
_FIELD = re.compile(r"^(MOVES|CLOCK|RETURNS)\s+(.+)$")


class ScriptError(Exception):
    """A script file breaks the header contract, or a call does not fit it. Nothing was sent."""


class Slot(Struct, frozen=True):
    """One declared position of KEYS or ARGV."""

    number: int
    name: str
    meaning: str
    repeats: bool = False
    optional: bool = False
    unused: bool = False


class Header(Struct, frozen=True):
    """The contract in a script's opening comment, in its fixed order."""

    sentence: str
    moves: str
    keys: tuple[Slot, ...]
    args: tuple[Slot, ...]
    returns: tuple[str, ...]
    clock: str


class Script(Struct, frozen=True):
    """One Lua file. ``source`` is exactly what is sent; ``shared`` are the line ranges put in place by ``-- use``."""

    name: str
    source: str
    sha1: str
    header: Header
    shared: tuple[tuple[int, int, str], ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.source.splitlines())

    @property
    def body_line(self) -> int:
        """The number of the first line after the header."""
        for number, line in enumerate(self.lines, start=1):
            if not line.startswith("--"):
                return number
        return 1


def parse_header(name: str, source: str) -> Header:
    """The header of a script; ScriptError names the line that does not fit."""
    comments: list[str] = []
    for line in source.splitlines():
        if not line.startswith("--"):
            break
        comments.append(line[2:].strip())
    if not comments or _FIELD.match(comments[0]) or _SLOT.match(comments[0]):
        raise ScriptError(f"{name}: the first line is one sentence that says what the script does")
    single: dict[str, str] = {}
    returns: list[str] = []
    slots: dict[str, list[Slot]] = {"KEYS": [], "ARGV": []}
    for comment in comments[1:]:
        if match := _SLOT.match(comment):
            kind, number, slot_name, mark, unused, meaning = match.groups()
            slot = Slot(int(number), slot_name, meaning, mark == "…", mark == "?", unused is not None)
            slots[kind].append(slot)
        elif match := _FIELD.match(comment):
            if match[1] == "RETURNS":
                returns.append(match[2])
            else:
                single[match[1]] = match[2]
        else:
            raise ScriptError(f"{name}: this header line is none of MOVES, KEYS, ARGV, RETURNS, CLOCK: {comment!r}")
    for kind, found in slots.items():
        if [slot.number for slot in found] != list(range(1, len(found) + 1)):
            raise ScriptError(f"{name}: {kind} are not numbered 1, 2, 3 …")
    for field in ("MOVES", "CLOCK"):
        if field not in single:
            raise ScriptError(f"{name}: the header has no {field} line")
    if not returns:
        raise ScriptError(f"{name}: the header has no RETURNS line")
    return Header(
        comments[0], single["MOVES"], tuple(slots["KEYS"]), tuple(slots["ARGV"]), tuple(returns), single["CLOCK"]
    )


def _put_in_place(name: str, text: str) -> tuple[str, tuple[tuple[int, int, str], ...]]:
    """The text with each ``-- use NAME`` line replaced by the shared step, and where those lines stand now."""
    steps = lua_folder() / name.split("/")[0] / "steps"
    lines: list[str] = []
    shared: list[tuple[int, int, str]] = []
    for line in text.splitlines():
        match = _USE.match(line)
        if match is None:
            lines.append(line)
            continue
        step = steps / f"{match[1]}.lua"
        if not step.is_file():
            raise ScriptError(f"{name}: it uses the shared step {match[1]}, but there is no file {step.name}")
        body = step.read_text(encoding="utf-8").rstrip("\n").splitlines()
        shared.append((len(lines) + 1, len(lines) + len(body), match[1]))
        lines.extend(body)
    return "\n".join(lines) + "\n", tuple(shared)


@cache
def load(name: str) -> Script:
    """The script of that name, ``leased/claim`` or ``observe``; ScriptError where it is missing or malformed."""
    path = lua_folder() / f"{name}.lua"
    if not path.is_file():
        raise ScriptError(f"there is no script {name}; `visualizer script` lists them")
    source, shared = _put_in_place(name, path.read_text(encoding="utf-8"))
    sha1 = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(name, source, sha1, parse_header(name, source), shared)


def all_names() -> list[str]:
    """Every script's name, sorted; shared steps are no scripts."""
    folder = lua_folder()
    return sorted(
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.lua")
        if path.parent.name != "steps"
    )


def encode(value: Value) -> bytes:
    """A value as it is sent: bytes as they are, all else as text."""
    if isinstance(value, bytes):
        return value
    return str(value).encode()


def arrange(script: str, kind: str, slots: tuple[Slot, ...], given: Named) -> tuple[bytes, ...]:
    """Named values in the declared order. ScriptError names what is missing or unknown."""
    arranged: list[bytes] = []
    found = 0
    for slot in slots:
        if slot.name not in given:
            if slot.optional or slot.repeats:
                continue
            raise ScriptError(f"{script}: {kind} {slot.number} {slot.name} was not given; nothing was sent")
        found += 1
        value = given[slot.name]
        if isinstance(value, bytes | str | int):
            arranged.append(encode(value))
        elif slot.repeats:
            arranged.extend(map(encode, value))
        else:
            raise ScriptError(f"{script}: {kind} {slot.number} {slot.name} takes one value; nothing was sent")
    if found != len(given):
        unknown = sorted(set(given) - {slot.name for slot in slots})
        raise ScriptError(f"{script}: it declares no {kind} named {', '.join(unknown)}; nothing was sent")
    return tuple(arranged)
