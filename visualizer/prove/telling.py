"""A tally in lines, for a terminal and for the screen alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from visualizer.prove.counts import Column, Orders, Shown, Tally, Watched
from visualizer.prove.odd import ODD
from visualizer.spans import BROKEN, GOOD, LABEL, PLAIN, QUIET, REFUSED, STRONG, Line, Span
from visualizer.visible import visible

TITLES: Mapping[Column, tuple[str, str]] = {
    "scripted": ("scripted", "each transition is one script"),
    "naive": ("naive", "the same transitions as separate commands"),
    "odd": ("odd but accepted", "calls that no lawful caller makes"),
}
HONEST = (
    "The seed gives each worker what it draws, turn by turn. Whose turn it is the machine decides, so two runs with "
    "one seed differ."
)
JUDGED = (
    "One reading is judged by the laws that a single reading can break; the laws of a step are judged in the odd "
    "column, where nobody else is at work."
)


def _line(*spans: Span | str) -> Line:
    return Line("", tuple(Span(span) if isinstance(span, str) else span for span in spans))


def head(tally: Tally) -> Line:
    """What runs, on what, with which seed."""
    return _line(
        Span("the proof", STRONG),
        f" · {tally.engine} · {tally.elapsed:.1f} of {tally.seconds:g} s · ",
        Span(f"seed {tally.seed}", STRONG),
    )


def column(tally: Tally, name: Column) -> list[Line]:
    """One column's counts."""
    return list(_odd(tally) if name == "odd" else _watched(tally, name))


def _watched(tally: Tally, name: Column) -> Iterator[Line]:
    seen, did = tally.read(name), tally.did(name)
    yield _line(Span(f"{seen.readings:,}", STRONG), f" readings by {_count(tally.observers.get(name, 0), 'observer')}")
    yield _line(Span(f"{seen.changed:,} of them not as the one before", QUIET))
    role = BROKEN if seen.broken else GOOD
    share = f" ({100 * seen.broken / seen.readings:.1f} %)" if seen.broken else ""
    yield _line(Span(f"{seen.broken:,} break a law{share}", role))
    yield _line(
        Span(f"up to {_count(seen.most_ids, 'id')} in a reading, all in view", QUIET)
        if not seen.cut
        else Span(f"{seen.cut:,} readings were cut: a place held more than is looked at", REFUSED)
    )
    sent = "calls" if name == "scripted" else "commands"
    yield _line(
        f"{did.calls:,} {sent} by {_count(tally.workers.get(name, 0), 'worker')}",
        Span(f", {did.completed:,} jobs completed", QUIET),
    )
    for law, times in sorted(seen.laws.items(), key=lambda held: -held[1]):
        yield _line(Span(f"{times:,} × ", BROKEN), _in_words(law))
    if did.hollow:
        yield _line(Span(f"{did.hollow:,} jobs were claimed that were completed already", BROKEN))
    if did.refused:
        refused = sum(did.refused.values())
        yield _line(Span(f"{refused:,} refused", GOOD), " that had to be")
        yield _line(Span(", ".join(f"{kind} {times:,}" for kind, times in sorted(did.refused.items())), QUIET))
    if did.wrong:
        yield _line(Span(f"{did.wrong:,} answered wrongly", BROKEN))
        yield from (_line(Span(sentence, BROKEN)) for sentence in did.sentences)
    yield from _at_rest(seen)


def _at_rest(seen: Watched) -> Iterator[Line]:
    if seen.at_rest is None:
        return
    if seen.at_rest:
        more = f" and {len(seen.at_rest) - 1} more" if len(seen.at_rest) > 1 else ""
        yield _line(Span("at rest still broken: ", BROKEN), f"{seen.at_rest[0]}{more}")
    else:
        yield _line(Span("at rest no law is broken", QUIET))


def _odd(tally: Tally) -> Iterator[Line]:
    times = sum(odd.times for odd in tally.odd)
    breaking = sum(bool(odd.laws) for odd in tally.odd)
    yield _line(Span(f"{times:,}", STRONG), f" calls of {len(ODD)} kinds")
    yield _line(Span(f"{breaking} kinds break laws", BROKEN if breaking else PLAIN))
    refused = sum(odd.times - odd.accepted for odd in tally.odd)
    yield _line(Span(f"{refused:,} were refused" if refused else "every one was accepted", QUIET))
    laws: Counter[str] = Counter()
    for odd in tally.odd:
        laws.update(odd.laws)
    for law, broken in laws.most_common():
        yield _line(Span(f"{broken:,} × ", BROKEN), _in_words(law))


