"""A frame in sentences: lines of (text, role). Everything said is computed from what was read and answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from visualizer.cache_words import cache_lines
from visualizer.clock import duration
from visualizer.lane_view import lane_lines, told_sides
from visualizer.model import Frame, Machine, Move
from visualizer.picture import picture
from visualizer.race import chosen_turns, order_line
from visualizer.race_end import completed_by, times, times_completed
from visualizer.readout_lines import (
    law_lines,
    lock_lines,
    odd_member_lines,
    plain,
    row_lines,
    score_lines,
    sentence,
    side_lines,
    whose_clock,
    wire_lines,
)
from visualizer.spans import (
    ASIDE,
    BROKEN,
    ENTERED,
    LEFT,
    QUIET,
    REFUSED,
    STRONG,
    SUBJECT,
    VALUE,
    Line,
    Span,
    show_reply,
)
from visualizer.steps import waits_until
from visualizer.visible import short_id, visible

# Steps that somebody takes: the path's, and the learner's own key.
_BY_HAND = ("", "you")


def readout(machine: Machine, frame: Frame, earlier: Sequence[Frame] = ()) -> tuple[Line, ...]:
    """The frame as lines, the most important first. ``earlier`` are the walk's frames before it."""
    return tuple(_lines(machine, frame, earlier))


def _lines(machine: Machine, frame: Frame, earlier: Sequence[Frame]) -> Iterator[Line]:
    for note in frame.performed.notes:
        yield sentence(note, STRONG)
    yield from _counted_again(frame, earlier)
    yield _headline(machine, frame, earlier)
    yield from _waits_all_the_same(machine, frame, earlier)
    # A fault's note is its first line, unless an id moved and that is told first.
    if frame.outcome.note and (frame.kind != "fault" or frame.moves):
        yield sentence(_capital(frame.outcome.note))
    for label, text in frame.performed.facts:
        yield Line(label, (Span(visible(text), VALUE),))
    yield from cache_lines(frame, earlier)
    for text in machine.explain(frame, earlier):
        yield sentence(text)
    if machine.group_names:
        yield from lane_lines(machine, frame, picture(machine, frame.after, frame))
    # Where the step's own job did nothing, the first line tells what another one did, and so do the lines after it.
    told = frame.move() or next(iter(frame.moves), None)
    for move in frame.moves:
        if move is not told:
            yield Line("also", tuple(_movement(move, short=True)))
    if frame.unseen:
        ids = "one more id" if frame.unseen == 1 else f"{frame.unseen:,} more ids"
        yield sentence(f"At least {ids} moved out of view.")
    if told is not None:
        yield from score_lines(machine, frame, told)
        yield from row_lines(machine, frame, told)
        yield from lock_lines(told)
    yield from side_lines(frame, told_sides(machine, frame))
    yield from odd_member_lines(machine, frame.after)
    yield from wire_lines(frame.calls)
    yield from law_lines(frame)
    turns = chosen_turns(frame, earlier)
    if turns:
        yield Line("lesson", (Span(order_line(turns), QUIET),))
    for expected in frame.expected:
        if not expected.met:
            yield Line(
                "lesson",
                (Span(f"announced {expected.what} {plain(expected.wanted)}, read {plain(expected.got)}", BROKEN),),
            )


def _capital(text: str) -> str:
    ended = text if text.endswith((".", "!", "?")) else text + "."
    return ended[0].upper() + ended[1:]


# A job that is done and goes on ---------------------------------------------------------------------------------------


def _counted_again(frame: Frame, earlier: Sequence[Frame]) -> Iterator[Line]:
    """A job that was counted as completed before, and is counted once more."""
    job = frame.step.id if frame.step is not None else None
    if job is None or completed_by(frame) <= 0:
        return
    count = times_completed((*earlier, frame), job)
    if count > 1:
        yield sentence(f"The same job was counted {times(count)}.", BROKEN)


def _waits_all_the_same(machine: Machine, frame: Frame, earlier: Sequence[Frame]) -> Iterator[Line]:
    """A job that is counted as completed, and is in a place from which it goes on."""
    job = frame.step.id if frame.step is not None else None
    if job is None or not times_completed(earlier, job) or frame.outcome.name == "enqueued":
        return
    places = [name for name in frame.after.memberships.get(job, ()) if not machine.place(name).terminal]
    if places:
        told = f"{short_id(job)} is counted as completed already, and is in {' and '.join(map(visible, places))}."
        yield sentence(told, BROKEN)


# The first line -------------------------------------------------------------------------------------------------------


