"""A frame as the JSON object that ``visualizer walk --json`` writes, one a line.

Bytes are their text where they are UTF-8, else ``{"hex": "…"}``. A row is an object: its keys must be texts, so a
field whose name is not UTF-8 (or itself begins with ``hex:``) stands there as ``hex:`` and its bytes in hex.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from visualizer.model import Frame, Issued, Machine, Move, PlaceReading, Row, WireCall
from visualizer.readout import readout
from visualizer.script import load
from visualizer.visible import json_bytes

VERSION = 1
HEX = "hex:"

Json = dict[str, Any]


class Setting(Struct, frozen=True):
    """What all frames of a path share: the engine's label, the lesson's slug, the path's name and number of steps."""

    engine: str
    lesson: str
    path: str
    of: int


def frame_object(machine: Machine, setting: Setting, frame: Frame, earlier: Sequence[Frame]) -> Json:
    """The frame as an object of plain JSON values. ``earlier`` are the walk's frames before it.

    ``step`` is the number that the path counts, null in a frame between two steps. ``leaves``, ``enters``, ``score``,
    ``row`` and ``lock`` are those of ``id``: the step's own job, or in a frame between steps the first id that moved.
    A call's ``issued`` is null where it was not watched.
    """
    step = frame.step
    own = _own(frame)
    job = step.id if step is not None else own.id if own is not None else None
    script = frame.performed.script
    return {
        "v": VERSION,
        "engine": setting.engine,
        "lesson": setting.lesson,
        "path": setting.path,
        "step": 1 + sum(past.of_path for past in earlier) if frame.of_path else None,
        "of": setting.of,
        "turn": (step.turn or None) if step is not None else None,
        "kind": frame.kind,
        "verb": None if step is None else step.do,
        "script": script,
        "sha1": None if script is None else load(script).sha1,
        "calls": [_call(call) for call in frame.calls],
        "outcome": frame.outcome.name,
        "refused": frame.outcome.refused,
        "id": _bytes(job),
        "leaves": list(own.leaves) if own else [],
        "enters": list(own.enters) if own else [],
        "moves": [
            {"id": _bytes(move.id), "leaves": list(move.leaves), "enters": list(move.enters)} for move in frame.moves
        ],
        "score": _score(machine, frame, own),
        "row": _row(frame, job, own),
        "lock": _lock(frame, job),
        "places": {name: _place(machine, reading) for name, reading in frame.after.places.items()},
        "clock": {"server_ms": frame.after.clock_ms},
        "laws": [{"name": law.name, "holds": law.holds} for law in frame.laws],
        "expected": [
            {"what": each.what, "wanted": each.wanted, "got": each.got, "met": each.met} for each in frame.expected
        ],
        "breaks": [law.name for law in frame.broken],
        "readout": [line.text for line in readout(machine, frame, earlier)],
    }


def _own(frame: Frame) -> Move | None:
    if frame.step is None:
        return frame.moves[0] if frame.moves else None
    return frame.move()


def _bytes(value: bytes | None) -> Any:
    return None if value is None else json_bytes(value)


def _call(call: WireCall) -> Json:
    return {
        "command": call.command,
        "keys": [_bytes(key) for key in call.keys],
        "args": [_bytes(arg) for arg in call.args],
        "reply": json_value(call.reply),
        "error": call.error,
        "ms": round(call.ms, 3),
        "bytes": call.sent_bytes,
        "issued": None if call.issued is None else [_issued(each) for each in call.issued],
    }


def _issued(issued: Issued) -> Json:
    """A command that a script issued; ``reply`` and ``error`` are there only where they are known."""
    words = [_bytes(word) for word in issued.words]
    if not issued.answered:
        return {"words": words}
    return {"words": words, "reply": json_value(issued.reply), "error": issued.error}


def json_value(value: Any) -> Any:
    """A reply as JSON: bytes as text or hex, arrays as lists, maps as lists of pairs, numbers as numbers."""
    if isinstance(value, bytes):
        return json_bytes(value)
    if isinstance(value, Mapping):
        return [[json_value(key), json_value(held)] for key, held in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item) for item in value]
    if isinstance(value, float):
        return _number(value)
    return value


def _number(value: float) -> int | float | str:
    """A score as a whole number where it is one; an infinite one, for which JSON has no number, as text."""
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return int(value) if value == int(value) else value


def _score(machine: Machine, frame: Frame, own: Move | None) -> Json | None:
    for place in (*own.enters, *own.rescored) if own else ():
        raw = frame.after.score(place, own.id) if own else None
        if raw is None:
            continue
        meaning = machine.read_score(place, raw)
        in_ms = None if meaning.at_ms is None else meaning.at_ms - frame.after.clock_ms
        return {"place": place, "raw": _number(raw), "means": meaning.means, "in_ms": in_ms}
    return None


def _row(frame: Frame, job: bytes | None, own: Move | None) -> Json:
    before, after = (None, None) if job is None else (frame.before.rows.get(job), frame.after.rows.get(job))
    changed = [field_name(change.field) for change in own.row] if own is not None and own.id == job else []
    return {"before": _fields(before), "after": _fields(after), "changed": changed}


def _fields(row: Row | None) -> Json | None:
    return None if row is None else {field_name(field): _bytes(value) for field, value in row.fields.items()}


def field_name(field: bytes) -> str:
    """A row field's name as a JSON key that gives the bytes back exactly."""
    text = json_bytes(field)
    return text if isinstance(text, str) and not text.startswith(HEX) else HEX + field.hex()


def _lock(frame: Frame, job: bytes | None) -> Json | None:
    lock = None if job is None else frame.after.locks.get(job)
    return None if lock is None else {"token": _bytes(lock.token), "ttl_ms": lock.ttl_ms}


def _place(machine: Machine, reading: PlaceReading) -> Json:
    if machine.place(reading.name).kind == "list":
        members: list[Any] = [_bytes(member.id) for member in reading.members]
    else:
        members = [[_bytes(member.id), _number(member.score or 0.0)] for member in reading.members]
    return {"count": reading.count, "members": members}
