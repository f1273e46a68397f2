"""Every order of two actors really runs: how many there are, which of them do harm, and that scripts leave none."""

from __future__ import annotations

from math import comb

from visualizer.engine import Engine
from visualizer.keyspace import Keyspace
from visualizer.prove.exhaustive import QUEUE, all_orders


def test_split_commands_do_harm_in_many_orders_and_scripts_in_none(engine: Engine) -> None:
    split, scripted = all_orders(engine)
    assert (scripted.orders, scripted.harmful, scripted.harm) == (comb(2, 1), 0, "")
    assert split.orders == comb(8, 4)
    assert 0 < split.harmful < split.orders
    assert split.harm
    assert split.example
    assert engine.send("EXISTS", Keyspace(QUEUE, "job:").key("pending")) == 0, "nothing is left behind"
