"""Laws that hold on every machine: they speak of places and rows, never of a machine's own fields."""

from __future__ import annotations

from collections.abc import Sequence

from visualizer.ids import is_branded
from visualizer.model import Evidence, Law
from visualizer.visible import visible


def _list(places: Sequence[str]) -> str:
    return " and ".join(places)


def _in_exactly_one_place(seen: Evidence) -> Sequence[str]:
    breaches = []
    for job, places in seen.homes_after.items():
        if seen.after.rows.get(job) is None or not is_branded(job):
            continue
        if len(places) > 1:
            breaches.append(f"{visible(job)} is in {_list(places)}")
        elif not places:
            breaches.append(f"{visible(job)} has a row and is in no place")
    return breaches


def _member_has_a_row(seen: Evidence) -> Sequence[str]:
    return [
        f"{visible(member.id)} is in {name} and has no row"
        for name, reading in seen.after.places.items()
        for member in reading.members
        if seen.after.rows.get(member.id) is None and is_branded(member.id)
    ]


def _row_has_a_place(seen: Evidence) -> Sequence[str]:
    return [
        f"{visible(job)} has a row that no place points to"
        for job, places in seen.homes_after.items()
        if not places and seen.after.rows.get(job) is not None and is_branded(job)
    ]


def _refusal_wrote_nothing(seen: Evidence) -> Sequence[str]:
    if seen.performed.outcome.refused is None or seen.before.same_apart_from_time(seen.after):
        return ()
    return (f"{seen.did} was refused, yet what was read before and after differs",)


EXACTLY_ONE_PLACE = Law(
    "the_id_is_in_exactly_one_place", "While its row lives, the id is in exactly one place.", _in_exactly_one_place
)
MEMBER_HAS_A_ROW = Law("every_member_has_a_row", "Every member in view has a row.", _member_has_a_row)
ROW_HAS_A_PLACE = Law("every_row_has_a_place", "Every row in view has a place.", _row_has_a_place)
REFUSAL_WROTE_NOTHING = Law("a_refusal_wrote_nothing", "A refusal wrote nothing.", _refusal_wrote_nothing)
