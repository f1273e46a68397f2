"""A stop in lines: instants moved back to the lesson's moment, tables and rounded numbers as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.walking import GUESS
from visualizer.called import Called
from visualizer.caller import ErrorReply
from visualizer.debugger import Local, Ran
from visualizer.inside import PlaceSeen, Seen
from visualizer.machine import MACHINES
from visualizer.script import load
from visualizer.trace import Trace
from visualizer.xray import Stop
from visualizer.xray_lines import command_lines, local_lines, seen_lines, standing

LEASED, CORE = MACHINES["leased"], MACHINES["core"]
CALLED = Called(load("leased/claim"), (b"emq:{cm}:pending", b"emq:{cm}:active"), (b"emq:{cm}:job:", b"30000"), GUESS)
ROW = {b"state": b"pending", b"attempts": b"0"}
NOWHERE = Seen((PlaceSeen("pending", 0, given=True), PlaceSeen("active", 0, given=True)), ROW)
WAITING = Seen((PlaceSeen("pending", 1, ((GUESS, 0),), (GUESS,), given=True), PlaceSeen("active", 0, given=True)), ROW)
FIRST = Stop(1, 29, 0, (), False, (), frozenset(), WAITING, WAITING)


def after(*ran: Ran, wrote: bool = False, later_ms: int = 0, found: tuple[Local, ...] = ()) -> Stop:
    return Stop(2, 30, 29, ran, wrote, found, frozenset(), NOWHERE, WAITING, later_ms)


def command(*ran: Ran, later_ms: int = 0) -> list[str]:
    return [line.text for line in command_lines((FIRST, after(*ran, later_ms=later_ms)), GUESS)]


def test_a_command_is_told_with_its_line_its_reply_and_what_it_did_inside() -> None:
    (told,) = command(Ran(b"ZPOPMIN emq:{cm}:pending", [GUESS, b"0"]))
    assert told.split("  →  ") == [
        " 29  ZPOPMIN emq:{cm}:pending",
        f'["{GUESS.decode()}", "0"]   {GUESS.decode()} leaves pending',
    ]


@pytest.mark.parametrize(
    ("text", "reply", "told", "answered"),
    [
        (b"ZADD active 1796000002000 JOB", 1, "ZADD active 1796000000000 JOB", "1"),
        (b"ZRANGEBYSCORE schedule -inf 1796000002000", [b"1796000002500"], "-inf 1796000000000", '["1796000000500"]'),
        (b"TIME", [b"1796000002", b"500"], "TIME", '["1796000000", "500"]'),
        # What is no instant stays: a count, an id of digits in a longer word, a time of another length.
        (b"HINCRBY row attempts 12", b"170000000000", "attempts 12", '"170000000000"'),
        (b"GET k:1796000002000", None, "GET k:1796000002000", "nil"),
    ],
)
def test_instants_are_moved_back(text: bytes, reply: Any, told: str, answered: str) -> None:
    (line,) = command(Ran(text, reply), later_ms=2_000)
    assert told in line
    assert f"→  {answered}" in line
    (raw,) = command(Ran(text, reply))
    assert text.decode() in raw


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (b"{1796000002; 500; }", "{ 1796000000, 500 }"),
        (b"1796000002000", "1796000000000"),
        (b"1.796e+12", "≈1.796e+12"),
        (b"{a; {b; c; }; }", "{ a, {b, c} }"),
        (b'{"game":"x; y"}', '{"game":"x; y"}'),
        (b"plain; text", "plain; text"),
        (b"\x1b[31m", "\\x1b[31m"),
    ],
)
def test_a_local_is_readable(printed: bytes, told: str) -> None:
    lines = local_lines(after(found=(Local("it", printed),), later_ms=2_000), CALLED)
    assert lines[0].text.split(None, 1) == ["it", told]


def test_keys_and_arguments_stand_by_the_headers_names() -> None:
    told = [line.text.split() for line in local_lines(after(), CALLED)]
    assert told[1:] == [
        ["KEYS"],
        ["pending", "emq:{cm}:pending"],
        ["active", "emq:{cm}:active"],
        ["ARGV"],
        ["row_prefix", "emq:{cm}:job:"],
        ["lease_ms", "30000"],
    ]


def test_what_the_other_side_sees_otherwise_stands_out() -> None:
    inside = seen_lines(NOWHERE, WAITING, GUESS, LEASED)
    assert inside[0].text == f"{GUESS.decode()} is in no set"
    roles = {line.spans[0].text.strip(): {span.role for span in line.spans[1:]} for line in inside[1:]}
    assert roles["pending"] == {"value"}
    assert roles["active"] == {"quiet"}
    assert {span.role for span in seen_lines(WAITING, WAITING, GUESS, LEASED)[0].spans} == {"strong"}


def test_empty_places_share_a_line_where_they_are_many_or_not_named() -> None:
    many = Seen(tuple(PlaceSeen(place.name, 0, given=True) for place in CORE.places), None)
    told = [line.text for line in seen_lines(many, many, GUESS, CORE)]
    assert told[0].endswith("is in no place")
    assert told[-1].split(None, 1) == ["empty", ", ".join(place.name for place in CORE.places)]
    few = Seen((PlaceSeen("pending", 0, given=True), PlaceSeen("dead", 0)), None)
    told = [" ".join(line.text.split()) for line in seen_lines(few, few, GUESS, LEASED)]
    assert told[1:] == ["pending empty", "row none", "empty dead"]


def test_a_row_keeps_its_order_whatever_the_server_gives() -> None:
    one = replace(WAITING, row={b"payload": b"x", b"attempts": b"0", b"group": b"g", b"state": b"pending"})
    other = replace(WAITING, row=dict(reversed(list((one.row or {}).items()))))
    assert seen_lines(one, one, GUESS, LEASED) == seen_lines(other, other, GUESS, LEASED)


@pytest.mark.parametrize("wrote", [True, False])
def test_the_end_says_whether_anything_was_written(wrote: bool) -> None:
    end = Stop(3, 0, 30, (), wrote, (), frozenset(), None, WAITING)
    trace = Trace("leased/claim", "", frozenset({29, 30}), [], [], ())
    told = standing((FIRST, after(), end), CALLED, trace).text
    assert told.endswith("now every client sees what it wrote" if wrote else "it answered [] and wrote nothing")
    broke = replace(trace, reply=ErrorReply("ERR user_script:29: oh. script: on @user_script:29."), error_line=29)
    told = standing((FIRST, after(), end), CALLED, broke).text
    assert "at line 29: user_script:29: oh. " in told
    assert told.endswith("What it had written stays written." if wrote else "It had written nothing.")
