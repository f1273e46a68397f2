"""What bites people in a job's lifecycle, continued: forgotten scripts, odd ids and payloads, keys without a panel."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.walking import (
    GROUP,
    GUESS,
    HOUR_MS,
    LANE,
    LEASED,
    claimed,
    held,
    space_on,
    take,
    texts,
    walker_on,
)
from tests.reports.showing import as_json, drawn
from visualizer.engine import Engine
from visualizer.picture import picture
from visualizer.survey import survey


@pytest.mark.parametrize("fault", ["flush_scripts", "restart_server"])
def test_l14_a_forgotten_script_is_loaded_and_called_again_in_sight(engine: Engine, fault: str) -> None:
    if fault == "restart_server" and not engine.real:
        assert engine.may("restart") is not None
        return
    walker = walker_on(engine)
    claimed(walker)
    take(walker, fault)
    take(walker, "complete", token="w1")
    calls = as_json(walker)["calls"]
    assert [call["command"] for call in calls] == ["EVALSHA", "SCRIPT LOAD", "EVALSHA"]
    assert calls[0]["error"].split()[0] == "NOSCRIPT"
    assert (calls[0]["keys"], calls[0]["args"]) == (calls[2]["keys"], calls[2]["args"])
    wires = [text for text in texts(walker) if text.startswith("wire")]
    assert "NOSCRIPT" in wires[0]
    assert "SCRIPT LOAD" in wires[1]
    assert texts(walker)[0].startswith("JOB0KHTOWnGLuC leaves active")


# Ids, payloads, other keys --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", [b"order:42", b"a:lock", b":", b"", b"JOB0KHTOWnGLu", b"job0KHTOWnGLuC", b"\xff" * 14])
@pytest.mark.parametrize(
    "do", ["enqueue", "complete", "remove_job", "lane_enqueue", "naive_enqueue", "naive_claim_leave", "wait_until_due"]
)
def test_l15_an_ill_formed_id_is_a_visible_refusal(engine: Engine, do: str, job: bytes) -> None:
    walker = walker_on(engine)
    frame = take(walker, do, job, token=1, group=GROUP)
    assert (frame.outcome.name, frame.outcome.sent, frame.calls) == ("not_sent", False, ())
    assert texts(walker)[0].startswith("Not sent: job_key requires a valid branded id: ")
    assert held(engine) == {}


def test_l15_a_key_is_never_split_at_its_colons(engine: Engine) -> None:
    client: Any = engine.client
    space = space_on(engine)
    names = ["job:order:42", "a:lock", ":", "job:JOB0KHTOWnGLuC:lock:x", "g::pending"]
    for name in names:
        client.set(space.key(name), "text")
    walker = walker_on(engine)
    take(walker, "enqueue")
    found = survey(engine, LEASED, space, walker.walk.shown)
    assert sorted(each.key for each in found.foreign) == sorted(space.key(name) for name in names)
    assert found.rows_without_place == ()


@pytest.mark.parametrize(
    ("payload", "shown", "exported"),
    [
        (b"", '"" ', ""),
        (bytes.fromhex("8368047705"), '"\\x83h\\x04w\\x05" 5 B', {"hex": "8368047705"}),
        (b"\x9c\xff\x00", '"\\x9c\\xff\\x00" 3 B', {"hex": "9cff00"}),
        (b"\x00\xff" * 524_288, '"\\x00\\xff\\x00\\xff\\x00…" 1,048,576 B', {"hex": "00ff" * 524_288}),
        ("grün".encode(), '"grün"', "grün"),
    ],
    ids=["empty", "erlang", "no utf-8", "1 MiB", "text"],
)
def test_l16_a_payload_is_bytes(engine: Engine, payload: bytes, shown: str, exported: Any) -> None:
    walker = walker_on(engine, keep_dumps=False)
    take(walker, "enqueue", payload_bytes=payload)
    assert engine.client.hget(space_on(engine).job(GUESS), "payload") == payload
    row = next(text for text in texts(walker) if text.startswith("row"))
    assert f"payload + {shown.rstrip()}" in row
    assert len(row) < 120
    told = as_json(walker)
    assert told["row"]["after"]["payload"] == exported
    assert told["calls"][0]["args"] == ["JOB0KHTOWnGLuC", exported]
    take(walker, "claim", lease_ms=HOUR_MS)
    assert as_json(walker)["calls"][-1]["reply"] == ["JOB0KHTOWnGLuC", exported, 1]
    take(walker, "update_data", payload=b"new")
    row = next(text for text in texts(walker) if text.startswith("row"))
    before = shown.strip() if isinstance(exported, dict) or not payload else exported
    assert row.startswith(f"row    payload {before} → new")


def test_l17_a_job_in_a_lane_is_in_that_lane(engine: Engine) -> None:
    walker = walker_on(engine)
    take(walker, "lane_enqueue", group=GROUP)
    assert texts(walker)[0].startswith(f"JOB0KHTOWnGLuC enters {LANE}.")
    assert as_json(walker)["places"][LANE] == {"count": 1, "members": [["JOB0KHTOWnGLuC", 0]]}
    assert (drawn(walker).nowhere, [lane.name for lane in drawn(walker).lanes]) == ((), [LANE])


def test_l17_a_job_in_a_set_without_a_panel_is_in_that_set(engine: Engine) -> None:
    walker, space = walker_on(engine), space_on(engine)
    take(walker, "enqueue")
    engine.client.zrem(space.key("pending"), GUESS)
    engine.client.zadd(space.key("fifth"), {GUESS: 0})
    walker.look()
    found = survey(engine, LEASED, space, walker.walk.shown)
    assert "emq:{cm}:fifth (zset, holds JOB0KHTO…LuC)" in found.sentence()
    names = {GUESS: tuple(key.key.decode() for key in found.holding(GUESS))}
    drawing = picture(LEASED, walker.walk.shown, walker.walk.frame, found=names)
    assert (drawing.nowhere, drawing.elsewhere) == ((), {GUESS: ("emq:{cm}:fifth",)})
