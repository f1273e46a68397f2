"""The lanes of a lesson's groups and whose turn it is, as they are drawn and as a readout tells them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.readings import CLOCK_MS
from tests.core.walking import GROUP, GUESS, HOUR_MS, LEASED, RIVAL, THIRD, space_on, take, walker_on
from tests.lessons.writing import read
from visualizer.engine import Engine
from visualizer.lane_view import LaneView, lanes_of, turns
from visualizer.lesson import find
from visualizer.model import Frame, Observation
from visualizer.picture import picture
from visualizer.plain.text import picture_lines
from visualizer.player import machine_of
from visualizer.readout import readout
from visualizer.walk import Walker

ANN, BEN = b"PLR0KCUfUXQup6", b"PLR0KCUg0agcSm"
NAMED = replace(LEASED, group_names={ANN: "ann", BEN: "ben"})


def walking(engine: Engine) -> Walker:
    return walker_on(engine, GUESS, RIVAL, THIRD)


def enqueue(walker: Walker, job: bytes, group: bytes) -> Frame:
    return take(walker, "lane_enqueue", job, group=group)


def claim(walker: Walker) -> Frame:
    return take(walker, "lane_claim", None, worker="w1", lease_ms=HOUR_MS)


def views(seen: Observation, frame: Frame | None = None) -> dict[str, LaneView]:
    return {lane.name: lane for lane in lanes_of(NAMED, seen, frame, picture(NAMED, seen, frame))}


def of(frame: Frame) -> dict[str, tuple[int | None, str, int, int]]:
    """Each lane's turn, what happened to it, how many wait and how many are out."""
    lanes = views(frame.after, frame)
    return {name: (lane.turn, lane.mark, lane.waiting, lane.out) for name, lane in lanes.items()}


def told(frame: Frame) -> list[str]:
    return [line.text for line in readout(NAMED, frame)]


def at_rest(**sides: Any) -> Observation:
    return Observation(CLOCK_MS, {}, {}, {}, {}, sides)


# On an engine ---------------------------------------------------------------------------------------------------------


def test_lanes_join_the_ring_turn_on_it_and_leave_it(engine: Engine) -> None:
    walker = walking(engine)
    frame = enqueue(walker, GUESS, ANN)
    assert of(frame) == {"ann": (1, "joined", 1, 0), "ben": (None, "stays", 0, 0)}
    assert "ann (PLR0KCUf…up6) joins the ring, alone on it: 1 job waits in its lane." in told(frame)
    assert "ring   + ann   wake 0 → 1" in told(frame)

    frame = enqueue(walker, RIVAL, ANN)
    assert of(frame)["ann"] == (1, "stays", 2, 0)
    assert "ring   1 ann" in told(frame)

    frame = enqueue(walker, THIRD, BEN)
    assert of(frame) == {"ann": (1, "stays", 2, 0), "ben": (2, "joined", 1, 0)}
    assert "ben (PLR0KCUg…cSm) joins the ring, at its tail: 1 job waits in its lane." in told(frame)

    frame = claim(walker)
    assert of(frame) == {"ann": (2, "turned", 1, 1), "ben": (1, "stays", 1, 0)}
    assert "ann (PLR0KCUf…up6) goes from the ring's head to its tail: the next turn is ben's." in told(frame)
    assert "ring   1 ben   ~ ann   out ann 0 → 1" in told(frame)

    frame = claim(walker)
    assert of(frame) == {"ann": (1, "stays", 1, 1), "ben": (None, "left", 0, 1)}
    assert "ben (PLR0KCUg…cSm) leaves the ring: nothing more waits in its lane." in told(frame)
    assert "ring   1 ann   − ben   out ben 0 → 1" in told(frame)


def test_a_limit_takes_a_lane_off_the_ring_until_a_lease_ends(engine: Engine) -> None:
    walker = walking(engine)
    frame = take(walker, "lane_limit", None, group=ANN, limit=1)
    assert "ring   empty: no group has a turn   limit ann none → 1" in told(frame)
    enqueue(walker, GUESS, ANN)
    enqueue(walker, RIVAL, ANN)
    frame = claim(walker)
    assert of(frame)["ann"] == (None, "left", 1, 1)
    assert (views(frame.after, frame)["ann"].limit, views(frame.after, frame)["ann"].more_out) == (1, 1)
    assert "ann (PLR0KCUf…up6) leaves the ring: its limit of 1 is reached." in told(frame)
    assert "ring   empty: no group has a turn   − ann   out ann 0 → 1 of 1" in told(frame)
    frame = take(walker, "complete", token="w1")
    assert of(frame)["ann"] == (1, "joined", 1, 0)
    assert views(frame.after, frame)["ann"].more_out == -1
    frame = claim(walker)
    both = "leaves the ring: its limit of 1 is reached and nothing more waits in its lane."
    assert any(line.endswith(both) for line in told(frame))