def odd_calls(tally: Tally) -> list[Line]:
    """Each odd call with the laws it breaks, how often, and why."""
    whys = {odd.name: odd.why for odd in ODD}
    lines = []
    for odd in tally.odd:
        broken = ", ".join(f"{_in_words(law)} {times:,} ×" for law, times in odd.laws.items())
        lines.append(_line(f"{odd.times:,} × {odd.name}: ", Span(broken or "no law", BROKEN if broken else GOOD)))
        lines.append(_line(Span(f"    {whys[odd.name]}", QUIET)))
    return lines


def broken_reading(shown: Shown | None) -> list[Line]:
    """A broken reading, whole: the law, what breaks it, the places and the rows as they were read."""
    if shown is None:
        return []
    lines = [_line(Span(_in_words(shown.law), BROKEN), f": {shown.sentence}")]
    lines.extend(_line("  ", Span(breach, BROKEN)) for breach in shown.breaches)
    if shown.also:
        lines.append(_line(Span(f"  it also breaks {', '.join(map(_in_words, shown.also))}", QUIET)))
    lines.extend(
        _line(Span(f"  {name:<10} ", LABEL), Span(held, QUIET if held == "empty" else PLAIN))
        for name, held in shown.places
    )
    lines.extend(
        _line(Span(f"  {job} ", LABEL), Span(row, QUIET if row == "no row" else PLAIN)) for job, row in shown.rows
    )
    return lines


def orders(tally: Tally) -> list[Line]:
    """All orders of two actors' commands, how many did harm, and one that did."""
    return [line for each in tally.orders for line in _orders(each)]


def _orders(each: Orders) -> Iterator[Line]:
    harm = Span(f"{each.harmful} do harm", BROKEN if each.harmful else GOOD)
    yield _line(Span(each.name, STRONG), f": {each.orders} orders, each of them run; ", harm)
    if each.twice:
        yield _line(Span(f"    {each.twice} of them leave the job counted as completed, and pending again", QUIET))
    if each.harm:
        yield _line(Span(f"    {' · '.join(each.example)}: ", QUIET), each.harm)


def verdict(tally: Tally) -> list[Line]:
    """What the run came to; nothing while it runs."""
    if tally.ended == "running":
        return []
    lines = []
    if tally.ended == "interrupted":
        lines.append(_line(Span("Stopped before its end: these are the counts until then.", REFUSED)))
    if tally.trouble:
        lines.append(_line(Span(tally.trouble, REFUSED)))
    if tally.faults:
        lines.extend(_line(Span(fault, BROKEN)) for fault in tally.faults)
    elif tally.ended == "done":
        seen = tally.read("scripted")
        lines.append(_line(Span(f"{seen.readings:,} readings of the scripted queue, and no law was broken.", GOOD)))
    return lines


def report(tally: Tally) -> list[Line]:
    """The whole proof, for a terminal."""
    lines = [head(tally)]
    for name, (title, about) in TITLES.items():
        lines.extend((_line(), _line(Span(title, STRONG), Span(f" · {about}", QUIET))))
        lines.extend(_indented(column(tally, name)))
        if name == "odd":
            lines.extend(_indented(odd_calls(tally)))
    shown = tally.read("scripted").shown or tally.read("naive").shown
    if shown is not None:
        whose = "scripted" if tally.read("scripted").shown else "naive"
        lines.extend((_line(), _line(Span(f"a broken reading of the {whose} queue, whole", STRONG))))
        lines.extend(_indented(broken_reading(shown)))
    lines.extend((_line(), _line(Span("every order of two actors", STRONG))))
    lines.extend(_indented(orders(tally)))
    lines.extend((_line(), _line(Span(JUDGED, QUIET)), _line(Span(HONEST, QUIET)), _line(), *verdict(tally)))
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


def _in_words(law: str) -> str:
    """A law's name with blanks, so that it breaks between words where a column is narrow."""
    return law.replace("_", " ")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
