"""The wire log in lines: names from the script's header, SHA-1s, cut arguments, totals, and nothing raw."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.core.walking import GUESS, claimed, take, walker_on
from tests.hostile import HOSTILE, NAMES
from tests.shell.test_hostile_text import assert_printable
from visualizer.engine import Engine
from visualizer.model import Frame, Issued, WireCall
from visualizer.script import load
from visualizer.wire_log import BROKE_OFF, NO_CALL, NOTHING_YET, WITHOUT_REPLIES, total, wire_log

BASE = b"emq:{cm}:"
ENQUEUE, CLAIM = load("leased/enqueue"), load("leased/claim")


@pytest.fixture
def frame(fake: Engine) -> Frame:
    """A frame to put other calls into."""
    return take(walker_on(fake), "enqueue")


def told(frame: Frame, *calls: WireCall, unwatched: str | None = None) -> list[str]:
    return [line.text for line in wire_log(replace(frame, calls=calls), BASE, unwatched)]


def call(**given: object) -> WireCall:
    """An EVALSHA of enqueue that was watched and issued nothing."""
    made = WireCall(
        "EVALSHA",
        (BASE + b"job:" + GUESS, BASE + b"pending"),
        (GUESS, b"p"),
        1,
        None,
        0.1234,
        ENQUEUE.name,
        ENQUEUE.sha1,
    )
    return replace(made, **{"sent_bytes": 1_217, "issued": (), **given})


def test_a_whole_log(frame: Frame) -> None:
    issued = (Issued((b"EXISTS", BASE + b"job:" + GUESS), 0, True), Issued((b"GET", b"k"), None, True, "WRONGTYPE no"))
    plain = WireCall("HGET", (BASE + b"meta",), (b"paused",), None, None, 0.05, sent_bytes=46)
    assert told(frame, plain, call(issued=issued)) == [
        "emq:{cm}: begins the keys and is left out of them.",
        "call 1 HGET  46 B sent, 50 µs",
        "keys   1 meta",
        "args   1 paused",
        "reply  nil",
        "call 2 EVALSHA leased/enqueue  1,217 B sent, 123 µs",
        f"sha1   {ENQUEUE.sha1}",
        "keys   1 row     job:JOB0KHTOWnGLuC",
        "       2 pending pending",
        "args   1 id      JOB0KHTOWnGLuC",
        "       2 payload p",
        "reply  1",
        "inside 1 EXISTS job:JOB0KHTOWnGLuC → 0",
        "       2 GET k → WRONGTYPE no",
        "total  2 calls, 1,263 B sent, 173 µs",
    ]


def test_a_frame_that_had_to_load_its_script(engine: Engine) -> None:
    walker = walker_on(engine, watch=True)
    take(walker, "flush_scripts", None)
    log = [line.text for line in wire_log(take(walker, "enqueue"), BASE)]
    assert [line.split("  ")[0] for line in log if line.startswith("call")] == [
        "call 1 EVALSHA leased/enqueue",
        "call 2 SCRIPT LOAD leased/enqueue",
        "call 3 EVALSHA leased/enqueue",
    ]
    again = f"sha1   {ENQUEUE.sha1[:7]}…, as above"
    assert [line for line in log if line.startswith("sha1")] == [f"sha1   {ENQUEUE.sha1}", again], "a load carries none"
    assert f"text   the script, {len(ENQUEUE.source.encode()):,} B" in log
    replies = [line for line in log if line.startswith("reply")]
    assert replies[0].startswith("reply  NOSCRIPT ")
    assert replies[1:] == [f'reply  "{ENQUEUE.sha1}"', "reply  1"]
    assert log[log.index(replies[0]) + 1] == "inside nothing was issued"


def test_what_the_log_does_not_know_it_says(frame: Frame) -> None:
    assert [line.text for line in wire_log(None, BASE)] == [NOTHING_YET]
    assert told(frame) == [NO_CALL]
    assert told(frame, call(issued=None))[-1] == BROKE_OFF
    assert told(frame, call(issued=None), unwatched="Not here.")[-1] == "Not here."
    assert told(frame, call(issued=(Issued((b"TIME",)),)))[-1] == WITHOUT_REPLIES
    assert told(frame, call(issued=(Issued((b"TIME",), [], True),)))[-1].startswith("total")
    plain = WireCall("DEL", (b"k",), (), 1, None, 0.01)
    assert told(frame, plain, unwatched="Not here.")[-1].startswith("total")


def test_names_of_repeating_and_unused_positions(frame: Frame) -> None:
    locks = load("leased/extend_locks")
    args = (b"b", b"1", b"id1", b"t1", b"id2", b"t2")
    log = told(frame, call(script=locks.name, sha1=locks.sha1, keys=(b"k",), args=args))
    assert [line.split()[-2:] for line in log if line.endswith(("id1", "t1", "id2", "t2"))] == [
        ["id_and_token", word] for word in ("id1", "t1", "id2", "t2")
    ]
    claim = load("core/moveToActive-11")
    log = told(frame, call(script=claim.name, sha1=claim.sha1, keys=tuple(b"k%d" % at for at in range(1, 12)), args=()))
    assert "        4 events (unused)  k4" in log
    assert "       11 marker (unused)  k11" in log


def test_what_is_long_is_cut_and_says_how_long_it_is(frame: Frame) -> None:
    long = b"x" * 1_000
    log = told(frame, call(args=(GUESS, long), reply=[long, [1, None]], issued=(Issued((b"SET", long), long, True),)))
    assert next(line for line in log if "payload" in line).endswith("x… (1,000 B)")
    assert next(line for line in log if line.startswith("reply")).endswith('x…" (1,000 B), [1, nil]]')
    assert next(line for line in log if line.startswith("inside")).count("(1,000 B)") == 2
    assert max(map(len, log)) < 120
    many = told(frame, call(reply=[b"a"] * 1_000))
    assert next(line for line in many if line.startswith("reply")).endswith('"a", … 1,000 in all]')


def test_the_total(frame: Frame) -> None:
    assert total([call()]) == "1 call, 1,217 B sent, 123 µs"
    assert told(frame, call(), call())[-1] == "total  2 calls, 2,434 B sent, 246 µs"


@pytest.mark.parametrize("data", [data for _, data in HOSTILE], ids=NAMES)
def test_nothing_raw_is_shown(frame: Frame, data: bytes) -> None:
    error = data.decode(errors="surrogateescape")
    issued = (Issued((data, data), data, True), Issued((b"GET", BASE + data), None, True, error))
    log = told(frame, call(keys=(data,), args=(data, data), reply=[data, [data]], issued=issued), call(error=error))
    assert_printable("\n".join(log).encode())


def test_binary_payloads_come_through_a_script(engine: Engine) -> None:
    walker = walker_on(engine, watch=True)
    payload = b'\x83h\x02"\\\n\x00\xff'
    issued = take(walker, "enqueue", payload_bytes=payload).calls[0].issued or ()
    assert issued[1].words[-1] == payload
    shown = next(line.text for line in wire_log(walker.walk.frames[-1], BASE) if "HSET" in line.text)
    assert r'payload \x83h\x02"\\n\x00\xff (8 B)' in shown


def test_the_log_of_a_claim_has_the_names_of_its_header(engine: Engine) -> None:
    walker = walker_on(engine, watch=True)
    log = [line.text for line in wire_log(claimed(walker), BASE)]
    for name in (*(slot.name for slot in CLAIM.header.keys), *(slot.name for slot in CLAIM.header.args)):
        assert any(f" {name} " in line for line in log)


def test_the_text_that_a_call_carries_is_told_by_its_length_and_is_no_argument(frame: Frame) -> None:
    by_text = call(command="EVAL", args=(ENQUEUE.source.encode(), GUESS, b"p"), issued=None)
    lines = told(frame, by_text)
    assert f"text   the script, {len(ENQUEUE.source.encode()):,} B" in lines
    at = lines.index("args   1 id      JOB0KHTOWnGLuC")
    assert lines[at : at + 3] == ["args   1 id      JOB0KHTOWnGLuC", "       2 payload p", "reply  1"]
