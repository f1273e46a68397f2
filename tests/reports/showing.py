"""What a reader gets of a walk: the JSON of a frame, the picture, the broken laws."""

from __future__ import annotations

from typing import Any

from tests.core.walking import LEASED
from visualizer.frame_json import Setting, frame_object
from visualizer.model import Frame
from visualizer.picture import Picture, picture
from visualizer.walk import Walker


def as_json(walker: Walker, frame: Frame | None = None) -> dict[str, Any]:
    frame = frame or walker.walk.frames[-1]
    setting = Setting("an engine", "a-lesson", "a-path", len(walker.walk.frames))
    return frame_object(LEASED, setting, frame, walker.walk.frames[: frame.number - 1])


def drawn(walker: Walker) -> Picture:
    return picture(LEASED, walker.walk.shown, walker.walk.frame)


def broken(frame: Frame) -> list[str]:
    return [law.name for law in frame.broken]
