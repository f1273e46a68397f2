"""``visualizer walk --json``: every field of every frame, and that they agree with each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
import pytest
from msgspec import Struct

from tests.shell.conftest import Shell
from visualizer.cli.ending import write_json
from visualizer.frame_json import field_name, json_value
from visualizer.lesson import find, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.script import load as load_script

SLUG = "states-as-locations"
LESSON = load(find(SLUG), MACHINES, NAMED_STEPS)
PATHS = [path.name for path in LESSON.paths]
ENGINES = {"valkey": "Valkey ", "fakeredis": "fakeredis "}

Bytes = str | dict[Literal["hex"], str]


class IssuedSeen(Struct, forbid_unknown_fields=True):
    words: list[Bytes]
    reply: Any = None
    error: str | None = None


class Call(Struct, forbid_unknown_fields=True):
    command: str
    keys: list[Bytes]
    args: list[Bytes]
    reply: Any
    error: str | None
    ms: float
    bytes: int
    issued: list[IssuedSeen] | None


class OneMove(Struct, forbid_unknown_fields=True):
    id: Bytes
    leaves: list[str]
    enters: list[str]


class Score(Struct, forbid_unknown_fields=True):
    place: str
    raw: int | float
    means: str
    in_ms: int | None


class RowChange(Struct, forbid_unknown_fields=True):
    before: dict[str, Bytes] | None
    after: dict[str, Bytes] | None
    changed: list[str]


class LockSeen(Struct, forbid_unknown_fields=True):
    token: Bytes
    ttl_ms: int


class PlaceSeen(Struct, forbid_unknown_fields=True):
    count: int
    members: list[tuple[Bytes, int | float]]


class Clock(Struct, forbid_unknown_fields=True):
    server_ms: int


class LawSeen(Struct, forbid_unknown_fields=True):
    name: str
    holds: bool


class Expected(Struct, forbid_unknown_fields=True):
    what: str
    wanted: Any
    got: Any
    met: bool


class FrameSeen(Struct, forbid_unknown_fields=True):
    """The fields that are promised: one missing or one too many does not decode."""

    v: Literal[1]
    engine: str
    lesson: str
    path: str
    step: int | None
    of: int
    turn: str | None
    kind: Literal["script", "commands", "wait", "fault", "between"]
    verb: str | None
    script: str | None
    sha1: str | None
    calls: list[Call]
    outcome: str
    refused: str | None
    id: Bytes | None
    leaves: list[str]
    enters: list[str]
    moves: list[OneMove]
    score: Score | None
    row: RowChange
    lock: LockSeen | None
    places: dict[str, PlaceSeen]
    clock: Clock
    laws: list[LawSeen]
    expected: list[Expected]
    breaks: list[str]
    readout: list[str]


def decoded(out: bytes) -> list[FrameSeen]:
    return [msgspec.json.decode(line, type=FrameSeen) for line in out.splitlines()]


@pytest.fixture(params=[(engine, path) for engine in ENGINES for path in PATHS], ids="-".join)
def frames(request: pytest.FixtureRequest, shell: Shell) -> list[FrameSeen]:
    engine, path = request.param
    ended = shell("walk", SLUG, "--path", path, "--json", "--engine", engine, "--pace", "0.05")
    assert (ended.code, ended.err) == (0, b"")
    assert all(line.isascii() and line.decode().isprintable() for line in ended.out.splitlines())
    found = decoded(ended.out)
    assert {frame.path for frame in found} == {path}
    assert found[0].engine.startswith(ENGINES[engine])
    return found


def homes(frame: FrameSeen) -> dict[str, set[str]]:
    """Every id and the places that hold it."""
    found: dict[str, set[str]] = {}
    for name, place in frame.places.items():
        assert place.count == len(place.members), "the lesson's places are wholly in view"
        for job, _ in place.members:
            found.setdefault(str(job), set()).add(name)
    return found


def pairs(frames: list[FrameSeen]) -> Iterator[tuple[dict[str, set[str]], FrameSeen]]:
    """Each frame with where every id was before it."""
    before: dict[str, set[str]] = {}
    for frame in frames:
        yield before, frame
        before = homes(frame)


def check_moves(frames: list[FrameSeen]) -> None:
    """Leaves and enters, of the step's job and of every other, are what the places say."""
    for before, frame in pairs(frames):
        after = homes(frame)
        told = {str(move.id): (set(move.leaves), set(move.enters)) for move in frame.moves}
        for job in before.keys() | after.keys() | told.keys():
            was, now = before.get(job, set()), after.get(job, set())
            assert told.get(job, (set(), set())) == (was - now, now - was)
        assert (set(frame.leaves), set(frame.enters)) == told.get(str(frame.id), (set(), set()))