def test_a_paused_lane_says_so(engine: Engine) -> None:
    walker = walking(engine)
    enqueue(walker, GUESS, ANN)
    frame = take(walker, "lane_pause", None, group=ANN)
    assert "ann (PLR0KCUf…up6) leaves the ring: it is paused." in told(frame)
    assert "ring   empty: no group has a turn   − ann" in told(frame)
    assert any(line.startswith("beside paused nothing → ") for line in told(frame)), "that has no words of its own"


def test_a_group_that_the_lesson_does_not_name_is_shown_by_its_id(engine: Engine) -> None:
    walker = walking(engine)
    frame = enqueue(walker, GUESS, GROUP)
    assert list(views(frame.after, frame)) == ["ann", "ben", "PRT0KHTO…2X2"]
    assert "ring   + PRT0KHTO…2X2   wake 0 → 1" in told(frame)


def test_a_lesson_without_groups_tells_of_the_ring_as_of_any_side_key(engine: Engine) -> None:
    walker = walking(engine)
    frame = enqueue(walker, GUESS, ANN)
    lines = [line.text for line in readout(LEASED, frame)]
    assert "beside ring nothing → [PLR0KCUf…up6]   wake nothing → [1]" in lines
    assert not any(line.startswith("ring") for line in lines)
    assert lanes_of(LEASED, frame.after, frame, picture(LEASED, frame.after, frame)) == ()


def test_a_fault_tells_nothing_of_the_ring(engine: Engine) -> None:
    walker = walking(engine)
    enqueue(walker, GUESS, ANN)
    assert not any(line.startswith("ring") for line in told(take(walker, "kill_worker", None, worker="w1")))


def test_what_a_foreign_client_wrote_is_shown_and_breaks_nothing(engine: Engine) -> None:
    walker, client = walking(engine), engine.client
    key = space_on(engine).key
    client.rpush(key("ring"), b"\x1b[2J")
    client.hset(key("gactive"), ANN, "9" * 5_000)
    client.hset(key("glimit"), ANN, "many")
    frame = enqueue(walker, GUESS, ANN)
    lines = told(frame)
    assert all(line.isprintable() for line in lines)
    assert (views(frame.after)["ann"].out, views(frame.after)["ann"].limit) == (0, None)
    client.delete(key("ring"))
    client.set(key("ring"), "text")
    assert of(take(walker, "claim", None, worker="w1"))["ann"][0] is None


def test_in_plain_text_a_lane_is_called_by_its_groups_name(engine: Engine) -> None:
    walker = walking(engine)
    frame = enqueue(walker, GUESS, ANN)
    lines = list(picture_lines(NAMED, frame.after, frame))
    assert lines[4:] == ["+ ann PLR0KCUf…up6     1  + JOB0KHTO…LuC entered", "  ben PLR0KCUg…cSm     0"]
    assert "+ g:PLR0KCUfUXQup6:pending     1  + JOB0KHTO…LuC entered" in picture_lines(LEASED, frame.after, frame)


# As readings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "why"),
    [
        ({"paused": (ANN,)}, "it is paused and nothing waits in its lane"),
        ({"glimit": {ANN: b"2"}, "gactive": {ANN: b"2"}}, "its limit of 2 is reached and nothing waits in its lane"),
        ({"glimit": {ANN: b"2"}, "gactive": {ANN: b"1"}}, "nothing waits in its lane"),
        ({"gactive": {ANN: b"7"}}, "nothing waits in its lane"),
    ],
)
def test_a_lane_off_the_ring_has_its_reasons(sides: dict[str, Any], why: str) -> None:
    assert views(at_rest(**sides))["ann"].why_off == why


def test_at_rest_nothing_is_marked_and_the_ring_stands_in_its_order() -> None:
    lanes = views(at_rest(ring=(BEN, ANN)))
    assert {lane.mark for lane in lanes.values()} == {"stays"}
    assert [lane.name for lane in turns(tuple(lanes.values()))] == ["ben", "ann"]


# From a lesson --------------------------------------------------------------------------------------------------------


def test_a_machine_knows_the_names_of_its_lessons_groups() -> None:
    assert machine_of(read(find("codemojex"))).group_names == {
        ANN: "ann", BEN: "ben", b"PLR0KCUgWdwK6S": "cem",
    }  # fmt: skip
    assert machine_of(read(find("states-as-locations"))) is LEASED


def test_each_payload_names_the_player_whose_lane_the_job_enters() -> None:
    lesson = read(find("codemojex"))
    for path in lesson.paths:
        for step in path.steps:
            if step.do == "lane_enqueue":
                assert step.given["group"] in step.payload
    assert [job.id for job in lesson.jobs.values()] == sorted(job.id for job in lesson.jobs.values()), "in mint order"
