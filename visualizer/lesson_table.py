"""Reads a lesson's TOML tables: what is asked for is what is known, and every other key is a fault."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from visualizer.lesson_faults import FaultList, nearest
from visualizer.visible import visible

# Categories of characters that a terminal may obey or that hide what a text says: controls, formats (bidi marks among
# them), surrogates, private use, unassigned, and the two separators that break lines.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_MISSING = object()

Found = TypeVar("Found")


class Table:
    """One TOML table being read. What is asked for is what is known: `done` refuses every other key."""

    def __init__(self, value: Mapping[str, Any], where: str, faults: FaultList) -> None:
        self._value = value
        self.where = where
        self.faults = faults
        self._asked: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def key(self, name: str) -> str:
        """The full key of a name in this table, as faults show it."""
        return f"{self.where}.{visible(name)}" if self.where else visible(name)

    def fault(self, name: str, reason: str, near: str | None = None) -> None:
        """Notes a fault at a key of this table."""
        self.faults.add(self.key(name), reason, near)

    def names(self) -> list[str]:
        """The keys as written, for tables whose keys are names of the author's own."""
        return list(self._value)

    def any(self, name: str, default: Any = None) -> Any:
        """The value as written, of any type."""
        self._asked.append(name)
        return self._value.get(name, default)

    def need(self, name: str, kind: type, word: str) -> Any:
        """A required value of one TOML type; None, with its fault noted, where it is missing or of another type."""
        value = self.any(name, _MISSING)
        if value is _MISSING:
            self.fault(name, f"missing; {word} is required here")
            return None
        return value if self._is(name, value, kind, word) else None

    def want(self, name: str, kind: type, word: str, default: Any) -> Any:
        """An optional value of one TOML type; the default where it is absent, or of another type (a fault)."""
        value = self.any(name, _MISSING)
        return value if value is not _MISSING and self._is(name, value, kind, word) else default

    def text(self, name: str, *, prose: bool = False) -> str:
        """A required text, "" where it is missing. Only prose may have more than one line."""
        value = self.need(name, str, "a text")
        if value is not None and not value.strip():
            self.fault(name, "empty; write a text")
        elif value is not None and not prose and "\n" in value.strip("\n"):
            self.fault(name, "more than one line; this text stands in a line of its own")
        return str(value or "").strip()

    def one_of(self, name: str, known: Iterable[str], or_else: str = "") -> Any:
        """An optional word, one of those known; None where it is absent, or another (a fault)."""
        written = self.any(name)
        if written is None or written in known:
            return written
        if isinstance(written, str):
            self.faults.unknown(self.key(name), "word", written, known)
        else:
            self.fault(name, f"one of {', '.join(known)}{or_else} is wanted, not {called(written)}")
        return None

    def names_list(self, name: str) -> list[tuple[str, str]]:
        """An optional list of texts, each with its full key."""
        found = []
        for number, value in enumerate(self.want(name, list, "a list", []), 1):
            key = f"{self.key(name)}[{number}]"
            if isinstance(value, str):
                found.append((key, value))
            else:
                self.faults.add(key, f"a text is wanted, not {called(value)}")
        return found

    def table(self, name: str, *, required: bool = False) -> Table:
        """A table, an empty one where it is absent."""
        read = self.need(name, dict, "a table") if required else self.want(name, dict, "a table", {})
        return Table(read or {}, self.key(name), self.faults)

    def tables(self, name: str) -> list[Table]:
        """A required, non-empty list of tables."""
        word = f"[[{re.sub(r'[^a-z.]', '', self.key(name))}]]"
        values = self.need(name, list, f"a list of tables {word}")
        if values is not None and not values:
            self.fault(name, f"empty; write at least one {word}")
        found = []
        for number, value in enumerate(values or (), 1):
            key = f"{self.key(name)}[{number}]"
            if isinstance(value, dict):
                found.append(Table(value, key, self.faults))
            else:
                self.faults.add(key, f"a table {word} is wanted, not {called(value)}")
        return found

    def done(self) -> None:
        """Refuses every key that nobody asked for."""
        for name in self._value:
            if name not in self._asked:
                near = nearest(name, self._asked)
                known = ", ".join(self._asked) or "nothing"
                self.fault(name, "unknown key" if near else f"unknown key; known here: {known}", near)

    def _is(self, name: str, value: Any, kind: type, word: str) -> bool:
        if isinstance(value, kind):
            return True
        self.fault(name, f"{word} is wanted, not {called(value)}")
        return False


def prose(text: str) -> str:
    """A text of paragraphs: one blank line between two, and no line break within one, so that any width can wrap it.

    A line that starts with ``- `` begins a line of its own.
    """
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [" ".join(line.split()) for line in paragraph.split("\n")]
        paragraphs.append(re.sub(r"\n(?!- )", " ", "\n".join(lines)))
    return "\n\n".join(paragraphs)


def unsafe(text: str, allowed: str = "") -> list[str]:
    """The characters of a text that no lesson may hold, as ``U+001B``, each once."""
    bad = [mark for mark in dict.fromkeys(text) if mark not in allowed and unicodedata.category(mark) in _UNSAFE]
    return [f"U+{ord(mark):04X}" for mark in bad]


def refuse_unsafe(value: Any, key: str, add: Callable[[str, str], None]) -> None:
    """Notes every text (keys too) in a decoded TOML value that holds a control character; line feeds are allowed."""
    if isinstance(value, str):
        if bad := unsafe(value, "\n"):
            add(key, control_reason(bad))
    elif isinstance(value, dict):
        for name, inner in value.items():
            deeper = f"{key}.{visible(name)}" if key else visible(name)
            if bad := unsafe(name):
                add(deeper, control_reason(bad))
            refuse_unsafe(inner, deeper, add)
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            refuse_unsafe(inner, f"{key}[{number}]", add)


def control_reason(marks: Iterable[str]) -> str:
    """The sentence about control characters."""
    return f"control character {', '.join(marks)}; bytes that are no text go into payload_hex"


def named(faults: FaultList, key: str, what: str, written: Any, known: Mapping[str, Found]) -> Found | None:
    """What a name written at that key stands for; None, with the fault noted, where it stands for nothing."""
    if not isinstance(written, str):
        faults.add(key, f"the name of one of [{what}s] is wanted")
    elif written not in known:
        faults.unknown(key, what, written, known)
    else:
        return known[written]
    return None


def called(value: Any) -> str:
    """What kind of TOML value this is, in words."""
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", dict: "a table"}
    return words.get(type(value), "a list" if isinstance(value, list) else "a date or a time")
