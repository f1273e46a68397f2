"""The laws of the leased machine, each judged on what was read before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from visualizer.ids import decode
from visualizer.machine import shared_laws
from visualizer.model import Evidence, Law, PlaceReading
from visualizer.visible import visible

CLAIMS = frozenset({"claim", "claim_batch", "lane_claim"})
STATE_OF_PLACE = {"pending": b"pending", "active": b"active", "schedule": b"scheduled", "dead": b"dead"}


def _state_of(place: str) -> bytes:
    return STATE_OF_PLACE.get(place, b"pending")


def _waiting(seen: Evidence) -> Iterator[PlaceReading]:
    """The flat line and the lanes."""
    for name, reading in seen.after.places.items():
        if name == "pending" or name not in STATE_OF_PLACE:
            yield reading


def _row_state_follows(seen: Evidence) -> Sequence[str]:
    breaches = []
    for name, reading in seen.after.places.items():
        for member in reading.members:
            row = seen.after.rows.get(member.id)
            if row is None or decode(member.id) is None:
                continue
            state = row.fields.get(b"state")
            if state != _state_of(name):
                said = "no state" if state is None else visible(state, 24)
                breaches.append(f"{visible(member.id)} is in {name}, its row says {said}")
    return breaches


def _row_state_names_a_place(seen: Evidence) -> Sequence[str]:
    """A row whose id is in no place still claims a state: the two facts disagree."""
    breaches = list(_row_state_follows(seen))
    for job, places in seen.homes_after.items():
        row = seen.after.rows.get(job)
        if row is not None and not places and b"state" in row.fields and decode(job) is not None:
            breaches.append(f"{visible(job)} is in no place, its row says {visible(row.fields[b'state'], 24)}")
    return breaches


def _waiting_scores_are_zero(seen: Evidence) -> Sequence[str]:
    return [
        f"{visible(member.id)} has score {member.score:g} in {reading.name}"
        for reading in _waiting(seen)
        for member in reading.members
        if member.score != 0 and decode(member.id) is not None
    ]


def _in_mint_order(seen: Evidence) -> Sequence[str]:
    breaches = []
    dead = seen.after.places.get("dead")
    for reading in (*_waiting(seen), *([dead] if dead else [])):
        newest, newest_id = -1, b""
        for member in reading.members:
            branded = decode(member.id)
            if branded is None:
                continue
            if branded.value < newest:
                breaches.append(f"{visible(member.id)} was minted before {visible(newest_id)}, which is ahead of it")
            newest, newest_id = branded.value, member.id
    return breaches


def _deadlines_in_order(seen: Evidence) -> Sequence[str]:
    breaches = []
    for name in ("active", "schedule"):
        latest: tuple[float, int] = (float("-inf"), -1)
        reading = seen.after.places.get(name)
        for member in reading.members if reading else ():
            branded = decode(member.id)
            if branded is None or member.score is None:
                continue
            here = (member.score, branded.value)
            if here < latest:
                breaches.append(f"{visible(member.id)} in {name} is due before the id ahead of it")
            latest = here
    return breaches


def _active_score_in_the_future(seen: Evidence) -> Sequence[str]:
    breaches = []
    reading = seen.after.places.get("active")
    for member in reading.members if reading else ():
        if decode(member.id) is None or member.score is None:
            continue
        was = seen.before.score("active", member.id)
        if was is None and member.id not in seen.homes_before:
            continue  # not in view before: the score may be an old one
        if member.score != was and member.score <= seen.before.clock_ms:
            breaches.append(f"{visible(member.id)} got a lease that had already ended")
    return breaches


def _attempts(seen: Evidence, job: bytes, *, after: bool) -> int | None:
    row = (seen.after if after else seen.before).rows.get(job)
    if row is None:
        return 0 if not after else None
    text = row.fields.get(b"attempts", b"0")
    return int(text) if text.isdigit() else None


def _claimed(seen: Evidence) -> set[bytes]:
    """The ids that the step claimed: those its reply names, and where the reply was lost, those now in active."""
    if seen.did not in CLAIMS:
        return set()
    if seen.performed.outcome.name == "reply_lost":
        return {
            job
            for job, places in seen.homes_after.items()
            if "active" in places and "active" not in seen.homes_before.get(job, ())
        }
    return {grant.id for grant in seen.performed.grants}


def _attempts_grow_only_by_a_claim(seen: Evidence) -> Sequence[str]:
    if seen.did is None:
        return ()  # between two steps others may have claimed any number of times
    claimed = _claimed(seen)
    breaches = []
    for job in seen.after.rows:
        if seen.before.rows.get(job) is None and job not in seen.homes_before:
            continue  # not in view before: nothing to compare with
        was, now = _attempts(seen, job, after=False), _attempts(seen, job, after=True)
        if seen.after.rows[job] is None or was is None:
            continue
        wanted = was + (job in claimed)
        if now != wanted:
            breaches.append(f"{visible(job)} went from {was} to {now if now is not None else 'no number'} attempts")
    return breaches


def _completed_left_nothing(seen: Evidence) -> Sequence[str]:
    if seen.performed.outcome.name != "completed" or seen.id is None:
        return ()
    places = seen.homes_after.get(seen.id, ())
    breaches = [f"{visible(seen.id)} was completed and is still in {place}" for place in places]
    if seen.after.rows.get(seen.id) is not None:
        breaches.append(f"{visible(seen.id)} was completed and still has a row")
    return breaches


LAWS: tuple[Law, ...] = (
    shared_laws.EXACTLY_ONE_PLACE,
    Law(
        "the_row_state_follows_the_place",
        "The row's state follows the place (schedule is written scheduled).",
        _row_state_names_a_place,
    ),
    Law("pending_scores_are_zero", "A waiting id has score 0.", _waiting_scores_are_zero),
    Law(
        "pending_dead_and_lanes_are_in_mint_order",
        "Pending, dead and the lanes are in mint order.",
        _in_mint_order,
    ),
    Law(
        "deadlines_are_in_order",
        "Active and schedule are in the order of their deadlines, equal ones in mint order.",
        _deadlines_in_order,
    ),
    Law(
        "an_active_score_was_in_the_future",
        "A lease ends after the moment it was written.",
        _active_score_in_the_future,
    ),
    Law(
        "attempts_grow_only_by_a_claim",
        "Attempts grow only by a claim, and by one.",
        _attempts_grow_only_by_a_claim,
    ),
    shared_laws.REFUSAL_WROTE_NOTHING,
    Law(
        "a_completed_job_left_nothing",
        "A completed job left no row and no member.",
        _completed_left_nothing,
    ),
    shared_laws.MEMBER_HAS_A_ROW,
    shared_laws.ROW_HAS_A_PLACE,
)
