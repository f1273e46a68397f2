"""Whether a trace tells what a step's frame tells: instants may differ, nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from msgspec import structs

from tests.core.walking import GUESS, RIVAL, Tap
from tests.engine.serving import needs_server
from tests.xray.looking import CLAIM, ENQUEUE, player_on, taken
from visualizer.caller import ErrorReply
from visualizer.engine import Engine
from visualizer.look_inside import source_of
from visualizer.model import Change, Frame, Step
from visualizer.script import load
from visualizer.trace import Trace, _timeless, call_of, went_another_way
from visualizer.xray import Xray

pytestmark = needs_server
NOW, LATER = 1_796_000_000_000, 1_796_000_009_999


@pytest.fixture
def claimed(valkey: Engine, one_copy: object) -> tuple[Trace, Frame]:  # noqa: ARG001 - it spares a server
    """A claim's trace and its frame."""
    player = player_on(valkey, ENQUEUE, CLAIM)
    frame = taken(player)
    xray = Xray(source_of(player, frame))
    xray.to_end()
    xray.close()
    assert xray.trace is not None
    return xray.trace, frame


def test_a_trace_of_the_same_call_agrees(claimed: tuple[Trace, Frame]) -> None:
    assert went_another_way(*claimed) == ""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"reply": []}, 'line by line it answered [], and in the lesson ["JOB0KHTOWnGLuC", '),
        ({"whole_reply": ErrorReply("EMQX\x1b no")}, "run whole it answered EMQX"),
        ({"moves": ()}, "JOB0KHTOWnGLuC stays as it is there, and leaves pending and enters active in the lesson"),
        ({"sha1": "0" * 40}, "the step ran another script"),
    ],
)
def test_what_is_other_is_told(claimed: tuple[Trace, Frame], change: dict[str, Any], told: str) -> None:
    trace, frame = claimed
    why = went_another_way(structs.replace(trace, **change), frame)
    assert why.startswith(told)
    assert "\x1b" not in why


def test_other_moves_and_other_fields_are_told(claimed: tuple[Trace, Frame]) -> None:
    trace, frame = claimed
    (move,) = trace.moves
    row = tuple(structs.replace(change, after=b"other") if change.field == b"state" else change for change in move.row)
    for other in (
        structs.replace(move, enters=("dead",)),
        structs.replace(move, row=row),
        structs.replace(move, row=(*move.row, Change(b"more", None, b"1"))),
        structs.replace(move, row_after=False),
    ):
        assert went_another_way(structs.replace(trace, moves=(other,)), frame)
    too_many = structs.replace(trace, moves=(move, structs.replace(move, id=RIVAL)))
    assert went_another_way(too_many, frame).startswith(f"{RIVAL.decode()} leaves pending")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (NOW, LATER, True),
        (b"%d" % NOW, b"%d" % LATER, True),
        (b"%d" % NOW, NOW, True),
        ([1, [b"at", b"%d" % NOW]], [1, [b"at", b"%d" % LATER]], True),
        ([b"a", b"1", b"b", b"2"], [b"b", b"2", b"a", b"1"], True),
        ([b"a", b"1", b"b", b"2"], [b"a", b"1", b"b", b"3"], False),
        ([b"a", b"b"], [b"b", b"a"], False),
        ([b"a", b"b", b"c"], [b"b", b"a", b"c"], False),
        (7, 8, False),
        (b"7", b"8", False),
        (None, [], False),
        (
            ErrorReply("EMQSTALE x script: on @user_script:2."),
            ErrorReply("EMQSTALE x script: f00, on @user_script:2."),
            True,
        ),
        (ErrorReply("EMQSTALE x"), ErrorReply("EMQSTALE y"), False),
        (ErrorReply("EMQSTALE x"), "EMQSTALE x", True),
    ],
)
def test_instants_and_a_hashs_order_do_not_count(one: Any, other: Any, same: bool) -> None:
    assert (_timeless(one) == _timeless(other)) is same


@pytest.mark.usefixtures("one_copy")
def test_a_refusal_is_an_error_in_the_trace_with_its_line(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE, CLAIM, Step("complete", given={"token": 9}))
    frame = taken(player)
    xray = Xray(source_of(player, frame))
    xray.to_end()
    xray.close()
    assert xray.trace is not None
    assert isinstance(xray.trace.reply, ErrorReply)
    assert xray.trace.reply.code == "EMQSTALE"
    assert went_another_way(xray.trace, frame) == ""


@pytest.mark.usefixtures("one_copy")
@pytest.mark.parametrize("ran", [True, False])
def test_a_reply_that_was_lost_is_not_compared(valkey: Engine, monkeypatch: pytest.MonkeyPatch, ran: bool) -> None:
    """What the step did is: where the call did not even arrive, the script did it here alone."""
    player = player_on(valkey, ENQUEUE, CLAIM)
    player.step()
    tap, sha1 = Tap(valkey, monkeypatch), load("leased/claim").sha1
    if ran:
        tap.lose = sha1
    else:
        tap.instead = lambda words: redis.ConnectionError("gone") if sha1 in words else None
    frame = taken(player)
    assert frame.outcome.name == "reply_lost"
    xray = Xray(source_of(player, frame))
    xray.to_end()
    xray.close()
    assert xray.trace is not None
    why = went_another_way(xray.trace, frame)
    assert why == (
        "" if ran else f"{GUESS.decode()} leaves pending and enters active there, and stays as it is in the lesson"
    )


def test_the_call_that_ran_is_the_last_of_its_script(valkey: Engine) -> None:
    """After a flush the first one was refused, and the script was loaded in between."""
    player = player_on(valkey, ENQUEUE, Step("flush_scripts"), CLAIM)
    frame = taken(player)
    assert [call.command for call in frame.calls] == ["HGET", "EVALSHA", "SCRIPT LOAD", "EVALSHA"]
    assert call_of(frame) is frame.calls[-1]
    assert call_of(player.walk.frames[1]) is None
    assert player.walk.frames[0].moves[0].id == GUESS


@pytest.mark.usefixtures("one_copy")
@pytest.mark.parametrize(
    ("source", "lines", "error_line"),
    [
        ("local a = 1\nlocal b = a.b.c\nreturn b", {1, 2}, 2),
        ("local a = 1\nredis.call('LPUSH', 'k', 'x', {})\nreturn 1", {1, 2}, 2),
        ("local a = 1\nif a == 2 then\n  a = 3\nend\nreturn a", {1, 2, 5}, 0),
        ("return redis.error_reply('EMQX y')", {1}, 0),
        ("return = 1", set(), 1),
    ],
)
def test_the_lines_that_ran_and_the_one_that_failed(
    xray_of: Any, source: str, lines: set[int], error_line: int
) -> None:
    xray = xray_of(source)
    xray.to_end()
    assert (xray.trace.lines, xray.trace.error_line) == (lines, error_line)
    assert _timeless(xray.trace.reply) == _timeless(xray.trace.whole_reply)
