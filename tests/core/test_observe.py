"""One consistent reading in one round trip: what is in view, what is cut, what is odd."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.walking import GROUP, GUESS, HOUR_MS, LANE, LEASED, RIVAL, THIRD, Tap, space_on
from visualizer.engine import Engine
from visualizer.ids import Minter
from visualizer.model import Lock, Member, Observation, Place, PlaceReading, Row, SideKey
from visualizer.observe import ENDS, Observer
from visualizer.script import load

minter = Minter(5, lambda: 1_767_225_600_000)
MANY = [minter.mint("JOB").encode() for _ in range(100)]
LISTED = replace(LEASED, places=(*LEASED.places, Place("wait", "list", "the line", "position")))


def key(engine: Engine, name: str) -> bytes:
    return space_on(engine).key(name)


def read(engine: Engine, *captured: bytes, machine: Any = LEASED) -> Observation:
    return Observer(engine, machine, space_on(engine), captured or (GUESS,)).read()


def ranks(reading: PlaceReading) -> list[int]:
    return [member.rank for member in reading.members]


# Places ---------------------------------------------------------------------------------------------------------------


def test_an_empty_queue(engine: Engine) -> None:
    earliest = engine.client.time()
    seen = read(engine, GUESS, RIVAL)
    latest = engine.client.time()
    assert list(seen.places) == ["pending", "active", "schedule", "dead"]
    assert all((reading.count, reading.members, reading.whole) == (0, (), True) for reading in seen.places.values())
    assert seen.memberships == {GUESS: (), RIVAL: ()}
    assert seen.rows == {GUESS: None, RIVAL: None}
    assert (seen.locks, seen.sides, seen.dumps, seen.undumped, seen.owner) == ({}, {}, None, "", None)
    assert _ms(earliest) <= seen.clock_ms <= _ms(latest)


def _ms(time: Any) -> int:
    seconds, micros = time
    return int(seconds) * 1000 + int(micros) // 1000


def test_a_small_place_is_wholly_in_view(engine: Engine) -> None:
    engine.client.zadd(key(engine, "active"), {GUESS: 5, RIVAL: 3, THIRD: 2**53 - 1})
    reading = read(engine).places["active"]
    assert reading == PlaceReading(
        "active", 3, (Member(RIVAL, 0, 3.0), Member(GUESS, 1, 5.0), Member(THIRD, 2, float(2**53 - 1)))
    )
    assert reading.whole


@pytest.mark.parametrize("count", [2 * ENDS, 2 * ENDS + 1, 100])
def test_a_large_place_shows_its_ends(engine: Engine, count: int) -> None:
    engine.client.zadd(key(engine, "pending"), dict.fromkeys(MANY[:count], 0))
    reading = read(engine).places["pending"]
    shown = range(count) if count <= 2 * ENDS else [*range(ENDS), *range(count - ENDS, count)]
    assert reading.count == count
    assert reading.whole is (count <= 2 * ENDS)
    assert [(member.rank, member.id) for member in reading.members] == [(rank, MANY[rank]) for rank in shown]


@pytest.mark.parametrize(
    ("captured", "shown"),
    [
        ([50], [*range(20), *range(47, 54), *range(80, 100)]),
        ([20], [*range(24), *range(80, 100)]),
        ([79], [*range(20), *range(76, 100)]),
        ([19, 80], [*range(20), *range(80, 100)]),
        ([50, 52], [*range(20), *range(47, 56), *range(80, 100)]),
        ([30, 70], [*range(20), *range(27, 34), *range(67, 74), *range(80, 100)]),
    ],
    ids=str,
)
def test_a_window_stands_around_every_captured_id(engine: Engine, captured: list[int], shown: list[int]) -> None:
    engine.client.zadd(key(engine, "pending"), dict.fromkeys(MANY, 0))
    seen = read(engine, *[MANY[rank] for rank in captured])
    reading = seen.places["pending"]
    assert ranks(reading) == shown
    assert [member.id for member in reading.members] == [MANY[rank] for rank in shown]
    assert seen.memberships == {MANY[rank]: ("pending",) for rank in captured}


def test_a_list_is_read_in_its_order(engine: Engine) -> None:
    engine.client.rpush(key(engine, "wait"), THIRD, GUESS, THIRD)
    seen = read(engine, machine=LISTED)
    assert seen.places["wait"] == PlaceReading("wait", 3, (Member(THIRD, 0), Member(GUESS, 1), Member(THIRD, 2)))
    assert seen.memberships == {GUESS: ("wait",)}
    assert seen.score("wait", GUESS) is None


def test_a_long_list_shows_its_ends_and_a_window(engine: Engine) -> None:
    engine.client.rpush(key(engine, "wait"), *MANY)
    reading = read(engine, MANY[60], machine=LISTED).places["wait"]
    assert ranks(reading) == [*range(20), *range(57, 64), *range(80, 100)]
    assert [member.id for member in reading.members] == [MANY[rank] for rank in ranks(reading)]


@pytest.mark.parametrize(("deep", "found"), [(500, True), (1500, False), (2700, True)])
def test_an_id_deep_inside_a_long_list_may_be_deeper_than_we_look(engine: Engine, deep: int, found: bool) -> None:
    fill = [b"%d" % number for number in range(3000)]
    fill[deep] = GUESS
    engine.client.rpush(key(engine, "wait"), *fill)
    seen = read(engine, machine=LISTED)
    assert seen.memberships == {GUESS: ("wait",) if found else ()}
    assert (deep in ranks(seen.places["wait"])) is found


def test_a_key_of_another_type_is_named_and_not_read(engine: Engine) -> None:
    engine.client.set(key(engine, "pending"), "text")
    engine.client.rpush(key(engine, "dead"), GUESS)
    seen = read(engine)
    assert seen.places["pending"] == PlaceReading("pending", 0, (), "string")
    assert seen.places["dead"] == PlaceReading("dead", 0, (), "list")
    assert seen.places["active"].wrong_type is None
    assert seen.memberships == {GUESS: ()}


@pytest.mark.parametrize("member", [b"0:1000", b"\xff\x00\x83", b"", b"JOB0KHTOWnGLu", b"a\r\nb", "\u202e".encode()])
def test_a_foreign_member_is_read_as_it_is(engine: Engine, member: bytes) -> None:
    engine.client.zadd(key(engine, "active"), {member: 0})
    seen = read(engine)
    assert seen.places["active"].members == (Member(member, 0, 0.0),)
    assert seen.rows == {GUESS: None, member: None}
    assert seen.homes() == {GUESS: (), member: ("active",)}


# Lanes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["ring", "paused", "glimit", "gactive", "row"])
def test_a_lane_is_found_by_whatever_names_its_group(engine: Engine, side: str) -> None:
    client: Any = engine.client
    client.zadd(key(engine, LANE), {RIVAL: 0})
    assert LANE not in read(engine).places
    if side == "ring":
        client.rpush(key(engine, side), GROUP)
    elif side == "paused":
        client.sadd(key(engine, side), GROUP)
    elif side == "row":
        client.hset(space_on(engine).job(GUESS), "group", GROUP)
    else:
        client.hset(key(engine, side), GROUP, 1)
    seen = read(engine)
    assert seen.places[LANE] == PlaceReading(LANE, 1, (Member(RIVAL, 0, 0.0),))
    assert seen.homes()[RIVAL] == (LANE,)


def test_a_lane_is_read_once_however_often_it_is_named(engine: Engine, tap: Tap) -> None:
    client: Any = engine.client
    client.zadd(key(engine, LANE), {GUESS: 0})
    client.rpush(key(engine, "ring"), GROUP, GROUP)
    client.hset(key(engine, "gactive"), GROUP, 1)
    seen = read(engine)
    assert [name for name in seen.places if name == LANE] == [LANE]
    assert seen.memberships == {GUESS: (LANE,)}
    assert len(tap.sent) == 2


@pytest.mark.parametrize("group", [b"", b"\xff", b"a:b", b"{x}"])
def test_a_group_that_is_no_id_is_no_crash(engine: Engine, group: bytes) -> None:
    engine.client.rpush(key(engine, "ring"), group)
    seen = read(engine)
    assert len(seen.places) == 5
    assert seen.sides["ring"] == (group,)


def test_more_lanes_than_one_call_can_name(engine: Engine) -> None:
    groups = [minter.mint("PRT") for _ in range(250)]
    pipeline: Any = engine.client.pipeline(transaction=False)
    pipeline.hset(key(engine, "gactive"), mapping=dict.fromkeys(groups[:90], 1))
    pipeline.hset(key(engine, "glimit"), mapping=dict.fromkeys(groups[90:170], 1))
    pipeline.rpush(key(engine, "ring"), *groups[170:])
    for number, group in enumerate(groups):
        pipeline.zadd(space_on(engine).lane(group), {f"{number}:{each}": 0 for each in range(40)})
    locked = b"249:39"
    pipeline.set(key(engine, "job:") + locked + b":lock", "w1")
    pipeline.execute()
    seen = read(engine)
    assert (len(seen.places), len(seen.rows)) == (254, 10_001)
    assert seen.locks == {locked: Lock(b"w1", -1)}


# Rows, locks, sides ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", [b"", b"\x83h\x04w\x05guess", b"\x9c\xff\x00", bytes(range(256)) * 4096])
def test_a_captured_row_is_read_whole_and_byte_for_byte(engine: Engine, payload: bytes) -> None:
    fields: dict[Any, Any] = {b"state": b"pending", b"payload": payload, b"\xff:": b"\x00"}
    engine.client.hset(space_on(engine).job(GUESS), mapping=fields)
    assert read(engine).rows == {GUESS: Row(fields, whole=True)}


def test_another_row_is_only_glanced_at(engine: Engine) -> None:
    client: Any = engine.client
    client.zadd(key(engine, "pending"), dict.fromkeys((RIVAL, THIRD, MANY[0]), 0))
    client.hset(space_on(engine).job(RIVAL), mapping={"attempts": "2", "payload": "x" * 1_000_000, "state": "pending"})
    client.hset(space_on(engine).job(THIRD), "payload", "x")
    seen = read(engine)
    assert seen.rows == {
        GUESS: None,
        RIVAL: Row({b"state": b"pending", b"attempts": b"2"}, whole=False),
        THIRD: Row({}, whole=False),
        MANY[0]: None,
    }


def test_a_row_of_another_type_is_no_crash(engine: Engine) -> None:
    engine.client.set(space_on(engine).job(GUESS), "text")
    engine.client.set(space_on(engine).job(RIVAL), "text")
    engine.client.zadd(key(engine, "pending"), {RIVAL: 0})
    assert read(engine).rows == {GUESS: None, RIVAL: None}


def test_locks_come_with_what_is_left_of_them(engine: Engine) -> None:
    client: Any = engine.client
    client.zadd(key(engine, "active"), {RIVAL: 1})
    client.set(space_on(engine).job(GUESS) + b":lock", b"w\xff", px=HOUR_MS)
    client.set(space_on(engine).job(RIVAL) + b":lock", "w2")
    client.rpush(space_on(engine).job(THIRD) + b":lock", "a list")
    locks = read(engine, GUESS, THIRD).locks
    assert set(locks) == {GUESS, RIVAL}
    assert locks[GUESS].token == b"w\xff"
    assert 0 < locks[GUESS].ttl_ms <= HOUR_MS
    assert locks[RIVAL] == Lock(b"w2", -1)


def test_side_keys_are_read_by_their_kind(engine: Engine) -> None:
    client: Any = engine.client
    sides = (*LEASED.sides, SideKey("marks", "zset"), SideKey("word", "string"))
    client.rpush(key(engine, "ring"), GROUP, GROUP)
    client.sadd(key(engine, "paused"), b"b", b"a")
    client.hset(key(engine, "meta"), "paused", 1)
    client.zadd(key(engine, "marks"), {b"0": 1.5})
    client.set(key(engine, "word"), b"\x00")
    assert read(engine, machine=replace(LEASED, sides=sides)).sides == {
        "ring": (GROUP, GROUP),
        "paused": (b"a", b"b"),
        "meta": {b"paused": b"1"},
        "marks": ((b"0", 1.5),),
        "word": b"\x00",
    }


def test_a_side_key_of_another_type_or_size_is_no_crash(engine: Engine) -> None:
    client: Any = engine.client
    client.set(key(engine, "meta"), "no hash")
    client.hset(key(engine, "metrics:failed"), mapping={f"f{number}": 1 for number in range(101)})
    client.rpush(key(engine, "wake"), *range(150))
    seen = read(engine).sides
    assert (seen["meta"], seen["metrics:failed"]) == (-1, 101)
    assert seen["wake"] == tuple(b"%d" % number for number in range(100))


def test_the_owner_is_read_with_the_rest(engine: Engine) -> None:
    engine.client.set(key(engine, "visualizer:owner"), b"token")
    assert read(engine).owner == b"token"


# One round trip, one moment -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dumps", [False, True])
def test_a_reading_is_one_round_trip(engine: Engine, tap: Tap, dumps: bool) -> None:
    engine.client.zadd(key(engine, "pending"), dict.fromkeys(MANY, 0))
    engine.client.rpush(key(engine, "ring"), GROUP)
    observer = Observer(engine, LEASED, space_on(engine), [*MANY[:50], GUESS])
    observer.read()
    tap.sent.clear()
    observer.read([key(engine, "pending")] if dumps else [])
    assert [(words[0], words[1]) for words in tap.sent] == [("EVALSHA", load("observe").sha1)]


def test_a_reading_writes_nothing(engine: Engine) -> None:
    engine.client.zadd(key(engine, "pending"), {GUESS: 0})
    before = {name: engine.client.dump(name) for name in engine.client.scan_iter()}
    read(engine)
    assert {name: engine.client.dump(name) for name in engine.client.scan_iter()} == before


def test_a_row_deleted_around_a_reading_is_never_half_there(engine: Engine, tap: Tap) -> None:
    """Whoever deletes comes before or after the one call, never inside: place and row agree in every reading."""
    client, space = engine.client, space_on(engine)

    def admit(_: Any = None) -> None:
        client.zadd(space.key("pending"), {GUESS: 0})
        client.hset(space.job(GUESS), "state", "pending")

    def remove(_: Any = None) -> None:
        client.delete(space.job(GUESS))
        client.zrem(space.key("pending"), GUESS)

    for before, after, there in ((admit, remove, True), (remove, admit, False)):
        tap.before, tap.after = before, after
        seen = read(engine)
        assert (seen.memberships[GUESS] == ("pending",), seen.rows[GUESS] is not None) == (there, there)


def test_only_the_keys_asked_for_are_dumped(engine: Engine) -> None:
    client: Any = engine.client
    pending, dead = key(engine, "pending"), key(engine, "dead")
    client.zadd(pending, {GUESS: 0})
    client.zadd(key(engine, "active"), {GUESS: 0})
    client.pexpire(pending, HOUR_MS)
    seen = Observer(engine, LEASED, space_on(engine), [GUESS]).read([pending, dead])
    assert seen.dumps is not None
    assert set(seen.dumps) == {pending}, "a key that is not there has no dump"
    assert seen.dumps[pending].data == client.dump(pending)
    assert seen.dumps[pending].expires_at_ms == client.pexpiretime(pending)
