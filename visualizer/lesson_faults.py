"""Collects what is wrong with a lesson file: each fault with its file, line, key, reason and nearest known word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from visualizer.visible import visible


class Fault(Struct, frozen=True):
    """One thing wrong in a lesson file. ``key`` counts paths and steps from 1, as the screen does; "" is the file."""

    file: str
    key: str
    reason: str
    line: int | None = None
    nearest: str | None = None

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        subject = f"{where}: {self.key}" if self.key else where
        hint = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"{subject}: {self.reason}{hint}"


class LessonFaults(Exception):
    """Everything wrong with a lesson, in the order of the file. ``str()`` is one line a fault."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class FaultList:
    """Faults of one file while it is read; ``lines`` finds the line of a key."""

    def __init__(self, file: str, lines: Mapping[str, int]) -> None:
        self._file = visible(file)
        self._lines = lines
        self._faults: list[Fault] = []

    def add(self, key: str, reason: str, nearest: str | None = None, line: int | None = None) -> None:
        """Notes a fault; without a line, that of the key or of the nearest table around it."""
        found = _line_of(key, self._lines) if line is None else line
        self._faults.append(Fault(self._file, key, reason, found, nearest))

    def unknown(self, key: str, what: str, written: str, known: Iterable[str]) -> None:
        """Notes a name that is not among the known ones, with the nearest of them, or with all where none is near."""
        names = list(known)
        near = nearest(written, names)
        reason = f"unknown {what} “{visible(written)}”"
        if near is None:
            reason += f"; known: {', '.join(names)}" if names else "; there are none"
        self.add(key, reason, near)

    def key_at(self, line: int) -> str:
        """The key that is written in a line or begins above it; "" where none does."""
        above = [(written, key) for key, written in self._lines.items() if written <= line]
        return max(above)[1] if above else ""

    def raise_any(self) -> None:
        """Raises LessonFaults in the order of the file, if there are any."""
        if self._faults:
            raise LessonFaults(sorted(self._faults, key=lambda fault: fault.line or 0))


def nearest(written: str, known: Iterable[str]) -> str | None:
    """The known word most like the written one, None where none is alike."""
    names = list(known)
    found = difflib.get_close_matches(written, names, n=1)
    if not found and len(written) >= 3:
        found = [name for name in names if name.startswith(written) or written.startswith(name)][:1]
    return found[0] if found else None


# The line of a key -------------------------------------------------------------------------------------------------

_BARE = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_BARE}(?:\s*\.\s*{_BARE})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_ASSIGNED = re.compile(rf"\s*({_DOTTED})\s*=(.*)")


def key_lines(text: str) -> dict[str, int]:
    """Where each key of a TOML text is written, best effort: a full key as faults show it, and its line from 1."""
    found: dict[str, int] = {}
    counts: dict[str, int] = {}
    table, quotes = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        if quotes:
            quotes = "" if quotes in line else quotes
        elif header := _HEADER.match(line):
            table = _counted(_parts(header[2]), counts, new=header[1] == "[[")
            found.setdefault(table, number)
        elif assigned := _ASSIGNED.match(line):
            found.setdefault(".".join(filter(None, (table, *_parts(assigned[1])))), number)
            opened = re.search(r'"""|\'\'\'', assigned[2])
            if opened and assigned[2].count(opened[0]) == 1:
                quotes = opened[0]
    return found


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in re.findall(_BARE, dotted)]


def _counted(parts: list[str], counts: dict[str, int], *, new: bool) -> str:
    key = ""
    for position, part in enumerate(parts, 1):
        key = f"{key}.{part}" if key else part
        if new and position == len(parts):
            counts[key] = counts.get(key, 0) + 1
        if key in counts:
            key = f"{key}[{counts[key]}]"
    return key


def _line_of(key: str, lines: Mapping[str, int]) -> int | None:
    while key:
        if key in lines:
            return lines[key]
        # An element of a list, or a key of an inline table, stands where what holds it stands.
        key = key[: max(key.rfind("."), key.rfind("["), 0)]
    return None
