"""The difference of two observations: which id left which place, entered which, and what its row gained."""

from __future__ import annotations

from collections.abc import Mapping

from visualizer.model import Change, Lock, Move, Observation, Row

Homes = Mapping[bytes, tuple[str, ...]]


def moves_between(
    before: Observation, after: Observation, homes_before: Homes | None = None, homes_after: Homes | None = None
) -> tuple[Move, ...]:
    """The moves of every id whose membership is known on both sides, and of those in view on both sides; ids to which
    nothing happened have none."""
    was = before.homes() if homes_before is None else homes_before
    now = after.homes() if homes_after is None else homes_after
    if not (before.all_whole and after.all_whole):
        seen_before, seen_after = before.sighted(), after.sighted()
        both = seen_before.keys() & seen_after.keys()
        was = {**{job: seen_before[job] for job in seen_before if job in both}, **was}
        now = {**{job: seen_after[job] for job in seen_before if job in both}, **now}
    moves = []
    for job in dict.fromkeys((*was, *now)):
        if (job in was or before.all_whole) and (job in now or after.all_whole):
            move = _move(job, before, after, was.get(job, ()), now.get(job, ()))
            if move is not None:
                moves.append(move)
    return tuple(moves)


def unseen_moves(before: Observation, after: Observation, moves: tuple[Move, ...]) -> int:
    """How many ids moved out of view: the largest change of a place's count that the moves do not explain."""
    most = 0
    for name in {*before.places, *after.places}:
        was, now = before.places.get(name), after.places.get(name)
        change = (now.count if now else 0) - (was.count if was else 0)
        explained = sum((name in move.enters) - (name in move.leaves) for move in moves)
        most = max(most, abs(change - explained))
    return most


def _move(
    job: bytes, before: Observation, after: Observation, was: tuple[str, ...], now: tuple[str, ...]
) -> Move | None:
    leaves = tuple(place for place in was if place not in now)
    enters = tuple(place for place in now if place not in was)
    stays = tuple(place for place in was if place in now)
    rescored = tuple(place for place in stays if before.score(place, job) != after.score(place, job))
    row_before, row_after = before.rows.get(job), after.rows.get(job)
    lock_before, lock_after = before.locks.get(job), after.locks.get(job)
    # Of an id that is in view on one side only, the other side's row was not read: nothing is said to have changed.
    if job not in after.rows:
        row_after, lock_after = row_before, lock_before
    elif job not in before.rows:
        row_before, lock_before = row_after, lock_after
    changes = _changes(row_before, row_after)
    relocked = _key_of(lock_before) != _key_of(lock_after)
    appeared = (row_before is None) != (row_after is None)
    if not (leaves or enters or rescored or changes or relocked or appeared):
        return None
    return Move(
        job, leaves, enters, rescored, changes, row_before is not None, row_after is not None, lock_before, lock_after
    )


def _key_of(lock: Lock | None) -> tuple[bytes, int] | None:
    """What differs where a lock was taken, given back, changed hands or got a new time."""
    return None if lock is None else (lock.token, lock.expires_at_ms)


def _changes(before: Row | None, after: Row | None) -> tuple[Change, ...]:
    if before is after:
        return ()
    was = before.fields if before else {}
    now = after.fields if after else {}
    return tuple(
        Change(field, was.get(field), now.get(field))
        for field in dict.fromkeys((*was, *now))
        if was.get(field) != now.get(field)
    )
