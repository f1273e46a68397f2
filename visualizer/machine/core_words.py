"""What only the core machine has to say about a frame: its codes, its pickups, its layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from visualizer.clock import duration
from visualizer.machine.core_codes import CODES
from visualizer.machine.core_lock_words import explain_locks
from visualizer.model import Frame, Move
from visualizer.visible import short_id, visible

# A delayed score is the due millisecond times this, plus a slot (section 5).
SLOTS_A_MS = 4_096

# The place in which a script that answers -3 looks for its job, active for every other one.
_LOOKS_IN = {"promote": "delayed", "reprocessJob": "failed"}

_WROTE_NOTHING = "It wrote nothing: places, rows, locks, marks and counters read as before."


def explain(frame: Frame, earlier: Sequence[Frame]) -> Sequence[str]:
    """Sentences about this frame, the most telling first."""
    return [
        *_code(frame),
        *explain_locks(frame, earlier),
        *_pickup(frame),
        *_nothing(frame),
        *_released(frame),
        *_left_to_the_parent(frame),
        *_turn(frame),
        *_due(frame),
    ]


def row_note(frame: Frame, move: Move) -> str:
    """Who holds the job's token now, where that has just changed."""
    for grant in frame.performed.grants:
        if grant.id == move.id:
            return f"{visible(grant.token, 24)} is {visible(grant.worker, 20)}'s token"
    return ""


def _did(frame: Frame) -> str | None:
    return frame.step.do if frame.step else None


def _code(frame: Frame) -> Iterator[str]:
    refused, wrote_nothing = frame.outcome.refused, frame.before.same_apart_from_time(frame.after)
    if refused == "0" and wrote_nothing:
        yield _WROTE_NOTHING
    if refused is None or not refused.lstrip("-").isdigit() or int(refused) not in CODES:
        return
    code = CODES[int(refused)]
    yield f"{refused.replace('-', '−')} is {code.name}: {code.meaning}"
    if frame.step is None:
        return
    if code.number == -3 and frame.step.id is not None:
        looks_in = frame.step.given.get("state") or _LOOKS_IN.get(frame.step.do, "active")
        found = " and ".join(frame.before.homes().get(frame.step.id, ())) or "nowhere"
        yield f"{frame.step.do} looks in {looks_in}; the id is {'' if found == 'nowhere' else 'in '}{found}."
    wrote = []
    own = frame.move()
    if own is not None and own.lock_before and not own.lock_after:
        wrote.append("the lock is gone")
    stalled_before, stalled_after = frame.before.sides.get("stalled", ()), frame.after.sides.get("stalled", ())
    if frame.step.id in stalled_before and frame.step.id not in stalled_after:
        wrote.append("the stalled mark is gone")
    if own is not None and own.row:
        wrote.append("fields of the row are written")
    if frame.before.sides.get("id") != frame.after.sides.get("id"):
        wrote.append("the id counter has moved on")
    if wrote:
        yield f"Refused, and yet it wrote: {', '.join(wrote)}. No id moved."
    elif wrote_nothing:
        yield _WROTE_NOTHING


def _pickup(frame: Frame) -> Iterator[str]:
    if _did(frame) not in ("moveToActive", "moveToFinished", "retryJob"):
        return
    picked = {grant.id for grant in frame.performed.grants}
    promoted = [move for move in frame.moves if "delayed" in move.leaves]
    for move in promoted:
        if move.id in picked:
            yield f"{short_id(move.id)} was promoted to wait and picked up in the same call: no one saw it in wait."
        elif frame.outcome.refused is not None:
            yield f"{short_id(move.id)} was due: the call promoted it before it asked anything about its own job."
        else:
            yield f"{short_id(move.id)} was due, and the same call promoted it."
    for grant in frame.performed.grants:
        if frame.step is not None and frame.step.id not in (None, grant.id):
            held = f"locked with {visible(grant.token, 24)}"
            yield f"{visible(grant.worker, 20)} gets {short_id(grant.id)}, {held}."
        row = frame.after.rows.get(grant.id)
        if row is not None and b"defa" in row.fields:
            why = visible(row.fields[b"defa"], 60)
            yield f"Its row holds a deferred failure ({why}): the worker does not run it and ends it as failed."


def _nothing(frame: Frame) -> Iterator[str]:
    """Why a worker that asked got no job."""
    if _did(frame) not in ("moveToActive", "moveToFinished") or frame.performed.grants or not frame.calls:
        return
    reply, meta = frame.calls[-1].reply, frame.before.sides.get("meta")
    if isinstance(meta, dict) and b"paused" in meta and isinstance(reply, list):
        yield "The queue is paused: nothing is handed out."
    elif isinstance(reply, list) and len(reply) == 4 and isinstance(reply[3], int) and reply[3] > 0:
        yield f"Nothing to hand out: the next is due in {duration(reply[3] - frame.after.clock_ms)}."


