"""Every order of two actors really runs: how many there are, how many do harm, and that scripts leave none."""

from __future__ import annotations

from visualizer.engine import Engine
from visualizer.interleavings import JOB, count_split
from visualizer.prove.exhaustive import all_orders


def test_split_commands_do_harm_in_many_orders_and_scripts_in_none(valkey: Engine) -> None:
    split, scripted = all_orders(valkey)
    counted = count_split(valkey)
    assert (scripted.orders, scripted.harmful, scripted.twice, scripted.example, scripted.harm) == (2, 0, 0, (), "")
    assert (split.orders, split.harmful, split.twice) == (counted.orders, counted.harmful, counted.twice)
    assert 0 < split.harmful < split.orders
    assert len(split.example) == 8, "the worker found the id in active, so it sent no ZREM pending"
    assert "worker ZREM pending" not in split.example
    assert sum(split.others.values()) == split.harmful - split.twice > 0, "what each harmful order leaves is told"
    assert list(split.others) == [f"{JOB.decode()} has a row and is in no place"]
    assert scripted.others == {}
    assert split.example[0] in ("worker HGET attempts", "reaper ZRANGEBYSCORE active")
    assert split.harm == "the job was counted as completed, and waits in pending again"
    assert valkey.client.keys(valkey.pattern) == [], "nothing is left behind"
