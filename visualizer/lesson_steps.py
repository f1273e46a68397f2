"""Resolves a lesson's written steps into steps that can run, and refuses every name and value that could not.

Groups become ids, durations are multiplied by the pace, places and laws are looked up in the machine. A worker's name
as a token stays as written: which token it means is known only while the path runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from visualizer.lesson_expect import ExpectReader
from visualizer.lesson_faults import FaultList
from visualizer.lesson_table import Table, called, named, prose
from visualizer.model import Machine, Parameter, Step
from visualizer.steps import NEEDS, NamedStep

NAME = re.compile(r"[a-z][a-z0-9-]*")
NAME_REASON = "a small letter is wanted first, then small letters, digits or hyphens"

# A verb that has both takes exactly one of them.
_EITHER = ("delay_ms", "at_ms")
# The naive queue's claims name no worker.
_NAIVE_CLAIM = "naive_claim"
# Scores are doubles: beyond this a sum of milliseconds is no longer exact.
_LARGEST = 2**53
_WHOLE = {
    "duration_ms": "a whole number of milliseconds",
    "time_ms": "a time in whole milliseconds since 1970",
    "count": "a whole number",
}


class Job(Struct, frozen=True):
    """A captured job: the id that a lesson gives, and its payload."""

    id: bytes
    payload: bytes


class Action(Protocol):
    """What a step may do: a verb of the machine or a named step."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...

    @property
    def outcomes(self) -> tuple[str, ...]: ...


def _fits(step: Action, machine: Machine) -> bool:
    return not isinstance(step, NamedStep) or step.fits(machine)


