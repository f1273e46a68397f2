"""What only the leased machine has to say about a frame, computed from what was read and answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from visualizer.clock import duration, relative
from visualizer.ids import is_branded
from visualizer.model import Frame, Member, Move
from visualizer.visible import short_id, visible

_REAPERS = frozenset({"reap", "sweep_stalled"})
_NAIVE_REAP = "naive_reap_scan"
_FENCED = frozenset({"complete", "retry", "extend_lock", "delay"})


def explain(frame: Frame, earlier: Sequence[Frame]) -> Sequence[str]:
    """Sentences about this frame, the most telling first."""
    return [
        *_token_mismatch(frame, earlier),
        *_token_alone(frame),
        *_no_payload(frame),
        *_new_again(frame, earlier),
        *_nothing_due(frame),
        *_reap_counts_nothing(frame),
        *_stalled_count(frame),
        *_left_behind(frame, earlier),
    ]


def row_note(frame: Frame, move: Move) -> str:
    """What attempts mean now: the fencing token, new by a claim or as it was."""
    for grant in frame.performed.grants:
        if grant.id == move.id:
            return f"{visible(grant.token, 12)} is {visible(grant.worker, 20)}'s token"
    row = frame.after.rows.get(move.id)
    attempts = row.fields.get(b"attempts", b"0") if row else b"0"
    if attempts == b"0" or any(change.field == b"attempts" for change in move.row):
        return ""
    held = "active" in frame.after.memberships.get(move.id, ())
    return f"attempts {visible(attempts, 12)}, still the token" if held else f"attempts stay {visible(attempts, 12)}"


def _did(frame: Frame) -> str | None:
    return frame.step.do if frame.step else None


def _token_mismatch(frame: Frame, earlier: Sequence[Frame]) -> Iterator[str]:
    refused = frame.outcome.refused
    if not refused or "token mismatch" not in refused or frame.step is None or frame.step.id is None:
        return
    row = frame.before.rows.get(frame.step.id)
    held = row.fields.get(b"attempts") if row else None
    sent = frame.calls[-1].args[1] if frame.calls and len(frame.calls[-1].args) > 1 else b"?"
    whose = ""
    for past in reversed(earlier):
        for grant in past.performed.grants:
            if grant.id == frame.step.id and grant.token == held:
                whose = f" (claimed by {visible(grant.worker, 20)} in step {_step_number(past, earlier)})"
        if whose:
            break
    yield f"The row holds {visible(held or b'nothing')}{whose}, you sent {visible(sent, 24)}."


def _token_alone(frame: Frame) -> Iterator[str]:
    """Why a call was accepted for a job that is not in its worker's hands: no script looks where the id is."""
    job = frame.step.id if frame.step else None
    if _did(frame) not in _FENCED or job is None or frame.outcome.refused is not None:
        return
    places = frame.before.memberships.get(job, ())
    if frame.outcome.name in ("error", "reply_lost") or "active" in places:
        return
    where = " and ".join(map(visible, places)) or "no place"
    yield f"The token fits, and the script compares nothing else: the id was in {where}, not in active."


def _no_payload(frame: Frame) -> Iterator[str]:
    for grant in frame.performed.grants:
        row = frame.after.rows.get(grant.id)
        if row is not None and row.whole and b"payload" not in row.fields:
            yield f"{short_id(grant.id)} comes without a payload: its row holds none, so there is nothing to work on."


def _new_again(frame: Frame, earlier: Sequence[Frame]) -> Iterator[str]:
    """An id that this walk has enqueued before, and that the script took for a new one."""
    if frame.outcome.name != "enqueued" or frame.kind != "script" or frame.step is None or not frame.calls:
        return
    before = [past for past in earlier if past.step is not None and past.step.id == frame.step.id]
    if any(past.outcome.name == "enqueued" for past in before):
        left = frame.before.rows.get(frame.step.id) if frame.step.id else None
        why = "" if left is not None else ": its row was gone"
        reply = visible(str(frame.calls[-1].reply), 12)
        yield f"{frame.step.do} answered {reply}, new, to an id that it had before{why}."


def _step_number(frame: Frame, frames: Sequence[Frame]) -> int:
    """The number of a frame as the path counts it: frames between steps are none of its steps."""
    return sum(past.of_path for past in frames if past.number <= frame.number)


def _nothing_due(frame: Frame) -> Iterator[str]:
    did = _did(frame)
    if frame.outcome.refused is not None or frame.moves:
        return
    if did == "promote":
        yield from _nearest(frame, "schedule", "Promote takes only what is due", "is due")
    elif did in _REAPERS:
        yield from _nearest(frame, "active", "It takes only lapsed leases", "lapses")


def _nearest(frame: Frame, place: str, rule: str, verb: str) -> Iterator[str]:
    first = next(_jobs(frame, place), None)
    if first is None:
        yield f"{rule}, and {place} is empty."
        return
    when = relative(first.score or 0, frame.after.clock_ms)
    yield f"{rule}: {short_id(first.id)} {verb} {when}."


def _jobs(frame: Frame, place: str) -> Iterator[Member]:
    """The members in view that can be jobs, in their order."""
    return (member for member in frame.after.places[place].members if is_branded(member.id))


def _reap_counts_nothing(frame: Frame) -> Iterator[str]:
    if _did(frame) == "reap" and any("active" in move.leaves for move in frame.moves):
        yield "A reap moves no counter: attempts grow at the next claim."


def _stalled_count(frame: Frame) -> Iterator[str]:
    if _did(frame) != "sweep_stalled" or frame.step is None or not frame.calls:
        return
    limit = int(frame.calls[-1].args[1])
    for move in frame.moves:
        for change in move.row:
            if change.field == b"stalled" and change.after is not None:
                end = "so it is dead" if "dead" in move.enters else "so it may run again"
                yield (
                    f"{short_id(move.id)} has stalled {visible(change.after, 12)} of {limit} times, {end}. "
                    "The limit is a count, not a time."
                )


def _left_behind(frame: Frame, earlier: Sequence[Frame]) -> Iterator[str]:
    """What is overdue, and who has not run."""
    seen = frame.after
    overdue = [member for member in _jobs(frame, "schedule") if (member.score or 0) <= seen.clock_ms]
    if overdue and _did(frame) != "promote":
        late = duration(seen.clock_ms - (overdue[0].score or 0))
        yield f"{short_id(overdue[0].id)} was due {late} before this reading: no promoter has run."
    lapsed = [member for member in _jobs(frame, "active") if (member.score or 0) <= seen.clock_ms]
    # A naive reaper that has read its list is at work, though it may not have come to the id yet.
    if lapsed and _did(frame) not in _REAPERS and _NAIVE_REAP not in map(_did, (*earlier, frame)):
        late = duration(seen.clock_ms - (lapsed[0].score or 0))
        yield f"The lease of {short_id(lapsed[0].id)} had ended {late} before this reading: no reaper has run."
