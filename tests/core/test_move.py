"""The difference of two readings: which id left which place, entered which, and what is only not known."""

from __future__ import annotations

from tests.core.readings import CLOCK_MS, place, row, seen
from tests.core.walking import GUESS, RIVAL, THIRD
from visualizer.ids import Minter
from visualizer.model import Change, Lock, Move, Observation
from visualizer.move import moves_between, unseen_moves

OUTSIDER = b"JOB0KHTOfMv2X9"
minter = Minter(5, lambda: 1_767_225_600_000)
MANY = [minter.mint("JOB").encode() for _ in range(60)]


def only(before: Observation, after: Observation) -> Move:
    (move,) = moves_between(before, after)
    return move


def test_nothing_moves_where_nothing_differs() -> None:
    before = seen(place("pending", (GUESS, 0)))
    assert moves_between(before, seen(place("pending", (GUESS, 0)), clock_ms=CLOCK_MS + 9)) == ()


def test_an_id_leaves_one_place_and_enters_another() -> None:
    before = seen(place("pending", (GUESS, 0), (RIVAL, 0)))
    after = seen(place("pending", (RIVAL, 0)), place("active", (GUESS, 5)), rows={GUESS: row("active", 1)})
    assert only(before, after) == Move(
        GUESS,
        ("pending",),
        ("active",),
        (),
        (Change(b"state", b"pending", b"active"), Change(b"attempts", b"0", b"1")),
        True,
        True,
    )


def test_an_admitted_id_leaves_nothing_and_a_completed_one_enters_nothing() -> None:
    empty, full = seen(), seen(place("active", (GUESS, 5)))
    admitted, completed = only(empty, full), only(full, empty)
    assert (admitted.leaves, admitted.enters, admitted.row_before, admitted.row_after) == ((), ("active",), False, True)
    assert (completed.leaves, completed.enters, completed.row_before, completed.row_after) == (
        ("active",),
        (),
        True,
        False,
    )
    assert admitted.row[0] == Change(b"state", None, b"active")
    assert completed.row[0] == Change(b"state", b"active", None)


def test_a_new_score_alone_is_no_move() -> None:
    move = only(seen(place("active", (GUESS, 5))), seen(place("active", (GUESS, 6))))
    assert (move.leaves, move.enters, move.rescored) == ((), (), ("active",))


def test_an_id_in_two_places_leaves_only_the_one_it_left() -> None:
    both = seen(place("pending", (GUESS, 0)), place("active", (GUESS, 5)))
    move = only(both, seen(place("active", (GUESS, 6)), rows={GUESS: row("active")}))
    assert (move.leaves, move.enters, move.rescored) == (("pending",), (), ("active",))


def test_a_row_alone_may_change() -> None:
    before = seen(place("pending", (GUESS, 0)))
    after = seen(place("pending", (GUESS, 0)), rows={GUESS: row("pending", 0, progress=b"\xff")})
    assert only(before, after).row == (Change(b"progress", None, b"\xff"),)
    lost = only(before, seen(place("pending", (GUESS, 0)), rows={GUESS: None}))
    assert (lost.leaves, lost.row_before, lost.row_after) == ((), True, False)


def test_a_lock_alone_may_change_and_a_ttl_does_not() -> None:
    def locked(token: bytes, ttl_ms: int) -> Observation:
        return seen(place("active", (GUESS, 5)), locks={GUESS: Lock(token, ttl_ms)})

    assert moves_between(locked(b"w1", 100), locked(b"w1", 90)) == ()
    move = only(locked(b"w1", 100), locked(b"w2", 100))
    assert (move.lock_before, move.lock_after) == (Lock(b"w1", 100), Lock(b"w2", 100))
    assert only(locked(b"w1", 100), seen(place("active", (GUESS, 5)))).lock_after is None


def test_ids_that_nobody_captured_move_too_where_every_place_is_wholly_in_view() -> None:
    before = seen(place("pending", (OUTSIDER, 0)))
    after = seen(place("active", (OUTSIDER, 5)))
    move = only(before, after)
    assert (move.id, move.leaves, move.enters) == (OUTSIDER, ("pending",), ("active",))


def test_of_an_outsider_that_went_nothing_is_said_about_its_row() -> None:
    """Its row was not read afterwards: it may well be there."""
    move = only(seen(place("pending", (OUTSIDER, 0))), seen())
    assert (move.leaves, move.enters, move.row) == (("pending",), (), ())
    assert move.row_before is move.row_after
    came = only(seen(), seen(place("pending", (OUTSIDER, 0))))
    assert (came.enters, came.row) == (("pending",), ())
    assert came.row_before is came.row_after


def test_moves_out_of_view_are_counted_and_not_guessed() -> None:
    full = place("pending", *((job, 0) for job in MANY[:40]), count=60)
    before = seen(full, captured=(GUESS,))
    after = seen(
        place("pending", *((job, 0) for job in MANY[:40]), count=57),
        place("active", *((job, 5) for job in MANY[50:53])),
        captured=(GUESS,),
    )
    moves = moves_between(before, after)
    assert moves == ()
    assert unseen_moves(before, after, moves) == 3


def test_ids_in_view_on_both_sides_move_too() -> None:
    full = place("pending", *((job, 0) for job in MANY[:40]), count=60)
    before = seen(full, captured=(GUESS,))
    after = seen(
        place("pending", *((job, 0) for job in MANY[3:43]), count=57),
        place("active", *((job, 5) for job in MANY[:3])),
        captured=(GUESS,),
    )
    moves = moves_between(before, after)
    assert [move.id for move in moves] == MANY[:3]
    assert all((move.leaves, move.enters) == (("pending",), ("active",)) for move in moves)
    assert unseen_moves(before, after, moves) == 0


def test_captured_ids_are_followed_where_not_everything_is_in_view() -> None:
    full = place("pending", *((job, 0) for job in MANY[:40]), count=60)
    before = seen(full, place("active", (GUESS, 5)), captured=(GUESS,))
    after = seen(place("pending", (GUESS, 0), *((job, 0) for job in MANY[:40]), count=61), captured=(GUESS,))
    moves = moves_between(before, after)
    assert [(move.id, move.leaves, move.enters) for move in moves] == [(GUESS, ("active",), ("pending",))]
    assert unseen_moves(before, after, moves) == 0


def test_an_id_that_may_only_have_come_into_view_has_not_moved() -> None:
    before = seen(place("pending", *((job, 0) for job in MANY[:40]), count=60), captured=(GUESS,))
    after = seen(place("pending", *((job, 0) for job in MANY[20:60])), captured=(GUESS,))
    moves = moves_between(before, after)
    assert moves == ()
    assert unseen_moves(before, after, moves) == 20


def test_every_captured_id_that_moved_has_a_move() -> None:
    before = seen(place("pending", (GUESS, 0), (RIVAL, 0)), place("schedule", (THIRD, 1)))
    after = seen(place("active", (GUESS, 5), (RIVAL, 5)), place("pending", (THIRD, 0)))
    moves = moves_between(before, after)
    assert {move.id: (move.leaves, move.enters) for move in moves} == {
        GUESS: (("pending",), ("active",)),
        RIVAL: (("pending",), ("active",)),
        THIRD: (("schedule",), ("pending",)),
    }
