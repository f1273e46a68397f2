"""Frozen values that every other module speaks in.

Whatever a server sent is ``bytes`` (ids, fields, payloads); whatever we named ourselves is ``str`` (places, verbs,
laws, roles). Times are milliseconds since the Unix epoch, durations are milliseconds.
"""

from __future__ import annotations

from visualizer.model.parts import (
    FrameKind,
    Grant,
    LaneRule,
    Law,
    Locking,
    Machine,
    Outcome,
    Parameter,
    Performed,
    Place,
    PlaceKind,
    ScoreReading,
    SideKey,
    Verb,
)
from visualizer.model.reading import (
    Change,
    Dump,
    Issued,
    Lock,
    Member,
    Move,
    Observation,
    PlaceReading,
    Row,
    WireCall,
)
from visualizer.model.walking import (
    Evidence,
    Expect,
    Expectation,
    Frame,
    LawResult,
    Step,
    Walk,
)

__all__ = [
    "Change",
    "Dump",
    "Evidence",
    "Expect",
    "Expectation",
    "Frame",
    "FrameKind",
    "Grant",
    "Issued",
    "LaneRule",
    "Law",
    "LawResult",
    "Lock",
    "Locking",
    "Machine",
    "Member",
    "Move",
    "Observation",
    "Outcome",
    "Parameter",
    "Performed",
    "Place",
    "PlaceKind",
    "PlaceReading",
    "Row",
    "ScoreReading",
    "SideKey",
    "Step",
    "Verb",
    "Walk",
    "WireCall",
]
