"""Plays a lesson's path to its end and judges it: what every command that plays without a screen does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from visualizer.model import Frame
from visualizer.player import Player
from visualizer.race import chosen_turns
from visualizer.visible import visible

Played = tuple[Frame, tuple[Frame, ...]]


def play(player: Player) -> Iterator[Played]:
    """Takes the steps to come; every frame once as it is made, with those before it.

    Where a deadline made the player start over, the frames that were played again are left out. DeadlinePassedError.
    """
    while player.coming is not None:
        taken = player.taken
        frames = player.step().frames
        for at in range(_after_step(frames, taken), len(frames)):
            yield frames[at], frames[:at]


def _after_step(frames: tuple[Frame, ...], number: int) -> int:
    """The index behind the frame of the path's step of that number."""
    count = 0
    for at, frame in enumerate(frames):
        if count == number:
            return at
        count += frame.of_path
    return len(frames)


def failures(frame: Frame) -> list[str]:
    """What in this frame is not as its step announced it, each in words; empty where everything is.

    Broken laws are announced by the step as well; a frame between two steps announces none.
    """
    if frame.step is None or frame.step.expect is None:
        return [f"the law {law.name} broke: {law.breaches[0]}" for law in frame.broken]
    return [
        f"announced {each.what} {_in_words(each.wanted)}, read {_in_words(each.got)}"
        for each in frame.expected
        if not each.met
    ]


def amid_own_race(player: Player, frame: Frame, earlier: tuple[Frame, ...]) -> bool:
    """Whether this frame, the newest, stands within a race whose order was chosen: its end is to be judged, since a
    command may mend what the one before it broke."""
    taken = next((past for past in (frame, *reversed(earlier)) if past.of_path), None)
    return bool(player.turns) and taken is not None and bool(chosen_turns(taken, ()))


def _in_words(value: Any) -> str:
    if value is None or value in ([], {}):
        return "nothing"
    if isinstance(value, dict):
        return ", ".join(f"{visible(str(name))} = {_in_words(held)}" for name, held in value.items())
    if isinstance(value, list):
        return ", ".join(visible(str(item)) for item in value)
    return visible(str(value))
