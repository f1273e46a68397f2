"""What the script sees of the queue at each stop, beside what every other client sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from tests.core.walking import GROUP, GUESS, HOUR_MS, LANE, RIVAL
from tests.engine.serving import needs_server
from tests.xray.looking import BASE, CLAIM, ENQUEUE, PAYLOAD, player_on, stop_at, taken
from visualizer.caller import ErrorReply
from visualizer.engine import Engine
from visualizer.inside import HEAD, Gaze, PlaceSeen, seen_by
from visualizer.keyspace import Keyspace
from visualizer.look_inside import source_of
from visualizer.machine import MACHINES
from visualizer.model import Step
from visualizer.player import Player
from visualizer.xray import Xray

pytestmark = [needs_server, pytest.mark.usefixtures("one_copy")]


@pytest.fixture
def looking() -> Iterator[Any]:
    opened: list[Xray] = []

    def at(player: Player, frame: Any = None) -> Xray:
        opened.append(Xray(source_of(player, frame)))
        return opened[-1]

    yield at
    for xray in opened:
        xray.close()


def claim_of(engine: Engine, looking: Any) -> Xray:
    player = player_on(engine, ENQUEUE, CLAIM)
    taken(player, 1)
    xray: Xray = looking(player)
    return xray


def test_in_the_middle_of_a_claim_the_id_is_nowhere_inside_and_pending_outside(valkey: Engine, looking: Any) -> None:
    xray = claim_of(valkey, looking)
    first = xray.stops[0]
    assert first.inside is not None
    assert (first.inside.holding(GUESS), first.outside.holding(GUESS)) == (("pending",), ("pending",))

    popped = stop_at(xray, "ZPOPMIN")
    assert [(ran.name, ran.reply) for ran in popped.ran] == [("ZPOPMIN", [GUESS, b"0"])]
    assert popped.wrote
    assert popped.inside is not None
    assert (popped.inside.holding(GUESS), popped.outside.holding(GUESS)) == ((), ("pending",))

    while not xray.ended:
        stop = xray.step()
        if stop.inside is not None:
            assert stop.outside.holding(GUESS) == ("pending",), "nobody else sees any of it"
    assert xray.stops[-2].inside is not None
    assert xray.stops[-2].inside.holding(GUESS) == ("active",)
    end = xray.stops[-1]
    assert end.inside is None
    assert end.outside.holding(GUESS) == ("active",)
    assert xray.trace is not None
    assert xray.trace.reply == xray.trace.whole_reply == [GUESS, PAYLOAD, 1]


def test_the_row_is_written_inside_field_by_field(valkey: Engine, looking: Any) -> None:
    xray = claim_of(valkey, looking)
    rows = [stop.inside.row for stop in (*xray.stops, *_steps(xray)) if stop.inside is not None]
    attempts = list(dict.fromkeys(row[b"attempts"] for row in rows if row is not None))
    states = list(dict.fromkeys(row[b"state"] for row in rows if row is not None))
    assert (attempts, states) == ([b"0", b"1"], [b"pending", b"active"])
    assert {stop.outside.row[b"state"] for stop in xray.stops[:-1] if stop.outside.row} == {b"pending"}
    assert xray.stops[-1].outside.row is not None
    assert xray.stops[-1].outside.row[b"state"] == b"active"


def _steps(xray: Xray) -> Iterator[Any]:
    while not xray.ended:
        yield xray.step()


def test_to_write_stops_behind_each_line_that_writes(valkey: Engine, looking: Any) -> None:
    xray = claim_of(valkey, looking)
    names = []
    while not (stop := xray.to_write()).ended:
        names.append([ran.name for ran in stop.ran])
    assert names == [["ZPOPMIN"], ["HINCRBY"], ["HSET"], ["ZADD"]]
    assert [[ran.name for ran in stop.ran] for stop in xray.stops if stop.wrote] == names
    assert [ran.name for stop in xray.stops if not stop.wrote for ran in stop.ran] == ["TIME", "HGET"]


def test_to_line_and_what_ran_where(valkey: Engine, looking: Any) -> None:
    xray = claim_of(valkey, looking)
    lines = xray.called.script.lines
    wanted = [number for number, line in enumerate(lines, start=1) if "return grant(" in line]
    stop = xray.to_line(wanted)
    assert [stop.line] == wanted
    for earlier, later in zip(xray.stops, xray.stops[1:], strict=False):
        assert (later.number, later.ran_line) == (earlier.number + 1, earlier.line)
    popped = next(stop for stop in xray.stops if stop.ran)
    assert "ZPOPMIN" in lines[popped.ran_line - 1]
    assert xray.to_line([10_000]).ended
    assert xray.trace is not None
    assert xray.trace.lines == {stop.line for stop in xray.stops if not stop.ended}


def test_changed_names_the_locals_that_are_new_or_other(valkey: Engine, looking: Any) -> None:
    xray = claim_of(valkey, looking)
    first = xray.stops[0]
    assert first.changed == {local.name for local in first.locals}
    popped = stop_at(xray, "ZPOPMIN")
    assert "id" in popped.changed
    assert {local.name: local.text for local in popped.locals}["id"] == GUESS
    assert "id" not in xray.step().changed


def test_a_local_that_got_another_value_has_changed(xray_of: Any) -> None:
    xray = xray_of("local a, b = 1, 2\na = a + b\nlocal c = a\nreturn c")
    xray.to_end()
    assert [stop.changed for stop in xray.stops] == [set(), {"a", "b"}, {"a"}, {"c"}, set()]


def test_keys_and_arguments_bear_the_names_of_the_header(valkey: Engine, looking: Any) -> None:
    assert claim_of(valkey, looking).called.named() == (
        ("pending", BASE + b"pending"),
        ("active", BASE + b"active"),
        ("row_prefix", BASE + b"job:"),
        ("lease_ms", str(HOUR_MS).encode()),
    )


def test_repeating_arguments_are_numbered(valkey: Engine, looking: Any) -> None:
    pairs = ({"job": GUESS, "token": "w1"}, {"job": RIVAL, "token": 7})
    player = player_on(valkey, ENQUEUE, CLAIM, Step("extend_locks", given={"pairs": pairs, "lease_ms": HOUR_MS}))
    taken(player, 2)
    named = looking(player).called.named()
    assert named[-4:] == tuple((f"id_and_token {at}", each) for at, each in enumerate((GUESS, b"1", RIVAL, b"7"), 1))


def test_lanes_and_side_keys_are_seen_from_both_sides(valkey: Engine, looking: Any) -> None:
    player = player_on(
        valkey, Step("lane_enqueue", given={"group": GROUP}), Step("lane_claim", given={"lease_ms": HOUR_MS})
    )
    taken(player, 1)
    xray = looking(player)
    first = xray.stops[0]
    assert first.inside is not None
    for seen in (first.inside, first.outside):
        assert seen.holding(GUESS) == (LANE,)
        # The script builds their names from the queue's own beginning: all that hold anything are looked at.
        assert seen.sides == {"ring": (GROUP,), "wake": (b"1",)}
    emptied = stop_at(xray, "ZPOPMIN")
    assert emptied.inside is not None
    assert (emptied.inside.holding(GUESS), emptied.outside.holding(GUESS)) == ((), (LANE,))


def test_a_lock_is_seen_from_both_sides(on_core: Engine, looking: Any) -> None:
    player = player_on(on_core, Step("addStandardJob"), Step("moveToActive", given={"worker": "w1"}), machine="core")
    taken(player, 1)
    xray = looking(player)
    locks = [(stop.inside.lock, stop.outside.lock) for stop in (*xray.stops, *_steps(xray)) if stop.inside is not None]
    assert list(dict.fromkeys(locks)) == [(None, None), (b"w1:1", None)]
    assert xray.stops[-1].outside.lock == b"w1:1"


# Reading, by any look -------------------------------------------------------------------------------------------------


def test_the_head_is_capped_and_a_watched_id_is_found_behind_it(valkey: Engine) -> None:
    space = Keyspace("cm", "")
    core = MACHINES["core"]
    others = [b"job%d" % number for number in range(HEAD + 2)]
    client: Any = valkey.client
    client.rpush(space.key("wait"), *others, GUESS)
    client.zadd(space.key("failed"), {**{job: number for number, job in enumerate(others)}, RIVAL: 99.5})
    client.set(space.key("active"), "of another type")

    def look(*words: Any) -> Any:
        try:
            return valkey.send(*words)
        except redis.ResponseError as refused:
            return ErrorReply(str(refused))

    seen = seen_by(look, Gaze(core, space, GUESS, (GUESS, RIVAL)), 7)
    places = {place.name: place for place in seen.places}
    assert places["wait"] == PlaceSeen("wait", HEAD + 3, tuple((job, None) for job in others[:HEAD]), (GUESS,))
    assert places["failed"] == PlaceSeen(
        "failed", HEAD + 3, tuple(zip(others[:HEAD], range(HEAD), strict=True)), (RIVAL,)
    )
    assert places["active"] == PlaceSeen("active", 0, wrong_type=True)
    assert (seen.row, seen.lock, seen.holding(RIVAL)) == (None, None, ("failed",))


def test_a_key_of_another_type_is_no_obstacle(on_core: Engine, looking: Any) -> None:
    player = player_on(on_core, Step("addStandardJob"), machine="core")
    for name in ("completed", "meta", GUESS.decode() + ":lock"):
        on_core.client.rpush(player.space.key(name), "of another type")
    xray = looking(player)
    assert {place.name for place in xray.stops[0].inside.places if place.wrong_type} == {"completed"}
    assert xray.stops[0].inside == xray.stops[0].outside
    assert xray.to_end().ended


def test_only_scores_of_instants_are_shown_earlier(valkey: Engine) -> None:
    space = Keyspace("cm", "job:")
    for name in ("pending", "active", "schedule", "dead"):
        valkey.client.zadd(space.key(name), {GUESS: 1000.5 if name == "active" else 1000})
    seen = seen_by(valkey.send, Gaze(MACHINES["leased"], space, GUESS, (GUESS,)), 300)
    assert {place.name: place.head[0][1] for place in seen.places} == {
        "pending": 1000,
        "active": 700.5,
        "schedule": 700,
        "dead": 1000,
    }
