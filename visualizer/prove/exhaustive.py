"""Every order of a completion's and a reap's turns, split and as scripts: counted by running each of them."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from visualizer.engine import Engine
from visualizer.interleavings import Count, count_scripted, count_split
from visualizer.prove.counts import Orders
from visualizer.visible import visible


def all_orders(engine: Engine) -> tuple[Orders, ...]:
    """The split form and the scripted form. The engine's own queue is emptied before each order, and afterwards."""
    return (
        _told("split completion and naive reap", count_split(engine)),
        _told("scripted completion and scripted reap", count_scripted(engine)),
    )


def _told(name: str, count: Count) -> Orders:
    found = Orders(
        name,
        count.orders,
        count.harmful,
        count.twice,
        sequences=count.sequences,
        harmful_sequences=count.harmful_sequences,
    )
    ending = count.example
    if ending is None:
        return found
    turns = zip(ending.turns, ending.steps, ending.sent, strict=True)
    example = tuple(f"{turn} {step}" for turn, step, sent in turns if sent)
    harm = "the job was counted as completed, and waits in pending again" if ending.twice else ending.breaches[0]
    others = Counter(visible(ending.breaches[0]) for ending in count.endings if ending.harm and not ending.twice)
    return replace(found, example=example, harm=visible(harm), others=dict(others))
