r"""Turns data into text that is safe to put on a screen: `visible`, and what is built on it.

What a server sent may hold terminal commands, marks that reverse or stack text, or bytes that are no text at all. Here
all of that becomes printable characters of one or two cells each, and nothing is read as markup: callers put the
result into ``Text`` or ``Content``, never into a markup string.

=================================================  =====================
in the data                                        on the screen
=================================================  =====================
line feed, carriage return, tab                    ``\n`` ``\r`` ``\t``
other C0 and C1 controls, DEL                      ``\x1b`` ``\x9b``
a byte that is not UTF-8                           ``\x83``
any other character without a safe form            ``\u{202e}``
everything else, the backslash among it            itself
=================================================  =====================

A backslash is not doubled, so JSON, paths and patterns read as they were written. That leaves one picture for two
data: an ESC byte and the four characters ``\x1b`` look alike, and so do the byte 9b and the character U+009B. This is
for reading; `visible_size` tells them apart by length, `json_bytes` exactly.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import get_character_cell_size

ELLIPSIS = "…"

_NAMED = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r"}
# Their pictures depend on their neighbours (flags, skin tones) or are blank (the filler), though each is printable.
_UNSTEADY = frozenset((*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400), 0x115F))


def visible(data: bytes | str, limit: int | None = None) -> str:
    """Data as printable text, at most ``limit`` cells wide; where that cuts it, the last cell is ``…``.

    A cut never splits an escape, and costs the same however long the data is. In a ``str`` the surrogates U+DC80 …
    U+DCFF stand for bytes, as Python's own interfaces to the system use them.
    """
    if limit is None:
        text = _decoded(data)
        return text if _is_plain(text) else text.translate(_ESCAPES)
    if limit <= 0:
        return ""
    text = _head(data, limit + 1)
    if _is_plain(text):
        return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS
    units = _units(text)
    return _joined(units) if _cells(units) <= limit else _joined(_fitting(units, limit - 1)) + ELLIPSIS


def visible_size(data: bytes, limit: int | None = None) -> str:
    """Data as `visible` shows it, followed by its length, ``abc… (1,048,576 B)``, where text alone does not tell it.

    That is where something is cut or escaped, and where there is nothing. All of it fits ``limit`` cells; where these
    are too few for the length, the text stands alone.
    """
    text = visible(data, limit)
    if data and text.encode() == data:
        return text
    size = f"({len(data):,} B)"
    if not data:
        return size if limit is None or limit >= len(size) else ""
    if limit is None:
        return f"{text} {size}"
    room = limit - len(size) - 1
    return f"{visible(data, room)} {size}" if room > 0 else text


def short_id(data: bytes | str, width: int = 12) -> str:
    """An id as printable text, at most ``width`` cells wide, cut in the middle: ``JOB0KHTO…LuC``."""
    if width <= 0:
        return ""
    head, tail = _head(data, width + 1), _tail(data, width)
    tail_cells = (width - 1) // 3
    head_cells = width - 1 - tail_cells
    if _is_plain(head) and _is_plain(tail):
        return head if len(head) <= width else head[:head_cells] + ELLIPSIS + tail[len(tail) - tail_cells :]
    units = _units(head)
    if _cells(units) <= width:
        return _joined(units)
    last_units = _fitting(_units(tail)[::-1], tail_cells)[::-1]
    return _joined(_fitting(units, head_cells)) + ELLIPSIS + _joined(last_units)


def json_bytes(data: bytes) -> str | dict[str, str]:
    """Bytes as JSON can hold them and give them back exactly: their text where they are UTF-8, else ``{"hex": …}``.

    The text is not escaped: ``json.dumps`` does that when it writes ASCII, its default.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


# Units: one character of the data as it is shown, with its width in cells ---------------------------------------------

Unit = tuple[str, int]


@lru_cache(maxsize=4096)
def _unit(code_point: int) -> Unit:
    character = chr(code_point)
    cells = get_character_cell_size(character)
    if (
        cells
        and character.isprintable()
        and not unicodedata.category(character).startswith("M")
        and code_point not in _UNSTEADY
    ):
        return character, cells
    if code_point in _NAMED:
        escape = _NAMED[code_point]
    elif code_point < 0xA0:
        escape = f"\\x{code_point:02x}"
    elif 0xDC80 <= code_point <= 0xDCFF:
        escape = f"\\x{code_point - 0xDC00:02x}"
    else:
        escape = f"\\u{{{code_point:x}}}"
    return escape, len(escape)


class _Escapes:
    """What `str.translate` asks for each character."""

    def __getitem__(self, code_point: int) -> str:
        return _unit(code_point)[0]


_ESCAPES = _Escapes()


def _is_plain(text: str) -> bool:
    """Whether text is printable ASCII: the common case, decided without looking at single characters."""
    return text.isascii() and text.isprintable()


def _decoded(data: bytes | str) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")


def _head(data: bytes | str, count: int) -> str:
    """All of the data or at least its first ``count`` characters, of which none has more than four bytes."""
    return data[:count] if isinstance(data, str) else _decoded(data[: 4 * count])


def _tail(data: bytes | str, count: int) -> str:
    """All of the data or at least its last ``count`` characters."""
    return data[-count:] if isinstance(data, str) else _decoded(data[-4 * count :])


def _units(text: str) -> list[Unit]:
    return [_unit(ord(character)) for character in text]


def _cells(units: list[Unit]) -> int:
    return sum(cells for _, cells in units)


def _joined(units: list[Unit]) -> str:
    return "".join(shown for shown, _ in units)


def _fitting(units: list[Unit], room_cells: int) -> list[Unit]:
    """As many units from the front as fit the room."""
    for count, (_, cells) in enumerate(units):
        room_cells -= cells
        if room_cells < 0:
            return units[:count]
    return units