def _released(frame: Frame) -> Iterator[str]:
    """A parent that goes on because of how its child ended."""
    if _did(frame) != "moveToFinished":
        return
    why = ": no child of it is pending any more" if frame.outcome.name == "completed" else ""
    for move in frame.moves:
        if "waiting-children" in move.leaves:
            yield f"{short_id(move.id)} was waiting for its children. The same call releases it{why}."


def _left_to_the_parent(frame: Frame) -> Iterator[str]:
    """A failure that a child leaves in its parent's row."""
    for move in frame.moves:
        if frame.step is None or move.id == frame.step.id or _did(frame) != "moveToFinished":
            continue
        for change in move.row:
            if change.field == b"defa" and change.after is not None:
                why = visible(change.after, 60)
                yield f"The row of {short_id(move.id)} now holds defa, a deferred failure: {why}."


def _turn(frame: Frame) -> Iterator[str]:
    """Whose turn a position is, where more than one waits."""
    own = frame.move()
    if own is None:
        return
    for place in own.enters:
        reading = frame.after.places[place]
        if place not in ("wait", "paused") or reading.count < 2:
            continue
        for member in reading.members:
            if member.id == own.id:
                turn = f"number {reading.count - member.rank} of {reading.count}"
                yield f"{short_id(own.id)} is {turn} in {place}, which is served from the right."


def _due(frame: Frame) -> Iterator[str]:
    """Delayed jobs whose time has come, while nobody has looked."""
    if frame.kind != "wait":
        return
    for member in frame.after.places["delayed"].members:
        if member.score is not None and frame.before.clock_ms < member.score // SLOTS_A_MS <= frame.after.clock_ms:
            yield f"{short_id(member.id)} is due, and nothing moves by itself: it waits for a call that asks for work."


# The four layers ------------------------------------------------------------------------------------------------------

# What the course names, and no other name: the runtime's function for a script, where it gives one.
_CALLED = {
    "moveToActive": "EchoMQ.Scripts.move_to_active/4",
    "extendLock": "EchoMQ.LockManager renews the lock by a timer",
}
_KEY_FUNCTIONS = {"wait": "EchoMQ.Keys.wait/1", "active": "EchoMQ.Keys.active/1"}


def layers(frame: Frame) -> Sequence[tuple[str, str]]:
    """The frame as the runtime sees it, top down: the call, the dispatch, the script, the keys and the lock."""
    if frame.step is None or frame.performed.script is None:
        return ()
    did = frame.step.do
    script = frame.performed.script.rpartition("/")[2]
    call = next((call for call in reversed(frame.calls) if call.command == "EVALSHA"), None)
    sha1 = f"EVALSHA {call.sha1[:7]}…, {len(call.keys)} keys, {len(call.args)} arguments" if call and call.sha1 else ""
    named = _CALLED.get(did)
    upper = "a worker asks for work" if did == "moveToActive" else "the runtime asks for it"
    dispatch = f"{named}: {sha1}" if named and "/" in named else sha1
    if named and "/" not in named:
        upper = named
    return (
        ("L4", f"{upper}."),
        ("L3", f"{dispatch}."),
        ("L2", f"{script} runs as one step."),
        ("L1", _keys(frame)),
    )


def _keys(frame: Frame) -> str:
    parts = []
    for move in frame.moves:
        if move.leaves or move.enters:
            source = " ".join(_KEY_FUNCTIONS.get(place, place) for place in move.leaves) or "nothing"
            target = " ".join(_KEY_FUNCTIONS.get(place, place) for place in move.enters) or "nothing"
            parts.append(f"{short_id(move.id)}: {source} → {target}.")
        if move.lock_after and not move.lock_before:
            parts.append(f"lock taken with {visible(move.lock_after.token, 20)}.")
        elif move.lock_before and not move.lock_after:
            parts.append("lock gone." if frame.outcome.refused else "lock given back.")
        elif move.lock_before and move.lock_after:
            parts.append("lock renewed.")
    return " ".join(parts) or "no key of a state changed."


def codes() -> tuple[tuple[str, str], ...]:
    """The page of codes: number and name, and what there is to say."""
    return tuple(
        (
            f"{'−' + str(-code.number):>3}  {code.name}",
            f"{code.meaning} From: {', '.join(code.emitted_by)}. Changed: {code.changed}."
            + ("" if code.ours else " Not a script of these lessons: it is told here, not shown."),
        )
        for code in CODES.values()
    )