class StepReader:
    """Reads the steps of one lesson. ``machine`` None (an unknown one) leaves its names unchecked.

    ``jobs`` maps a name to a captured job, ``groups`` a name to a group's id.
    """

    def __init__(
        self,
        machine: Machine | None,
        steps: Mapping[str, Action],
        jobs: Mapping[str, Job],
        groups: Mapping[str, bytes],
        pace: float,
        faults: FaultList,
    ) -> None:
        self._machine = machine
        self._verbs: Mapping[str, Action] = machine.verbs if machine else {}
        fitting = {name: step for name, step in steps.items() if machine is None or _fits(step, machine)}
        self._actions: dict[str, Action] = {**fitting, **self._verbs}
        self._jobs = jobs
        self._groups = groups
        self._pace = pace
        self._faults = faults
        self._expects = ExpectReader(machine, groups, faults)
        self.start_path()

    def start_path(self) -> None:
        """Forgets who claimed and which place a job entered: a token and a deadline are known within one path."""
        self._claimers: dict[str, None] = {}
        self._claimed_naively: set[Job | None] = set()
        self._entered: set[tuple[bytes | None, str]] = set()

    def job_named(self, table: Table, name: str) -> Job | None:
        """The job that a required key of the table names; None, with the fault noted, where it names none."""
        written = table.need(name, str, "the name of one of [jobs]")
        return None if written is None else named(self._faults, table.key(name), "job", written, self._jobs)

    def read(self, table: Table, path_job: Job | None) -> Step:
        """One step; whatever is wrong with it is noted. Its job is the path's where it names none."""
        do = table.text("do")
        action = self._actions.get(do)
        if do and action is None and self._machine is not None:
            self._faults.unknown(table.key("do"), "verb or named step", do, self._actions)
        job = table.any("job")
        own = path_job if job is None else named(self._faults, table.key("job"), "job", job, self._jobs)
        given = table.table("with")
        if do.startswith(_NAIVE_CLAIM):
            self._claimed_naively.add(own)
        label = table.want("label", str, "a text", "")
        step = Step(
            do=do,
            id=own.id if own else None,
            given=self._given(given, action, own) if action else {},
            payload=own.payload if own else b"",
            label=label.strip() or do.replace("_", " "),
            say=prose(table.text("say", prose=True)),
            ask=prose(table.text("ask", prose=True)),
            needs=self._needs(table, own),
            expect=self._expects.read(table.table("expect", required=True), do, action.outcomes if action else None),
            turn=self._turn(table),
        )
        table.done()
        self._entered.update((step.id, place) for place in (step.expect.enters if step.expect else ()))
        return step

    def _turn(self, table: Table) -> str:
        turn: str | None = table.want("turn", str, "an actor's name", None)
        if turn is not None and not NAME.fullmatch(turn):
            table.fault("turn", f"no actor's name: {NAME_REASON}, as in worker")
        return turn or ""

    def _needs(self, table: Table, job: Job | None) -> Any:
        needs = table.one_of("needs", tuple(NEEDS))
        if needs is None or self._machine is None:
            return needs
        place = self._machine.waits.get(NEEDS[needs])
        if place is None:
            table.fault("needs", f"a lesson of the {self._machine.name} machine has no such deadline to keep ahead")
        elif job is not None and (job.id, place) not in self._entered:
            table.fault("needs", f"no step of this path up to here has the job enter {place}, so it has no deadline")
        return needs

    # What a step is given -------------------------------------------------------------------------------------------

    def _given(self, table: Table, action: Action, job: Job | None) -> dict[str, Any]:
        given: dict[str, Any] = {}
        self._check_either(table, action)
        for parameter in action.parameters:
            written = table.any(parameter.name, parameter.default)
            if parameter.name in table or (written is not None and parameter.kind == "duration_ms"):
                # A default duration is paced like a written one, so it is given too.
                given[parameter.name] = self._value(table.key(parameter.name), written, parameter)
            elif parameter.required:
                table.fault(parameter.name, f"missing; {action.name} needs it: {parameter.meaning}")
            if parameter.kind == "worker":
                worker = given.get(parameter.name, written)
                if action.name in self._verbs:
                    self._claimers[str(worker)] = None
                elif self._machine is not None and job not in self._claimed_naively:
                    self._check_claimed(table.key(parameter.name), worker)
        table.done()
        return given

    def _check_either(self, table: Table, action: Action) -> None:
        """Exactly one of a delay and an instant says when a job is due, where a verb takes both."""
        if not {parameter.name for parameter in action.parameters}.issuperset(_EITHER):
            return
        given = [name for name in _EITHER if name in table]
        if len(given) > 1:
            table.fault(given[1], f"{given[0]} is given too; keep one of them")
        elif not given:
            table.fault(_EITHER[0], f"missing; {action.name} needs {' or '.join(_EITHER)}")

    def _check_claimed(self, key: str, worker: str) -> None:
        if worker and worker not in self._claimers:
            claimers = ", ".join(self._claimers) or "none"
            self._faults.add(key, f"no step of this path up to here claims as “{worker}”; known: {claimers}")

    def _value(self, key: str, written: Any, parameter: Parameter) -> Any:
        match parameter.kind:
            case "duration_ms":
                duration_ms = self._whole(key, written, parameter)
                paced_ms = round(duration_ms * self._pace)
                return max(paced_ms, 1) if duration_ms > 0 else paced_ms
            case "time_ms" | "count":
                return self._whole(key, written, parameter)
            case "token":
                return self._token(key, written)
            case "worker":
                return self._worker(key, written)
            case "group":
                return named(self._faults, key, "group", written, self._groups)
            case "job":
                job = named(self._faults, key, "job", written, self._jobs)
                return job.id if job else None
            case "verb":
                name = self._text(key, written)
                if name not in self._verbs and self._machine is not None:
                    self._faults.unknown(key, "verb", name, self._verbs)
                return name
            case "payload":
                return self._text(key, written).encode()
            case "text":
                return self._text(key, written)
            case "flag":
                if not isinstance(written, bool):
                    self._faults.add(key, f"true or false is wanted, not {called(written)}")
                return written is True
            case "pairs":
                return self._pairs(key, written)
            case unheard:
                raise ValueError(f"parameter {parameter.name}: a lesson has no value of kind {unheard}")

    def _whole(self, key: str, written: Any, parameter: Parameter) -> int:
        if type(written) is not int:
            self._faults.add(key, f"{_WHOLE[parameter.kind]} is wanted, not {called(written)}")
            return 0
        if parameter.minimum is not None and written < parameter.minimum:
            self._faults.add(key, f"{written} is too small; at least {parameter.minimum}")
        elif abs(written) > _LARGEST:
            self._faults.add(key, f"too large; whole numbers here go up to {_LARGEST}")
        return written

    def _text(self, key: str, written: Any) -> str:
        if isinstance(written, str):
            return written
        self._faults.add(key, f"a text is wanted, not {called(written)}")
        return ""

    def _worker(self, key: str, written: Any) -> str:
        if isinstance(written, str) and NAME.fullmatch(written):
            return written
        self._faults.add(key, f"no worker's name: {NAME_REASON}, as in w1")
        return ""

    def _token(self, key: str, written: Any) -> Any:
        if isinstance(written, dict):
            inner = Table(written, key, self._faults)
            text = inner.need("text", str, "a text")
            inner.done()
            return {"text": text}
        if isinstance(written, str):
            if self._worker(key, written):
                self._check_claimed(key, written)
        elif type(written) is not int:
            self._faults.add(key, 'a token is a name of a worker, a whole number, or { text = "…" }')
        return written

    def _pairs(self, key: str, written: Any) -> tuple[dict[str, Any], ...]:
        if not isinstance(written, list) or not written or not all(isinstance(pair, dict) for pair in written):
            self._faults.add(key, 'a list of { job = "…", token = … } is wanted')
            return ()
        found = []
        for number, pair in enumerate(written, 1):
            inner = Table(pair, f"{key}[{number}]", self._faults)
            job = named(self._faults, inner.key("job"), "job", inner.any("job"), self._jobs)
            token = self._token(inner.key("token"), inner.any("token"))
            inner.done()
            found.append({"job": job.id if job else b"", "token": token})
        return tuple(found)