def check_numbers(frames: list[FrameSeen]) -> None:
    path = LESSON.path(frames[0].path)
    assert [frame.step for frame in frames] == list(range(1, len(path.steps) + 1))
    assert {frame.of for frame in frames} == {len(path.steps)}
    assert [frame.verb for frame in frames] == [step.do for step in path.steps]
    assert [str(frame.id).encode() for frame in frames] == [step.id for step in path.steps]


def check_scores(frames: list[FrameSeen]) -> None:
    for frame in frames:
        placed = {(name, str(job)): score for name, place in frame.places.items() for job, score in place.members}
        for name in frame.enters:
            assert frame.score is not None
            assert frame.score.place == name
            assert frame.score.raw == placed[name, str(frame.id)]
            timed = name in ("active", "schedule")
            assert frame.score.in_ms == (frame.score.raw - frame.clock.server_ms if timed else None)


def check_rows(frames: list[FrameSeen]) -> None:
    for frame in frames:
        before, after = frame.row.before or {}, frame.row.after or {}
        differ = {field for field in before.keys() | after.keys() if before.get(field) != after.get(field)}
        assert set(frame.row.changed) == differ


def check_scripts(frames: list[FrameSeen]) -> None:
    for frame in frames:
        assert (frame.script is not None) == (frame.kind == "script")
        if frame.script is not None:
            assert frame.sha1 == load_script(frame.script).sha1
            assert any(call.command == "EVALSHA" for call in frame.calls)
        assert all(call.bytes > 0 and call.issued is None for call in frame.calls)


def check_laws(frames: list[FrameSeen]) -> None:
    names = [law.name for law in MACHINES["leased"].laws]
    for frame in frames:
        assert [law.name for law in frame.laws] == names
        assert frame.breaks == [law.name for law in frame.laws if not law.holds]
        assert frame.expected
        assert all(each.met for each in frame.expected)


def test_a_walk_in_json(frames: list[FrameSeen]) -> None:
    check_numbers(frames)
    check_moves(frames)
    check_scores(frames)
    check_rows(frames)
    check_scripts(frames)
    check_laws(frames)


def test_every_path_is_played_where_none_is_named(shell: Shell) -> None:
    ended = shell("walk", SLUG, "--json", "--engine", "fakeredis", "--pace", "0.05")
    assert ended.code == 0
    frames = decoded(ended.out)
    assert list(dict.fromkeys(frame.path for frame in frames)) == PATHS
    assert len(frames) == sum(len(path.steps) for path in LESSON.paths)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_scripts_issue_is_told_where_it_is_asked_for(shell: Shell, engine: str) -> None:
    ended = shell("walk", SLUG, "--path", "happy", "--json", "--wire", "--engine", engine)
    assert (ended.code, ended.err) == (0, b"")
    row, payload = "emq:{cm}:job:JOB0KHTOWnGLuC", {"hex": LESSON.jobs["guess"].payload.hex()}
    (call,) = decoded(ended.out)[0].calls
    assert [each.words for each in call.issued or ()] == [
        ["EXISTS", row],
        ["HSET", row, "state", "pending", "attempts", "0", "payload", payload],
        ["ZADD", "emq:{cm}:pending", "0", "JOB0KHTOWnGLuC"],
    ]
    replies = [0, 3, 1] if engine == "fakeredis" else [None] * 3
    assert [each.reply for each in call.issued or ()] == replies
    assert ("reply" in json.loads(ended.out.splitlines()[0])["calls"][0]["issued"][0]) == (engine == "fakeredis")


def test_replies_are_json() -> None:
    reply = [b"JOB", b"\xff", 1, None, [2.5, b""], {b"field": b"value"}, float("inf")]
    assert json_value(reply) == ["JOB", {"hex": "ff"}, 1, None, [2.5, ""], [["field", "value"]], "inf"]


@pytest.mark.parametrize(
    ("field", "shown"), [(b"state", "state"), (b"\xff", "hex:ff"), (b"hex:ff", "hex:6865783a6666"), (b"", "")]
)
def test_a_fields_name_gives_its_bytes_back(field: bytes, shown: str) -> None:
    assert field_name(field) == shown


def test_a_line_of_json_is_printable(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"a\x7f": "\x00\x1b\x7f\x9b\u202e\n\ud83d"}
    write_json(value)
    line = capsys.readouterr().out.removesuffix("\n")
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == value
