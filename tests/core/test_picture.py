"""The machine at one moment as a front end draws it: marks, counts, edges, and what is in no place."""

from __future__ import annotations

import pytest

from tests.core.readings import CLOCK_MS, place, row, seen
from tests.core.walking import GROUP, GUESS, HOUR_MS, LANE, LEASED, RIVAL, THIRD, claimed, space_on, take, walker_on
from visualizer.engine import Engine
from visualizer.ids import Minter
from visualizer.model import Frame, Observation, PlaceReading
from visualizer.picture import SIGN, Edge, MemberView, Picture, PlaceView, countdown, picture
from visualizer.walk import Walker

FOREIGN = b"0:1000"
minter = Minter(5, lambda: 1_767_225_600_000)
MANY = [minter.mint("JOB").encode() for _ in range(60)]


def drawn(walker: Walker, frame: Frame | None = None) -> Picture:
    frame = frame or walker.walk.frame
    return picture(LEASED, frame.after if frame else walker.walk.opening, frame)


def view(drawing: Picture, name: str) -> PlaceView:
    return next(each for each in (*drawing.places, *drawing.lanes) if each.name == name)


def marks(drawing: Picture) -> dict[str, str]:
    return {each.name: each.mark for each in drawing.places}


def at_rest(reading: Observation, now_ms: float | None = None) -> Picture:
    return picture(LEASED, reading, None, now_ms)


def test_the_opening_is_quiet(engine: Engine) -> None:
    drawing = drawn(walker_on(engine))
    assert [each.name for each in drawing.places] == ["pending", "active", "schedule", "dead"]
    assert set(marks(drawing).values()) == {"quiet"}
    assert (drawing.edges, drawing.lanes, drawing.nowhere) == ((), (), ())
    assert view(drawing, "active") == PlaceView(
        "active", "zset", "score = lease ends", "lease ends", 0, 0, "quiet", (), 0
    )


def test_a_move_marks_both_places_and_draws_its_edge(engine: Engine) -> None:
    walker = walker_on(engine, GUESS, RIVAL)
    take(walker, "enqueue", RIVAL)
    claimed(walker)
    drawing = drawn(walker)
    assert marks(drawing) == {"pending": "left", "active": "entered", "schedule": "quiet", "dead": "quiet"}
    assert drawing.edges == (Edge("pending", "active", "claim"),)
    left, stayed = view(drawing, "pending").members
    assert (left, stayed.mark) == (MemberView(GUESS, "left", "left"), "resting")
    entered = view(drawing, "active").members[0]
    assert (entered.id, entered.mark, entered.at_ms) == (
        GUESS,
        "entered",
        walker.walk.shown.score("active", GUESS),
    )
    assert view(drawing, "pending").count == 1, "what left is shown and not counted"


