"""Lesson files: finds them, loads one whole, and refuses it with every fault it has.

A lesson is TOML: its words, its captured jobs, and its paths of steps. What a loaded lesson holds can run as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from visualizer import ids
from visualizer.keyspace import Keyspace, QueueNameError
from visualizer.lesson_faults import Fault, FaultList, LessonFaults, key_lines, nearest
from visualizer.lesson_steps import NAME, NAME_REASON, Action, Job, StepReader
from visualizer.lesson_table import Table, control_reason, prose, refuse_unsafe, unsafe
from visualizer.model import Machine, Step
from visualizer.race import actors_of, races_in
from visualizer.resources import lessons_folder
from visualizer.visible import visible

__all__ = [
    "Fault",
    "Job",
    "Lesson",
    "LessonFaults",
    "LessonPath",
    "UnknownLessonError",
    "all_lessons",
    "duplicate_slugs",
    "find",
    "load",
]


class LessonPath(Struct, frozen=True):
    """One path: the job it is about, and its steps, resolved."""

    name: str
    title: str
    job: Job
    steps: tuple[Step, ...]


class Lesson(Struct, frozen=True):
    """A loaded lesson. ``slug`` is its file's name without .toml, ``machine`` a machine's name, ``intro`` Markdown."""

    slug: str
    file: Path
    title: str
    course: str
    machine: str
    queue: str
    summary: str
    intro: str
    jobs: Mapping[str, Job]
    groups: Mapping[str, bytes]
    paths: tuple[LessonPath, ...]

    def path(self, name: str) -> LessonPath:
        """The path of that name; `UnknownLessonError` names the nearest and all of them."""
        for path in self.paths:
            if path.name == name:
                return path
        names = [path.name for path in self.paths]
        raise UnknownLessonError(f"{_unknown(f'path in {self.slug}', name, names)} There are: {', '.join(names)}.")


class UnknownLessonError(LookupError):
    """No lesson or path of that name: a sentence with the nearest name, and where all of them are told."""


# Finding ------------------------------------------------------------------------------------------------------------


def all_lessons() -> list[Path]:
    """Every lesson that comes with the visualizer, by file name."""
    return sorted(lessons_folder().glob("*.toml"))


def find(name: str) -> Path:
    """The file of a lesson: a slug of ours, or the path of a TOML file. Raises `UnknownLessonError`."""
    if name.endswith(".toml") or "/" in name or "\\" in name:
        path = Path(name)
        if path.is_file():
            return path
        raise UnknownLessonError(f"there is no lesson file {visible(name)}.")
    lessons = {path.stem: path for path in all_lessons()}
    if name in lessons:
        return lessons[name]
    raise UnknownLessonError(
        f"{_unknown('lesson', name, list(lessons))} `visualizer lessons` lists them; a file of yours is named with its "
        ".toml."
    )


def duplicate_slugs(files: Iterable[Path]) -> tuple[Fault, ...]:
    """A fault for each file whose slug another one before it has too."""
    first: dict[str, Path] = {}
    faults = []
    for file in files:
        other = first.setdefault(file.stem, file)
        if other is not file and other.resolve() != file.resolve():
            reason = f"a second lesson called {visible(file.stem)}; the first is {visible(str(other))}"
            faults.append(Fault(visible(str(file)), "", reason))
    return tuple(faults)


def _unknown(what: str, name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f"there is no {what} called {visible(name)}" + (f"; did you mean {near}?" if near else ".")


# Loading ------------------------------------------------------------------------------------------------------------


def load(path: Path | str, machines: Mapping[str, Machine], steps: Mapping[str, Action], pace: float = 1.0) -> Lesson:
    """Reads one lesson file; raises `LessonFaults` with everything that is wrong with it.

    ``steps`` are the named steps that are no verbs. ``pace`` (greater than 0) multiplies every duration; one that is
    positive stays at least 1 ms.
    """
    if not pace > 0:
        raise ValueError(f"a pace is greater than 0, not {pace}")
    file = Path(path)
    text = _text_of(file)
    faults = FaultList(str(file), key_lines(text))
    lesson = _Reader(faults, machines, steps, pace).read(_decoded(text, faults), file)
    faults.raise_any()
    return lesson


def _text_of(file: Path) -> str:
    try:
        raw = file.read_bytes()
    except OSError as failed:
        raise LessonFaults([Fault(visible(str(file)), "", f"cannot be read: {failed.strerror}")]) from failed
    try:
        return raw.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as failed:
        line = raw.count(b"\n", 0, failed.start) + 1
        reason = f"not UTF-8: byte {raw[failed.start]:02x}; bytes that are no text go into payload_hex"
        raise LessonFaults([Fault(visible(str(file)), "", reason, line)]) from failed


def _decoded(text: str, faults: FaultList) -> dict[str, Any]:
    """The TOML of a text. Raw control characters are noted and blanked, so that what is around them is still read."""
    if unsafe(text, "\n\t"):
        for number, line in enumerate(text.split("\n"), 1):
            if bad := unsafe(line, "\t"):
                faults.add(faults.key_at(number), control_reason(bad), line=number)
        text = "".join(" " if mark not in "\n\t" and unsafe(mark) else mark for mark in text)
    try:
        decoded = tomllib.loads(text)
    except (ValueError, RecursionError) as failed:
        said = re.fullmatch(r"(.*?)(?: \(at (?:line (\d+), column (\d+)|end of document)\))?", str(failed), re.DOTALL)
        line_number, column = (said[2], said[3]) if said else (None, None)
        where = f" in column {column}" if column else ""
        reason = f"not TOML{where}: {visible(said[1] if said else str(failed))}"
        faults.add("", reason, line=int(line_number) if line_number else text.count("\n") + 1)
        faults.raise_any()
        raise
    refuse_unsafe(decoded, "", faults.add)
    return decoded


class _Reader:
    def __init__(
        self, faults: FaultList, machines: Mapping[str, Machine], steps: Mapping[str, Action], pace: float
    ) -> None:
        self._faults = faults
        self._machines = machines
        self._steps = steps
        self._pace = pace

    def read(self, decoded: dict[str, Any], file: Path) -> Lesson:
        table = Table(decoded, "", self._faults)
        title, course, named = table.text("title"), table.text("course"), table.text("machine")
        machine = self._machines.get(named)
        if named and machine is None:
            self._faults.unknown("machine", "machine", named, self._machines)
        queue = table.text("queue")
        summary, intro = prose(table.text("summary", prose=True)), table.text("intro", prose=True)
        jobs, groups = self._jobs(table.table("jobs", required=True)), self._groups(table.table("groups"))
        # A lesson's own clock costs no waiting, so there is nothing to make shorter.
        pace = 1.0 if machine and machine.own_clock else self._pace
        reader = StepReader(machine, self._steps, jobs, groups, pace, self._faults)
        if decoded.get("jobs") == {}:
            self._faults.add("jobs", "empty; capture at least one job")
        paths = self._paths(table.tables("paths"), reader)
        table.done()
        try:
            Keyspace(queue or "unnamed", machine.row_prefix if machine else "")
        except QueueNameError as refused:
            self._faults.add("queue", str(refused))
        return Lesson(file.stem, file, title, course, named, queue, summary, intro, jobs, groups, paths)

    def _jobs(self, table: Table) -> dict[str, Job]:
        jobs: dict[str, Job] = {}
        owners: dict[bytes, str] = {}
        for name in table.names():
            self._check_name(table.key(name), name)
            job = table.table(name)
            written = job.text("id")
            if written:
                self._check_id(job.key("id"), written)
                if owners.setdefault(written.encode(), name) != name:
                    job.fault("id", f"the job {owners[written.encode()]} has this id already")
            jobs[name] = Job(written.encode(), self._payload(job))
            job.done()
        return jobs

    def _payload(self, job: Table) -> bytes:
        text = job.want("payload", str, "a text", "")
        digits = job.want("payload_hex", str, "a text of hex digits", "")
        if "payload" in job and "payload_hex" in job:
            job.fault("payload_hex", "both payload and payload_hex are given; keep one")
        try:
            return bytes.fromhex(digits) or text.encode()
        except ValueError:
            job.fault("payload_hex", "hex digits are wanted, two for each byte: 83 68 04")
            return b""

    def _groups(self, table: Table) -> dict[str, bytes]:
        groups = {}
        for name in table.names():
            self._check_name(table.key(name), name)
            written = table.text(name)
            if written:
                self._check_id(table.key(name), written)
            groups[name] = written.encode()
        return groups

    def _paths(self, tables: list[Table], reader: StepReader) -> tuple[LessonPath, ...]:
        paths = []
        first: dict[str, str] = {}
        for table in tables:
            name = table.text("name")
            if name:
                self._check_name(table.key("name"), name)
                if first.setdefault(name, table.where) != table.where:
                    table.fault("name", f"a second path called {visible(name)}; the first is {first[name]}")
            title = table.text("title")
            job = reader.job_named(table, "job")
            reader.start_path()
            written = table.tables("steps")
            steps = tuple(reader.read(step, job) for step in written)
            _check_races(written, steps)
            table.done()
            paths.append(LessonPath(name, title, job or Job(b"", b""), steps))
        return tuple(paths)

    def _check_name(self, key: str, name: str) -> None:
        if not NAME.fullmatch(name):
            self._faults.add(key, f"no name to type: {NAME_REASON}")

    def _check_id(self, key: str, written: str) -> None:
        try:
            ids.parse(written)
        except ids.IdError as wrong:
            self._faults.add(key, str(wrong))


def _check_races(tables: Sequence[Table], steps: Sequence[Step]) -> None:
    """Notes each race of a path that is none: its steps name one actor only."""
    for race in races_in(steps):
        actors = actors_of(steps[at] for at in race)
        if len(actors) == 1:
            alone = f"step {race.start + 1} names" if len(race) == 1 else f"steps {race.start + 1} to {race.stop} name"
            reason = f"a race has at least two actors, and {alone} only {visible(actors[0], 24)}"
            tables[race.start].fault("turn", reason)
