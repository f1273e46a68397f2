"""A tally in lines, for a terminal and for the screen alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from visualizer.prove.counts import Column, Orders, Tally, Watched, Worked
from visualizer.prove.findings import found
from visualizer.prove.odd import ODD
from visualizer.prove.wording import bad, counted, in_words, line
from visualizer.spans import BROKEN, GOOD, QUIET, REFUSED, STRONG, Line, Span
from visualizer.visible import visible

TITLES: Mapping[Column, tuple[str, str]] = {
    "scripted": ("scripted", "each transition is one script"),
    "naive": ("naive", "enqueue, claim, complete, reap as separate commands"),
    "odd": ("odd but accepted", "calls that no careful caller relies on"),
}
HONEST = (
    "The seed gives each worker what it draws, turn by turn. Whose turn it is the machine decides, so two runs with "
    "one seed differ."
)
JUDGED = (
    "One reading is judged by the laws that a single reading can break; the laws of a step are judged in the odd "
    "column, where nobody else is at work."
)
NOTHING = "Nothing was proved."
MORE = "--all tells it in full, with a broken reading; --json has every count."
# The calls that the naive queue has too.
BASIC = ("enqueue", "claim", "complete", "reap")
# A run below that says that it was short.
VERY_SHORT_S = 1.0


def head(tally: Tally) -> Line:
    """What runs, on what, with which seed."""
    return line(
        Span("the proof", STRONG),
        f" · {tally.engine} · {tally.elapsed:.1f} of {tally.seconds:g} s · ",
        Span(f"seed {tally.seed}", STRONG),
    )


def column(tally: Tally, name: Column) -> list[Line]:
    """One column's counts, the few that matter most."""
    return list(_odd(tally) if name == "odd" else _watched(tally, name))


def laws(tally: Tally, name: Column) -> list[Line]:
    """The laws that were broken in a column, and how often."""
    counts = Counter(tally.read(name).laws)
    if name == "odd":
        for odd in tally.odd:
            counts.update(odd.laws)
    return [line(Span(f"{times:,} × broken: ", BROKEN), in_words(law)) for law, times in counts.most_common()]


def details(tally: Tally, name: Column) -> list[Line]:
    """The other counts of a column; the odd one has none."""
    return [] if name == "odd" else list(_details(tally, name))


def _watched(tally: Tally, name: Column) -> Iterator[Line]:
    seen, did = tally.read(name), tally.did(name)
    yield line(
        Span(f"{seen.readings:,}", STRONG),
        f" readings by {counted(tally.observers.get(name, 0), 'observer')}",
        Span(f", {seen.changed:,} differ from the reading before", QUIET),
    )
    share = f" ({100 * seen.broken / seen.readings:.1f} %)" if seen.broken else ""
    yield line(
        Span(f"{seen.broken:,} {'breaks' if seen.broken == 1 else 'break'} a law{share}", bad(seen.broken)),
        *([Span(": "), *_breaches(tally, name)] if seen.breaches else []),
    )
    if seen.cut:
        yield line(Span(f"{seen.cut:,} readings were cut: a place held more than is looked at", REFUSED))
    sent = "each one script" if name == "scripted" else f"sent as {did.commands:,} separate commands"
    yield line(
        f"{counted(did.calls, 'call')} by {counted(tally.workers.get(name, 0), 'worker')}, {sent}",
        Span(f"; {counted(did.completed, 'job')} completed", QUIET),
    )
    refused = sum(did.refused.values())
    if refused or did.wrong:
        yield line(
            Span(f"{refused:,} refused", GOOD),
            " that had to be",
            *([Span(", "), Span(f"{did.wrong:,} answered wrongly", BROKEN)] if did.wrong else []),
        )
    yield from _at_rest(seen)


def _breaches(tally: Tally, name: Column) -> list[Span]:
    """Separate breaches. Where several observers read, each sees most of what the others see: theirs are not added."""
    seen = tally.read(name)
    several = "at least " if tally.observers.get(name, 0) > 1 else ""
    number = f"{several}{seen.breaches:,} separate {'breach' if seen.breaches == 1 else 'breaches'}"
    healed = seen.breaches - seen.lasting
    if seen.at_rest is not None and not seen.lasting:
        return [Span(number, BROKEN), Span(", all healed")]
    last = "never healed" if seen.at_rest is not None else "not yet healed"
    return [Span(number, BROKEN), Span(f", {healed:,} healed, "), Span(f"{seen.lasting:,} {last}", bad(seen.lasting))]


def _at_rest(seen: Watched) -> Iterator[Line]:
    if seen.at_rest is None:
        return
    if seen.at_rest:
        more = f", and {counted(seen.lasting - 1, 'more id')}" if seen.lasting > 1 else ""
        yield line(Span("when all had stopped, still broken: ", BROKEN), f"{seen.at_rest[0]}{more}")
    elif seen.broken:
        saw = f"{counted(seen.broken, 'reading')} saw what must not be"
        yield line("when all had stopped, nothing was left broken; ", Span(f"in between, {saw}", BROKEN))
    elif seen.readings:
        yield line(Span("when all had stopped, no law was broken either", QUIET))


def _details(tally: Tally, name: Column) -> Iterator[Line]:
    seen, did = tally.read(name), tally.did(name)
    if seen.readings and not seen.cut:
        yield line(Span(f"each reading saw all ids, at most {seen.most_ids}", QUIET))
    if name in tally.rests_ms:
        yield line(Span(f"the observer rests {tally.rests_ms[name]:g} ms after each reading", QUIET))
    if did.verbs:
        yield line(Span(_mix(did), QUIET))
    if did.refused:
        kinds = ", ".join(f"{kind} {times:,}" for kind, times in sorted(did.refused.items()))
        yield line(Span(f"refused: {kinds}", QUIET))
    yield from (line(Span(sentence, BROKEN)) for sentence in dict.fromkeys(did.sentences))


