"""Prints bytes of Erlang's external term format as the term that they are, as far as a payload needs it.

Atoms, whole numbers, binaries, tuples and lists are read; anything else, and bytes that do not end where the term ends,
are no term here. Nothing is ever built from the bytes but the text, so none of them is worth trusting.
"""

from __future__ import annotations

import re

from visualizer.visible import visible

_VERSION = 131
_PLAIN_ATOM = re.compile(r"[a-z][A-Za-z0-9_@]*")
# Deeper than any payload of ours; a term could nest as deep as it has bytes.
_DEEPEST = 32


class _NoTermError(ValueError):
    """These bytes are no term that is printed here."""


def printed(data: bytes) -> str | None:
    """The term as Erlang writes it, ``{guess,<<"BLUE RED">>}``, made visible; None where the bytes are no such term."""
    if data[:1] != bytes((_VERSION,)):
        return None
    try:
        text, end = _term(data, 1, 0)
    except _NoTermError:
        return None
    return text if end == len(data) else None


def _term(data: bytes, at: int, depth: int) -> tuple[str, int]:
    """The term that begins there, and where it ends."""
    if depth > _DEEPEST:
        raise _NoTermError
    tag, at = _number(data, at, 1)
    match tag:
        case 97:  # a small integer
            value, at = _number(data, at, 1)
            return str(value), at
        case 98:  # an integer
            raw, at = _bytes(data, at, 4)
            return str(int.from_bytes(raw, "big", signed=True)), at
        case 110:  # a longer integer, lowest byte first
            size, at = _number(data, at, 1)
            sign, at = _number(data, at, 1)
            raw, at = _bytes(data, at, size)
            return f"{'-' if sign else ''}{int.from_bytes(raw, 'little')}", at
        case 100 | 118 | 119:  # atoms: Latin-1, UTF-8, short UTF-8
            size, at = _number(data, at, 1 if tag == 119 else 2)
            raw, at = _bytes(data, at, size)
            name = visible(raw.decode("latin-1") if tag == 100 else raw)
            return name if _PLAIN_ATOM.fullmatch(name) else f"'{name}'", at
        case 104 | 105:  # tuples: short and long
            size, at = _number(data, at, 1 if tag == 104 else 4)
            items, at = _items(data, at, size, depth)
            return f"{{{items}}}", at
        case 106:  # the empty list
            return "[]", at
        case 107:  # a list of bytes
            size, at = _number(data, at, 2)
            raw, at = _bytes(data, at, size)
            return f"[{','.join(map(str, raw))}]", at
        case 108:  # a list and its tail
            size, at = _number(data, at, 4)
            items, at = _items(data, at, size, depth)
            tail, at = _term(data, at, depth + 1)
            return f"[{items}]" if tail == "[]" else f"[{items}|{tail}]", at
        case 109:  # a binary
            size, at = _number(data, at, 4)
            raw, at = _bytes(data, at, size)
            return f'<<"{visible(raw)}">>', at
    raise _NoTermError


def _items(data: bytes, at: int, count: int, depth: int) -> tuple[str, int]:
    if count > len(data) - at:  # each item has at least one byte
        raise _NoTermError
    texts = []
    for _ in range(count):
        text, at = _term(data, at, depth + 1)
        texts.append(text)
    return ",".join(texts), at


def _number(data: bytes, at: int, size: int) -> tuple[int, int]:
    raw, at = _bytes(data, at, size)
    return int.from_bytes(raw, "big"), at


def _bytes(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """The next bytes, fewer where there are no more: the term then ends beyond the data, which is found at its end."""
    return data[at : at + size], at + size
