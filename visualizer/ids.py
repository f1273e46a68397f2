"""Branded ids: the codec, the gate before every key, minting, and the placement hash.

A branded id is 14 bytes: a namespace of three capitals, then a 63-bit Snowflake in eleven base62 digits. The digits are
in byte order and padded on the left, so ids of one namespace sort as their numbers do, which is as they were minted.

A Snowflake holds, from the top: milliseconds since `EPOCH_MS` (41 bits), the node (10), the sequence (12).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from msgspec import Struct

EPOCH_MS = 1_704_067_200_000  # 2024-01-01T00:00:00Z
LARGEST_VALUE = 2**63 - 1
LARGEST_NODE = 1023
ID_BYTES = 14
RIGHT_ID = "a right id is three capitals A-Z and eleven of 0-9 A-Z a-z, like USR0KHTOWnGLuC"

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGIT_VALUES = {byte: value for value, byte in enumerate(_DIGITS.encode())}
_NAMESPACE = re.compile(rb"[A-Z]{3}")
_SHAPE = re.compile(rb"[A-Z]{3}[0-9A-Za-z]{11}")
_LARGEST_PAYLOAD = b"AzL8n0Y58m7"
_QUOTED_BYTES = 32


class IdError(ValueError):
    """What is wrong with an id, and what a right one looks like, in printable ASCII."""


class BrandedId(Struct, frozen=True):
    """A decoded id: its namespace and its Snowflake (0 … 2**63 - 1). ``str()`` gives the 14 characters."""

    namespace: str
    value: int

    @property
    def minted_at_ms(self) -> int:
        """When it was minted, in milliseconds since the Unix epoch."""
        return (self.value >> 22) + EPOCH_MS

    @property
    def node(self) -> int:
        return self.value >> 12 & LARGEST_NODE

    @property
    def sequence(self) -> int:
        return self.value & 4095

    @property
    def placement(self) -> int:
        return placement(self.value)

    def __str__(self) -> str:
        return encode(self.namespace, self.value)


# Codec and gate -----------------------------------------------------------------------------------------------------


def decode(text: str | bytes) -> BrandedId | None:
    """The id that ``text`` spells, or None where it is not a well-formed one."""
    raw = _bytes(text)
    return _decoded(raw) if is_branded(raw) else None


@lru_cache(maxsize=4096)  # who judges readings asks for the same few ids thousands of times a second
def _decoded(raw: bytes) -> BrandedId:
    value = 0
    for byte in raw[3:]:
        value = value * 62 + _DIGIT_VALUES[byte]
    return BrandedId(raw[:3].decode(), value)


def parse(text: str | bytes) -> BrandedId:
    """The id that ``text`` spells; raises `IdError` where it is not a well-formed one."""
    decoded = decode(text)
    if decoded is None:
        raw = _bytes(text)
        raise IdError(f"{_quoted(raw)} is no branded id: {_fault(raw)}; {RIGHT_ID}")
    return decoded


def encode(namespace: str, value: int) -> str:
    """The 14 characters of an id; raises `IdError` for a namespace or a value that no id can have."""
    _check_namespace(namespace)
    _check_value(value)
    digits = ""
    for _ in range(ID_BYTES - 3):
        value, digit = divmod(value, 62)
        digits = _DIGITS[digit] + digits
    return namespace + digits


def is_branded(member: bytes) -> bool:
    """Whether these bytes are a well-formed id, of any namespace."""
    return _SHAPE.fullmatch(member) is not None and member[3:] <= _LARGEST_PAYLOAD


def is_job_id(member: bytes) -> bool:
    """Whether these bytes are a well-formed id of the namespace ``JOB``."""
    return member[:3] == b"JOB" and is_branded(member)


def placement(text_or_value: str | bytes | int) -> int:
    """The 32-bit placement hash of an id's value; raises `IdError` for what is no id or no id's value."""
    value = text_or_value if isinstance(text_or_value, int) else parse(text_or_value).value
    _check_value(value)
    mixed = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & 0xFFFFFFFFFFFFFFFF
    return (mixed ^ mixed >> 33) & 0xFFFFFFFF


# Minting ------------------------------------------------------------------------------------------------------------


class Minter:
    """Mints ids of one node: unique and strictly increasing, whatever the clock does.

    The cell holds ``ms << 12 | sequence`` and the node is put in on packing, so a sequence that runs over 4095 carries
    into the milliseconds, and a clock that goes back is counted on from the last value. The cell starts at *now*, so
    the first id of that same millisecond has sequence 1.

    ``clock_ms`` answers milliseconds since the Unix epoch. Raises ValueError for a node outside 0 … 1023 and for a
    clock that starts before the ids' own epoch.
    """

    def __init__(self, node: int, clock_ms: Callable[[], int]) -> None:
        if not 0 <= node <= LARGEST_NODE:
            raise ValueError(f"the node {node} cannot mint ids: a node is a number from 0 to {LARGEST_NODE}")
        started_at_ms = clock_ms()
        if started_at_ms < EPOCH_MS:
            raise ValueError(f"the clock reads {started_at_ms} ms, before the ids' epoch {EPOCH_MS} (2024-01-01)")
        self._node = node
        self._clock_ms = clock_ms
        self._cell = (started_at_ms - EPOCH_MS) << 12
        self._turn = threading.Lock()

    def next(self) -> int:
        """The next Snowflake."""
        with self._turn:
            self._cell = max((self._clock_ms() - EPOCH_MS) << 12, self._cell + 1)
            return self._cell >> 12 << 22 | self._node << 12 | self._cell & 4095

    def mint(self, namespace: str) -> str:
        """The next id of a namespace; raises `IdError`, and uses up no number, for a namespace no id can have."""
        _check_namespace(namespace)
        return encode(namespace, self.next())


# For people ---------------------------------------------------------------------------------------------------------


def self_check() -> list[tuple[str, bool]]:
    """Three vectors that every implementation of these ids shares: what each says, and whether it holds here."""
    placed = decode("USR0KHTOWnGLuC")
    return [
        ('placement("USR0KHTOWnGLuC") is 234878118', placed is not None and placed.placement == 234878118),
        (
            'parse("USR0NgWEfAEJfs") is USR, 320636799581945856',
            decode("USR0NgWEfAEJfs") == BrandedId("USR", 320636799581945856),
        ),
        ('decode("USRzzzzzzzzzzz") is refused: it is beyond 2^63-1', decode("USRzzzzzzzzzzz") is None),
    ]


def explain(text: str | bytes) -> list[tuple[str, str]]:
    """What an id says, as (what, value) in the order to show; raises `IdError` where it is not a well-formed one."""
    branded = parse(text)
    minted_at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=branded.minted_at_ms)
    return [
        ("namespace", branded.namespace),
        ("minted", minted_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")),
        ("node", str(branded.node)),
        ("sequence", str(branded.sequence)),
        ("placement", str(branded.placement)),
        ("value", str(branded.value)),
    ]


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _check_namespace(namespace: str) -> None:
    raw = _bytes(namespace)
    if _NAMESPACE.fullmatch(raw) is None:
        raise IdError(f"{_quoted(raw)} is no namespace: a namespace is three capitals A-Z, like JOB")


def _check_value(value: int) -> None:
    if not 0 <= value <= LARGEST_VALUE:
        raise IdError(f"{value} is no id's value: a value is a number from 0 to 2^63-1 ({LARGEST_VALUE})")


def _quoted(raw: bytes) -> str:
    """The bytes in quotes, escaped to ASCII (so that look-alike letters show) and cut where they are long."""
    return repr(raw[:_QUOTED_BYTES])[1:] + ("..." if len(raw) > _QUOTED_BYTES else "")


def _fault(raw: bytes) -> str:
    if len(raw) != ID_BYTES:
        return f"it has {len(raw)} byte{'' if len(raw) == 1 else 's'}, not {ID_BYTES}"
    if _NAMESPACE.fullmatch(raw[:3]) is None:
        return f"its namespace {_quoted(raw[:3])} is not three capitals A-Z"
    for position, byte in enumerate(raw[3:], start=4):
        if byte not in _DIGIT_VALUES:
            return f"its byte {position}, {_quoted(bytes([byte]))}, is none of 0-9 A-Z a-z"
    return f"it is beyond the largest value 2^63-1, which is written {_LARGEST_PAYLOAD.decode()}"
