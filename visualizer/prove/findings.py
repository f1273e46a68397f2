"""What a proof found besides its counts, in lines: a broken reading, every order of two actors, the odd calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from visualizer.prove.counts import Orders, Shown, Tally
from visualizer.prove.odd import ODD
from visualizer.prove.watching import NO_ROW
from visualizer.prove.wording import bad, counted, in_words, line
from visualizer.spans import BROKEN, LABEL, QUIET, STRONG, Line, Span


def found(tally: Tally) -> Iterator[tuple[str, list[Line]]]:
    """What stands beside the columns, each with its title: a broken reading, every order, the odd calls and why."""
    for name in ("scripted", "naive"):
        shown = tally.watched[name].shown if name in tally.watched else None
        if shown is not None:
            yield f"a broken reading of the {name} queue", broken_reading(shown)
            break
    yield "every order of two actors", orders(tally)
    if tally.odd:
        yield "odd calls, and the laws they break", odd_calls(tally)


def broken_reading(shown: Shown | None) -> list[Line]:
    """A broken reading: the law, what breaks it, the places and the rows as they were read, broken ids marked.

    Ids that have no row and are in no place have nothing to do with it: they are only counted.
    """
    if shown is None:
        return []
    lines = [line(Span(in_words(shown.law), BROKEN), f": {shown.sentence}")]
    lines.extend(line("  ", Span(breach, BROKEN)) for breach in shown.breaches)
    if shown.also:
        lines.append(line(Span(f"  it also breaks {', '.join(map(in_words, shown.also))}", QUIET)))
    here = {member.split(" ", 1)[0] for _, members in shown.places for member in members}
    for name, members in shown.places:
        lines.append(line(Span(f"    {name:<10} ", LABEL), *_members(members, shown.ids)))
    away = 0
    for job, row in shown.rows:
        if job in shown.ids:
            lines.append(line(Span(f"  ! {job} ", BROKEN), row))
        elif row != NO_ROW or job in here:
            lines.append(line(Span(f"    {job} ", LABEL), row))
        else:
            away += 1
    if away:
        lines.append(line(Span(f"    {counted(away, 'other id')} with no row and in no place", QUIET)))
    return lines


def _members(members: Sequence[str], broken: Sequence[str]) -> Iterator[Span]:
    if not members:
        yield Span("empty", QUIET)
    for at, member in enumerate(members):
        if at:
            yield Span(", ")
        yield Span(f"! {member}", BROKEN) if member.split(" ", 1)[0] in broken else Span(member)


def orders(tally: Tally) -> list[Line]:
    """All orders of two actors' commands, how many did harm and which, and one that did."""
    return [line for each in tally.orders for line in _orders(each)]


def _orders(each: Orders) -> Iterator[Line]:
    harm = Span(f"{each.harmful} do harm", bad(each.harmful))
    yield line(Span(each.name, STRONG), f": {each.orders} orders of turns, each of them run; ", harm)
    if each.sequences < each.orders:
        told = f"{each.sequences} different sequences of commands, of which {each.harmful_sequences} do harm"
        yield line(Span(f"    a turn may send nothing: they come to {told}", QUIET))
    if each.twice:
        yield line(Span(f"    {each.twice} of them leave the job counted as completed, and pending again", QUIET))
    for left, times in each.others.items():
        yield line(Span(f"    {times} of them end so: {left}", QUIET))
    if each.harm:
        yield line(Span(f"    {' · '.join(each.example)}: ", QUIET), each.harm)


def odd_calls(tally: Tally) -> list[Line]:
    """Each odd call with the laws it breaks, how often, and why."""
    whys = {odd.name: odd.why for odd in ODD}
    lines = []
    for odd in tally.odd:
        always = all(times == odd.times for times in odd.laws.values())
        laws = ", ".join(in_words(law) + ("" if always else f" ({times:,} ×)") for law, times in odd.laws.items())
        broken = f"broken {'each time' if always else 'now and then'}: {laws}"
        lines.append(line(f"{odd.times:,} × {odd.name} · ", Span(broken if laws else "breaks no law", bad(len(laws)))))
        lines.append(line(Span(f"    {whys[odd.name]}", QUIET)))
    return lines
