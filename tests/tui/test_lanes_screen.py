"""Lanes and their ring on the screen: at each size the lanes, whose turn it is, and what the step changed."""

from __future__ import annotations

import pytest

from tests.tui.driving import MEDIUM, SMALL, WIDE, lesson_open, press, text_of
from visualizer.lesson import Lesson, find, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS


def codemojex() -> Lesson:
    return load(find("codemojex"), MACHINES, NAMED_STEPS)


@pytest.mark.parametrize("size", [WIDE, MEDIUM, SMALL])
async def test_a_limit_is_seen_at_every_size(size: tuple[int, int]) -> None:
    async with lesson_open("limit-of-one", size, lesson=codemojex()) as (screen, pilot):
        await press(screen, pilot, "right", "right", "right", "right")
        before = text_of(pilot)
        assert "ring  ▶ ann  + ben" in before
        assert "+ ben" in before
        assert "2 wait" in before
        await press(screen, pilot, "right")
        after = text_of(pilot)
        assert "ring  ▶ ben  − ann" in after
        assert "− ann" in after
        assert "0→1 of 1 out" in after
        assert "JOB0KHTO…LuC" in after


async def test_between_lanes_and_active_the_edge_is_named_and_the_other_places_stay_in_view() -> None:
    async with lesson_open("three-players", WIDE, lesson=codemojex()) as (screen, pilot):
        await press(screen, pilot, *["right"] * 4)
        shown = text_of(pilot)
        assert "▲ lane enqueue" in shown
        assert "┏━ lanes ━" in shown
        assert "joins the ring, at its tail" in shown
        await press(screen, pilot, *["right"] * 3)
        shown = text_of(pilot)
        assert "lane claim" in shown
        assert "═▶ ┃" in shown
        assert "~ turn 3" in shown
        assert "pending 0     schedule 0     dead 0" in shown


@pytest.mark.parametrize("size", [WIDE, MEDIUM, SMALL])
async def test_an_id_in_another_place_is_not_lost(size: tuple[int, int]) -> None:
    async with lesson_open("a-guess", size, lesson=codemojex()) as (screen, pilot):
        assert screen.player is not None
        key = screen.player.space.key("dead")
        screen.player.engine.client.zadd(key, {b"JOB0KHTOpCLonY": 0})
        await press(screen, pilot, "right")
        assert "dead 1" in text_of(pilot)


async def test_more_lanes_than_lines_are_counted() -> None:
    lesson = codemojex()
    async with lesson_open("a-guess", WIDE, lesson=lesson) as (screen, pilot):
        assert screen.player is not None
        key = screen.player.space.key("ring")
        screen.player.engine.client.rpush(key, *(b"PLR0000000000%d" % number for number in range(9)))
        await press(screen, pilot, "right")
        shown = text_of(pilot)
        assert "more lanes" in shown
        assert "PLR0KCUf…up6 + turn 10" in shown, "what the step changed stays in view"


async def test_where_lanes_do_not_fit_the_one_that_the_step_changed_stays() -> None:
    async with lesson_open("three-players", SMALL, lesson=codemojex()) as (screen, pilot):
        assert screen.player is not None
        screen.player.engine.client.zadd(screen.player.space.key("dead"), {b"JOB0KHTOpCLonZ": 0})
        await press(screen, pilot, *["right"] * 6)
        shown = text_of(pilot)
        assert "+ cem" in shown
        assert "  ben" not in shown.split("active")[0]
