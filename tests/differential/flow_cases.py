"""The directed cases of parents and children; every rule for a failing child meets every place of its parent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from tests.differential.calls import (
    RULES,
    Parent,
    Step,
    add,
    add_delayed,
    add_parent,
    add_prioritized,
    complete,
    concurrency,
    fail,
    park,
    pause,
    raw,
    reprocess,
    resume,
    state,
    sweep,
    take,
)
from tests.differential.record import Path

P = Parent("P")
OTHER = "w9:9"

# How the parent came to be where it is when its child ends. The child is lent to it first in line, so that it is taken.
PARENTS: dict[str, tuple[Step, ...]] = {
    "in waiting-children": (add_parent("P"),),
    "in waiting-children with a delay": (add_parent("P", delay=500),),
    "in waiting-children with a priority": (add_parent("P", priority=5),),
    "in waiting-children with both": (add_parent("P", delay=500, priority=5),),
    "in delayed": (add_delayed("P", 5000),),
    "in delayed with a priority": (add_delayed("P", 5000, priority=4),),
    "in active": (add("P"), take("wp")),
    "in wait": (add("P"),),
    "in prioritized": (add_prioritized("P", 3),),
    "in completed": (add("P"), take("wp"), complete("P", "wp")),
    "in failed": (add("P"), take("wp"), fail("P", "wp")),
    "without a row": (add_parent("P"),),
}


def child_ends() -> Iterator[Path]:
    """Every rule and none, siblings pending and none, every place of the parent; and a child that does well."""
    for rule, sibling, (where, parent) in product(("", *RULES, "well"), (False, True), PARENTS.items()):
        end = complete if rule == "well" else fail
        child = add("k", at=1, parent=Parent("P", (rule,) if rule in RULES else ()), lifo=True)
        steps = [*parent, child]
        if sibling:
            steps.append(add("s", at=2, parent=P))
        steps.append(take())
        if where == "without a row":
            steps.append(raw("DEL", "P"))
        named = f"rule {rule or 'none'}" if end is fail else "the child does well"
        name = f"{named}, {'a sibling pending' if sibling else 'no sibling'}, parent {where}"
        yield Path(name, (*steps, end("k")), first=len(steps))
        if where.startswith("in waiting-children"):
            yield Path(f"{name}, paused", (*steps, pause(), end("k")), first=len(steps) + 1)
            yield Path(f"{name}, row not kept", (*steps, end("k", keep=0)), first=len(steps))


def rules() -> Iterator[Path]:
    for rule, end in ((rule, end) for rule in ("", *RULES) for end in (fail, complete)):
        child = add("k", parent=Parent("P", (rule,) if rule else ()))
        gone = (add_parent("P"), child, take(), raw("DEL", "P:dependencies"), end("k"))
        yield Path(f"{end.__name__} with rule {rule or 'none'} and no dependency", gone, first=4)
    for pair in combinations(RULES, 2):
        both = (add_parent("P"), add("k", parent=Parent("P", pair)), add("s", parent=P), take(), fail("k"))
        yield Path(f"both {' and '.join(pair)}", both, first=4)
    one = (add_parent("P"), add("k", parent=Parent("P", ("fpof",))), add("s", parent=P), take(), fail("k"))
    yield Path(
        "a failed child is in the way", (*one, take("w2"), complete("P", "w2"), park("P", "w2"), fail("P", "w2"))
    )
    others = (raw("SREM", "P:dependencies", "emq:{cm}:s"), complete("P", "w2"), park("P", "w2"), park("P", OTHER))
    yield Path("a failed child is in the way when none is pending", (*one, take("w2"), *others))
    yield Path(
        "released and served next", (add("x"), add("y"), *one[:3], take(), take("w2"), take("w3"), fail("k", "w3"))
    )
    pending = (add("P"), take("wp"), add("k", parent=P), complete("P", OTHER), fail("P", OTHER), raw("DEL", "P:lock"))
    yield Path("a pending child is looked at before the lock", (*pending, complete("P"), fail("P")))
    none_left = (
        *one,
        take("w2"),
        raw("DEL", "P:dependencies"),
        complete("P", OTHER),
        raw("DEL", "P:lock"),
        complete("P"),
    )
    yield Path("a failed child is looked at before the lock", none_left)
    fetch = (add_parent("P"), add("k", parent=Parent("P", ("cpof",))), take(), add("x"), fail("k", fetch=True))
    yield Path("the parent is the next job", fetch)
    room = (add_parent("P"), add("k", parent=P), concurrency(1), take(), complete("k", fetch=True))
    yield Path("the child makes room for its parent", room)
    slot = 1_700_000_000_520
    yield Path(
        "a parent with a delay takes the first slot, taken or not",
        (
            add_parent("P", delay=500),
            add("k", parent=P),
            take(),
            add_delayed("d", slot - 1_700_000_000_000),
            complete("k"),
        ),
    )


def flows() -> Iterator[Path]:
    family = (add_parent("P"), add("k", at=1, parent=P))
    yield Path("a parent and a child", (*family, take(), complete("k"), take("w2"), complete("P", "w2")))
    two = (*family, add("s", at=2, parent=P), take(), take("w2"))
    yield Path("a parent and two children", (*two, complete("k"), state("P"), complete("s", "w2"), take("w3")))
    yield Path("a parent that is nobody's", (add("k", parent=P), add(), add_parent("P"), add("k", parent=P)))
    kinds = (add_delayed, add_prioritized, add_parent, add)
    for kind in kinds:
        name = kind.__name__
        yield Path(f"{name}: the parent is missing", (kind("k", parent=P), kind()))
        yield Path(f"{name}: a child", (add_parent("P"), kind("k", at=3, parent=P), kind(at=3, parent=P)))
        other = (add_parent("P"), add_parent("Q"), kind("k", parent=P), kind("k", parent=Parent("Q")), kind())
        yield Path(f"{name}: another parent", other)
        yield Path(f"{name}: another parent, the first is gone", (*other[:3], raw("DEL", "P"), *other[3:]))
        yield Path(f"{name}: the child again without its parent", (*other[:3], kind("k"), kind()))
    parents = (add_parent("a", at=7), add_parent(at=7, delay=5, priority=3), add_parent("a", at=8), add_parent())
    yield Path("parents without a child", parents)
    nested = (add_parent("G"), add_parent("P", parent=Parent("G")), add("k", parent=P), take(), complete("k"))
    yield Path("a parent that is a child", (*nested, take("w2"), complete("P", "w2"), take("w3"), complete("G", "w3")))
    own = (add("P"), take("wp"), add("k", parent=P))
    parked = (*own, complete("P", "wp"), park("P", "wp"))
    yield Path(
        "an active job parks", (*parked, take(), complete("k"), take("wp"), park("P", "wp"), complete("P", "wp"))
    )
    yield Path("parking with another's lock", (*own, park("P", OTHER)))
    yield Path("parking without the lock", (*own, raw("DEL", "P:lock"), park("P", "wp")))
    yield Path("parking with token 0", (*own, sweep(), park("P", "0")))
    yield Path("parking takes the mark away", (*own, sweep(), park("P", "wp")))
    yield Path("parking what is not active", (*own, sweep(), raw("DEL", "active"), park("P", "wp")))
    yield Path("parking what nobody knows", (park("P"), add("P"), park("P")))
    yield Path("parking without children needs no lock", (add("P"), take("wp"), park("P", OTHER), park("P", "wp")))
    yield Path("parking for one child", (*own, park("P", "wp", child="x"), park("P", "wp", child="k")))
    yield Path("parking one of two", (*own, raw("RPUSH", "active", "b", "P"), park("P", "0")))
    paused = (*family, take(), pause(), complete("k"), resume(), take("w2"))
    yield Path("a parent released to a paused queue", paused)
    yield Path("an operator's retry of a parent", (*family, take(), complete("k"), take(), fail("P"), reprocess("P")))


def all_paths() -> list[Path]:
    return [path for group in (flows, rules, child_ends) for path in group()]