def _headline(machine: Machine, frame: Frame, earlier: Sequence[Frame]) -> Line:
    own, outcome = frame.move(), frame.outcome
    if frame.kind == "between":
        seen = tuple(_movement(frame.moves[0], short=False)) if frame.moves else (Span("something changed."),)
        why = "as the clock went on" if outcome.name == "ran_out" else "not by this walk"
        return Line("", (Span(f"Between two steps, {why}: ", REFUSED), *seen))
    if outcome.refused is not None:
        return Line("", tuple(_refusal(frame, own)))
    if own is not None and (own.leaves or own.enters):
        return Line("", (*_movement(own, short=False), *_atomicity(frame, own)))
    if own is not None and own.rescored:
        places = " and ".join(own.rescored)
        return Line("", (Span(visible(own.id), SUBJECT), Span(f" stays in {places}; its score is new. Nothing moved.")))
    if frame.kind == "wait":
        # What acted by itself while the time passed stands in frames of its own, and belongs to this time all the same.
        acts = [*takewhile(lambda past: past.step is not None and past.step.actor not in _BY_HAND, reversed(earlier))]
        passed = duration(frame.after.clock_ms - (acts[-1] if acts else frame).before.clock_ms)
        until_ms = None if frame.step is None else waits_until(machine, frame.before, frame.step)
        if until_ms is not None and not frame.after.epoch_ms and outcome.name != "interrupted":
            # What is left of a wait depends on how late its key was pressed.
            left = duration(until_ms - frame.before.clock_ms)
            ahead = until_ms > frame.before.clock_ms
            told = f"{left} were left, and have passed" if ahead else f"The time had come {left} before this key"
            return sentence(f"{told}, on the {whose_clock(frame)} clock. Nothing moved.")
        moved = any(move.leaves or move.enters for past in acts for move in past.moves)
        told = "" if moved else " Nothing moved."
        return sentence(f"{passed} passed on the {whose_clock(frame)} clock.{told}")
    if frame.moves and own is None:
        return Line("", tuple(_movement(frame.moves[0], short=False)))
    if frame.kind == "fault":
        told = visible(_capital(outcome.note or _spoken(outcome.name)))
        return Line("", (Span(told), Span("" if own else " Nothing moved.", STRONG)))
    what = "No id in view moved." if frame.unseen else "Nothing moved."
    if own is not None and own.row:
        gone = own.row_before and not own.row_after
        what = "The row is deleted; no id moved." if gone else "The row changed; no id moved."
    return Line("", (Span(what, STRONG), *_answer(machine, frame)))


def _answer(machine: Machine, frame: Frame) -> Iterator[Span]:
    """What the step's last call answered, where no id moved to tell it."""
    if frame.step is None or not frame.calls:
        return
    if frame.outcome.name == "reply_lost":
        yield Span("  No reply came.")
        return
    verb = machine.verbs.get(frame.step.do)
    if frame.kind == "commands" and verb is None:
        yield Span(f"  {frame.calls[-1].command} answered {show_reply(frame.calls[-1].reply)}.")
        return
    if not any(call.command == "EVALSHA" for call in frame.calls):
        return
    # A verb with several outcomes needs the word for this one.
    several = verb is not None and len(set(verb.outcomes) - {"error", "not_sent"}) > 1
    word = f": {frame.outcome.name.replace('_', ' ')}" if several else ""
    yield Span(f"  {frame.step.do} answered {show_reply(frame.calls[-1].reply)}{word}.")


def _spoken(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _movement(move: Move, *, short: bool) -> Iterator[Span]:
    yield Span(short_id(move.id) if short else visible(move.id), SUBJECT)
    if move.leaves:
        yield Span(" leaves ")
        yield from _places(move.leaves, LEFT)
    if move.enters:
        yield Span(", enters " if move.leaves else " enters ")
        yield from _places(move.enters, ENTERED)
        yield Span(".")
    elif move.leaves:
        gone = move.row_before and not move.row_after
        yield Span(" and enters nothing: its row is gone." if gone else " and enters nothing.")
    elif move.rescored:
        yield Span(f" stays in {' and '.join(move.rescored)}; its score is new.")
    elif move.row_before != move.row_after:
        yield Span(" gets a row; it is in no place." if move.row_after else " loses its row; it is in no place.")
    elif move.row:
        yield Span(" moves nowhere; its row changed.")
    else:
        yield Span(" moves nowhere; its lock changed.")


def _places(names: Sequence[str], role: str) -> Iterator[Span]:
    for at, name in enumerate(names):
        if at:
            yield Span(" and ")
        yield Span(visible(name), role)


def _atomicity(frame: Frame, own: Move) -> Iterator[Span]:
    if frame.kind == "script" and (own.leaves or own.enters):
        yield Span("  One script, one step: no client saw it between.", ASIDE)
    elif frame.kind == "commands" and bool(own.leaves) != bool(own.enters) and not own.row:
        yield Span("  One command, and every client can see this.", ASIDE)


def _refusal(frame: Frame, own: Move | None) -> Iterator[Span]:
    outcome = frame.outcome
    if not outcome.sent:
        yield Span("Not sent: ", REFUSED)
        yield Span(visible((outcome.refused or "").removesuffix(".")) + ".")
        return
    name, text = outcome.name.replace("_", " "), visible(outcome.refused or "")
    if outcome.name == "sha_differs":
        # The server did as it was asked: it is the caller that goes no further.
        yield Span("The caller stopped: ", REFUSED)
        yield Span(f"{text.removesuffix('.')}. ", STRONG)
        yield Span("Nothing moved.", STRONG)
        return
    yield Span("Refused: ", REFUSED)
    # A code alone says little, and an error's text says enough: the words come first either way.
    first, second = (name, text) if text.lstrip("-").isdigit() else (text, name)
    yield Span(first, STRONG)
    yield Span(f" ({second}). ")
    if own is None and not frame.moves:
        yield Span("Nothing moved.", STRONG)
    else:
        yield from _movement(own or frame.moves[0], short=False)
