"""The laws of the core machine broken on a server: by another client, or by an odd call that the scripts accept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.core_machine.core_walking import BASE, GUESS, RIVAL, THIRD, passes, picked_up, take, walker_on
from visualizer.engine import Engine


def after_by_hand(engine: Engine, *commands: tuple[Any, ...]) -> set[str]:
    """The laws that are broken after a walk of two waiting jobs, one of them picked up, and these commands."""
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "addStandardJob", RIVAL)
    for name, key, *args in commands:
        engine.send(name, BASE + key, *args)
    frame = walker.look().frames[-1]
    assert frame.kind == "between"
    return {law.name for law in frame.broken}


@pytest.mark.parametrize(
    ("law", "commands"),
    [
        ("the_id_is_in_exactly_one_place", [("ZADD", b"delayed", 1, RIVAL)]),
        ("a_list_holds_an_id_once", [("RPUSH", b"wait", RIVAL)]),
        ("only_an_active_job_is_locked", [("SET", RIVAL + b":lock", "w9:1")]),
        ("only_moveToFinished_finishes", [("LREM", b"wait", 0, RIVAL), ("ZADD", b"failed", 1, RIVAL)]),
        ("wait_is_empty_while_paused", [("HSET", b"meta", "paused", "1")]),
        ("starts_grow_only_by_a_pickup", [("HINCRBY", RIVAL, "ats", 1)]),
        ("every_member_has_a_row", [("LPUSH", b"wait", THIRD)]),
    ],
)
def test_another_client_breaks_it(engine: Engine, law: str, commands: list[tuple[Any, ...]]) -> None:
    assert after_by_hand(engine, *commands) == {law}


def test_another_client_loses_a_job(engine: Engine) -> None:
    assert after_by_hand(engine, ("LREM", b"wait", 0, RIVAL)) == {
        "the_id_is_in_exactly_one_place",
        "every_row_has_a_place",
    }


def test_an_error_in_mid_script_keeps_what_was_written(engine: Engine) -> None:
    """The lock is gone and the id in no list: atomic is not rollback."""
    walker = walker_on(engine)
    picked_up(walker)
    engine.send("SET", BASE + b"delayed", "no sorted set")
    frame = take(walker, "moveToDelayed", token="w1", delay_ms=5_000)
    assert frame.outcome.name == "error"
    assert {law.name for law in frame.broken} == {
        "the_id_is_in_exactly_one_place",
        "every_row_has_a_place",
        "a_refusal_wrote_only_what_its_code_says",
    }


def test_the_token_0_leaves_a_lock_behind(engine: Engine) -> None:
    walker = walker_on(engine)
    picked_up(walker)
    frame = take(walker, "moveToFinished", token={"text": "0"})
    assert [law.name for law in frame.broken] == ["only_an_active_job_is_locked"]


@pytest.mark.parametrize(
    ("do", "given"),
    [("moveToFinished", {}), ("moveToDelayed", {"error": "boom"}), ("retryJob", {"error": "boom"})],
)
def test_minus_3_wrote_and_breaks_no_law(engine: Engine, do: str, given: Mapping[str, Any]) -> None:
    """Also where the same call of retryJob has promoted another job before it looked."""
    walker = walker_on(engine)
    picked_up(walker)
    take(walker, "addDelayedJob", RIVAL, delay_ms=1_000)
    take(walker, "moveStalledJobsToWait", None)
    passes(walker, 1_000)
    engine.send("LREM", BASE + b"active", 0, GUESS)
    engine.send("ZADD", BASE + b"waiting-children", 1, GUESS)
    frame = take(walker, do, token="w1", **given)
    assert (frame.outcome.name, frame.outcome.refused, frame.broken) == ("JobNotInState", "-3", ())
    assert GUESS not in frame.after.locks
    assert frame.after.memberships[RIVAL] == (("wait",) if do == "retryJob" else ("delayed",))
