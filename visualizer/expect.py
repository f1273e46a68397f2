"""Judges what a lesson announced of a step against what was read."""

from __future__ import annotations

from collections.abc import Mapping

from visualizer.model import Expect, Expectation, LawResult, Move, Observation, Outcome


def judge(
    expect: Expect,
    job: bytes | None,
    outcome: Outcome,
    moves: tuple[Move, ...],
    laws: tuple[LawResult, ...],
    before: Observation,
    after: Observation,
) -> tuple[Expectation, ...]:
    """One `Expectation` for each thing announced, in the order a reader asks: moved, answered, written, broken."""
    own = next((move for move in moves if move.id == job), None)
    found = [
        _places("leaves", expect.leaves, own.leaves if own else ()),
        _places("enters", expect.enters, own.enters if own else ()),
    ]
    if expect.outcome is not None:
        found.append(_same("outcome", expect.outcome, outcome.name))
    found.append(_same("refused", expect.refused, outcome.refused))
    if expect.row is not None and job is not None:
        found.append(_row(expect.row, job, before, after))
    broken = tuple(law.name for law in laws if law.breaches)
    found.append(_places("breaks", expect.breaks, broken))
    return tuple(found)


def _places(what: str, wanted: tuple[str, ...], got: tuple[str, ...]) -> Expectation:
    return Expectation(what, list(wanted), list(got), sorted(wanted) == sorted(got))


def _same(what: str, wanted: str | None, got: str | None) -> Expectation:
    return Expectation(what, wanted, got, wanted == got)


def _row(wanted: str | Mapping[str, str], job: bytes, before: Observation, after: Observation) -> Expectation:
    was, now = before.rows.get(job), after.rows.get(job)
    if isinstance(wanted, str):
        holds = {
            "gone": was is not None and now is None,
            "none": now is None,
            "unchanged": was == now,
        }[wanted]
        got = "none" if now is None else "unchanged" if was == now else "changed"
        if was is not None and now is None:
            got = "gone"
        return Expectation("row", wanted, got, holds)
    fields = now.fields if now else {}
    read = {name: fields.get(name.encode()) for name in wanted}
    shown = {name: None if value is None else value.decode("utf-8", "backslashreplace") for name, value in read.items()}
    return Expectation("row", dict(wanted), shown, shown == dict(wanted))
