"""The debugger's way of writing a reply, read back exactly."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from visualizer.debugger import DebuggerError, parse_reply

# Bytes of every kind, and those above all that mean something where a reply is written.
BYTES = st.binary() | st.lists(st.sampled_from(b'\n\r\t\a\b"\\x0a[],N\x00\x7f\xff')).map(bytes)
VALUES = st.recursive(st.none() | st.integers() | BYTES, lambda inner: st.lists(inner, max_size=5), max_leaves=25)
NAMED = {b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t", b"\a": b"\\a", b"\b": b"\\b", b'"': b'\\"', b"\\": b"\\\\"}


def written(value: Any) -> bytes:
    """A value as the server's debugger writes it."""
    if value is None:
        return b"NULL"
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, list):
        return b"[%b]" % b",".join(map(written, value))
    return b'"%b"' % b"".join(_byte(value[at : at + 1]) for at in range(len(value)))


def _byte(byte: bytes) -> bytes:
    return NAMED.get(byte) or (byte if 32 <= byte[0] < 127 else b"\\x%02x" % byte[0])


@given(VALUES)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert parse_reply(written(value)) == value


@given(st.binary(max_size=30))
def test_whatever_comes_is_a_reply_or_a_debugger_error(text: bytes) -> None:
    with contextlib.suppress(DebuggerError):
        parse_reply(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"(null)", None),
        (b"NULL", None),
        (b"[]", []),
        (b"[[],[NULL,-7]]", [[], [None, -7]]),
        (b'"+OK"', b"+OK"),
        (b'"\\x00\\xFF\\xff"', b"\x00\xff\xff"),
        (b'"\\\\x41"', b"\\x41"),
        (b'"\\\\\\""', b'\\"'),
        (b'"],[\\""', b'],["'),
    ],
)
def test_each_kind(text: bytes, value: Any) -> None:
    assert parse_reply(text) == value


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"[",
        b"]",
        b",",
        b"[1",
        b"[1,",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b'"',
        b'"\\"',
        b'"a"b',
        b"1.5",
        b"1 ",
        b"{1}",
    ],
)
def test_what_is_no_reply_is_refused(text: bytes) -> None:
    with pytest.raises(DebuggerError, match="which is no reply"):
        parse_reply(text)