def test_admitting_and_completing_have_one_end_outside(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    assert drawn(walker).edges == (Edge(None, "pending", "enqueue"),)
    take(walker, "claim", lease_ms=HOUR_MS)
    take(walker, "complete", token="w1")
    drawing = drawn(walker)
    assert drawing.edges == (Edge("active", None, "complete"),)
    assert marks(drawing)["active"] == "left"


def test_a_new_score_and_a_refusal_move_nothing(engine: Engine) -> None:
    walker = walker_on(engine)
    claimed(walker)
    take(walker, "extend_lock", token="w1", lease_ms=2 * HOUR_MS)
    drawing = drawn(walker)
    assert (drawing.edges, view(drawing, "active").mark) == ((), "holds")
    assert [member.mark for member in view(drawing, "active").members] == ["rescored"]
    take(walker, "complete", token=7)
    drawing = drawn(walker)
    assert (drawing.edges, view(drawing, "active").mark) == ((), "holds")
    assert [member.mark for member in view(drawing, "active").members] == ["own"]


def test_several_ways_are_several_edges_the_own_jobs_first(engine: Engine) -> None:
    walker = walker_on(engine, GUESS, RIVAL, THIRD)
    for job in (GUESS, RIVAL, THIRD):
        take(walker, "enqueue", job)
    take(walker, "claim_batch", RIVAL, size=3, lease_ms=1)
    assert drawn(walker).edges == (Edge("pending", "active", "claim batch"),), "one way, one edge"
    take(walker, "wait_until_lapsed", RIVAL)
    engine.client.hset(space_on(engine).job(RIVAL), "stalled", 1)
    walker.look()
    take(walker, "sweep_stalled", RIVAL, max_stalled=2)
    assert drawn(walker).edges == (
        Edge("active", "dead", "sweep stalled"),
        Edge("active", "pending", "sweep stalled"),
    )


def test_what_another_client_did_is_not_ours(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "enqueue")
    engine.client.zrem(space_on(engine).key("pending"), GUESS)
    walker.look()
    drawing = drawn(walker)
    assert drawing.edges == (Edge("pending", None, "not this walk"),)
    assert drawing.nowhere == (GUESS,)


def test_a_lane_stands_after_the_places(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "lane_enqueue", group=GROUP)
    drawing = drawn(walker)
    assert [lane.name for lane in drawing.lanes] == [LANE]
    assert (view(drawing, LANE).mark, view(drawing, LANE).members[0].mark) == ("entered", "entered")
    assert drawing.edges == (Edge(None, LANE, "lane enqueue"),)
    assert drawing.nowhere == ()


def test_foreign_members_are_marked_and_no_jobs() -> None:
    reading = seen(place("active", (FOREIGN, 0), (GUESS, CLOCK_MS + 9)), rows={FOREIGN: None})
    active = view(at_rest(reading), "active")
    assert (active.count, active.foreign, active.jobs) == (2, 1, 1)
    assert [(member.mark, member.note) for member in active.members] == [
        ("foreign", "foreign, no row"),
        ("resting", "in 9 ms"),
    ]


def test_a_foreign_member_may_have_a_row() -> None:
    reading = seen(place("active", (FOREIGN, 0)), rows={FOREIGN: row("active")})
    assert view(at_rest(reading), "active").members == (MemberView(FOREIGN, "foreign", "foreign"),)


def test_a_hole_is_marked() -> None:
    reading = seen(place("dead", (GUESS, 0), (RIVAL, 0)), rows={GUESS: None})
    assert [(member.mark, member.note) for member in view(at_rest(reading), "dead").members] == [
        ("no_row", "no row"),
        ("resting", ""),
    ]


def test_what_is_out_of_view_is_counted() -> None:
    reading = seen(place("pending", *((job, 0) for job in MANY[:40]), count=60))
    pending = view(at_rest(reading), "pending")
    assert (pending.count, len(pending.members), pending.hidden) == (60, 40, 20)


def test_a_key_of_another_type_is_named() -> None:
    reading = seen(PlaceReading("pending", 0, (), "string"))
    assert view(at_rest(reading), "pending").wrong_type == "string"


def test_an_id_with_a_row_and_no_place_is_nowhere_or_elsewhere() -> None:
    reading = seen(place("dead", (RIVAL, 0)), rows={GUESS: row("active")})
    assert at_rest(reading).nowhere == (GUESS,), "THIRD has no row, RIVAL has a place"
    drawing = picture(LEASED, reading, None, found={GUESS: ("emq:{cm}:fifth",), RIVAL: ("x",), THIRD: ("x",)})
    assert (drawing.nowhere, drawing.elsewhere) == ((), {GUESS: ("emq:{cm}:fifth",)})
    assert picture(LEASED, reading, None, found={GUESS: ()}).nowhere == (GUESS,)


@pytest.mark.parametrize(
    ("name", "ahead_ms", "text"),
    [
        ("active", 1_800, "in 1.8 s"),
        ("active", 0, "0 ms ago"),
        ("active", -3_000, "3.0 s ago"),
        ("schedule", 125_000, "in 2 min 5 s"),
        ("schedule", 599_998, "in 10 min"),
        ("active", -10_000, "10.0 s ago"),
        ("active", -10_001, "lapsed"),
        ("schedule", -42_000, "due"),
    ],
)
def test_a_time_is_told_against_the_clock_of_now(name: str, ahead_ms: int, text: str) -> None:
    now_ms = CLOCK_MS + 60_000
    assert countdown(LEASED, name, now_ms + ahead_ms, now_ms) == text
    reading = seen(place(name, (GUESS, now_ms + ahead_ms)))
    assert view(at_rest(reading, now_ms), name).members[0].note == text


def test_a_score_that_names_no_time_has_no_countdown() -> None:
    assert countdown(LEASED, "pending", None, CLOCK_MS) == ""


def test_every_mark_has_a_sign_of_one_cell() -> None:
    assert all(len(sign) == 1 for sign in SIGN.values())
    assert len(set(SIGN.values())) == len(SIGN)