def _mix(did: Worked) -> str:
    """How often each of the four basic calls was made, and all others together."""
    told = []
    for verb in BASIC:
        died = f" ({did.died:,} by a worker that then dies)" if verb == "claim" and did.died else ""
        told.append(f"{verb} {did.verbs.get(verb, 0):,}{died}")
    others = {verb: times for verb, times in did.verbs.items() if verb not in BASIC}
    more = [f"{counted(len(others), 'other verb')} {sum(others.values()):,}"] if others else []
    return ", ".join([*told, *more])


def _odd(tally: Tally) -> Iterator[Line]:
    times = sum(odd.times for odd in tally.odd)
    breaking = sum(bool(odd.laws) for odd in tally.odd)
    refused = sum(odd.times - odd.accepted for odd in tally.odd)
    accepted = f"{refused:,} were refused" if refused else "every one accepted"
    yield line(
        Span(f"{times:,}", STRONG),
        f" calls of {len(ODD)} kinds, {accepted}: ",
        Span(f"{breaking} kinds break laws", bad(breaking)),
        f", {len(ODD) - breaking} break none",
    )


def verdict(tally: Tally) -> list[Line]:
    """What the run came to; nothing while it runs."""
    if tally.ended == "running":
        return []
    if nothing(tally):
        return [line(Span(NOTHING, REFUSED))]
    lines = []
    if tally.ended == "interrupted":
        lines.append(line(Span("Stopped before its end: these are the counts until then.", REFUSED)))
    elif tally.ended == "done" and tally.elapsed < VERY_SHORT_S:
        lines.append(
            line(Span(f"A very short run ({tally.elapsed:.1f} s): it may miss what a longer one meets.", REFUSED))
        )
    if tally.trouble:
        lines.append(line(Span(tally.trouble, REFUSED)))
    seen = tally.read("scripted")
    if tally.faults:
        lines.extend(line(Span(fault, BROKEN)) for fault in tally.faults)
    elif tally.ended != "broken off":
        lines.append(line(Span(f"{counted(seen.readings, 'reading')} of the scripted queue: no law was broken.", GOOD)))
    return [*lines, *_contrast(tally)]


def _contrast(tally: Tally) -> Iterator[Line]:
    """The naive queue, and the orders of two actors, beside what the scripted queue did."""
    naive = tally.read("naive")
    if naive.readings:
        told = [Span(f"{naive.broken:,} of {naive.readings:,} readings broken", bad(naive.broken))]
        if naive.breaches:
            told += [Span(", "), *_breaches(tally, "naive")]
        yield line(Span("Naive: "), *told, ".")
    if tally.orders:
        parts = [Span(f"{each.harmful} of {each.orders} {_how(each)}", bad(each.harmful)) for each in tally.orders]
        yield line("Harmful orders of two actors: ", *_joined(parts), ".")


def _how(each: Orders) -> str:
    return "as scripts" if each.name.startswith("scripted") else "as separate commands"


def _joined(parts: Sequence[Span]) -> Iterator[Span]:
    for at, part in enumerate(parts):
        yield from (Span(", "), part) if at else (part,)


def nothing(tally: Tally) -> bool:
    """Whether it was ended before any worker had begun, so that there is nothing to tell."""
    return tally.ended == "interrupted" and not tally.elapsed


def report(tally: Tally, every: bool = False) -> list[Line]:
    """The proof, for a terminal: the columns, and last the verdict. With ``every`` all there is to tell, before it."""
    if nothing(tally):
        return verdict(tally)
    lines = [head(tally)]
    if every:
        for title, told in found(tally):
            lines.extend((line(), line(Span(title, STRONG)), *_indented(told)))
        lines.extend((line(), line(Span(JUDGED, QUIET)), line(Span(HONEST, QUIET))))
    for name, (title, about) in TITLES.items():
        lines.extend((line(), line(Span(title, STRONG), Span(f" · {about}", QUIET))))
        lines.extend(_indented([*column(tally, name), *([*laws(tally, name), *details(tally, name)] if every else [])]))
    if not every:
        lines.extend((line(), line(Span(MORE, QUIET))))
    lines.extend((line(), *verdict(tally)))
    return lines


def _indented(lines: Sequence[Line]) -> list[Line]:
    return [Line("", (Span("  "), *line.spans)) for line in lines]


def progress(tally: Tally, width: int) -> str:
    """A bar and the counts in one line of at most ``width`` cells."""
    seen, naive = tally.read("scripted"), tally.read("naive")
    told = (
        f" {tally.elapsed:4.1f} of {tally.seconds:g} s · scripted {seen.readings:,} readings, {seen.broken:,} broken"
        f" · naive {naive.readings:,}, {naive.broken:,} broken"
    )
    if not seen.readings:
        told = " the processes start"
    cells = max(min(20, width - len(told)), 0)
    return visible(bar(tally, cells) + told, width)


def bar(tally: Tally, cells: int) -> str:
    """How much of the time has passed."""
    full = int(cells * min(tally.elapsed / tally.seconds, 1.0))
    return "█" * full + "░" * (cells - full)


def json_object(tally: Tally) -> dict[str, Any]:
    """Everything that was counted, for a program to read."""
    told = msgspec.to_builtins(tally)
    whys = {odd.name: odd.why for odd in ODD}
    for odd in told["odd"]:
        odd["why"] = whys[odd["name"]]
    return {**told, "holds": not tally.faults, "faults": list(tally.faults)}
