"""The named steps that are no verbs: waiting, faults. Lessons name them; they carry no raw commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from visualizer.caller import Caller
from visualizer.keyspace import Keyspace
from visualizer.lesson_clock import LessonClock
from visualizer.machine.bench import Bench, Tokens
from visualizer.model import Frame, FrameKind, Machine, Observation, Outcome, Parameter, Performed, Step


class Engine(Protocol):
    """What a fault needs of an engine."""

    def may(self, feature: Any) -> str | None: ...

    def restart(self) -> None: ...


class Stage(Bench):
    """A bench with what only named steps need: the reading before, the engine itself, and a sleep that can be ended.

    ``sleep`` takes seconds and answers False when the learner leaves meanwhile. ``restore`` puts the keys of the
    reading before back and answers how many. ``earlier`` are the walk's frames before this step.
    """

    def __init__(
        self,
        caller: Caller,
        space: Keyspace,
        step: Step,
        tokens: Tokens,
        before: Observation,
        engine: Engine,
        sleep: Callable[[float], bool],
        restore: Callable[[Observation], int],
        machine: Machine,
        clock: LessonClock | None = None,
        earlier: Sequence[Frame] = (),
    ) -> None:
        super().__init__(caller, space, step, tokens, (lambda: clock.now_ms) if clock else None)
        self.caller = caller
        self.machine = machine
        self.clock = clock
        self.before = before
        self.engine = engine
        self.sleep = sleep
        self.restore = restore
        self.earlier = earlier

    def now_ms(self) -> int:
        """The server's clock, read by a TIME that stands on the wire log."""
        seconds, micros = self.command("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def wait_until(self, instant_ms: float) -> bool:
        """Sleeps until the server's clock has reached that instant; False when the learner left meanwhile."""
        left_ms = instant_ms - self.before.clock_ms
        while left_ms > 0:
            if not self.sleep(left_ms / 1000):
                return False
            left_ms = instant_ms - self.now_ms()
        return True


class NamedStep(Struct, frozen=True):
    """One named step. ``kind`` is the frame's; ``keeps_keys`` says that it needs the keys' dumps from before.

    ``fits`` tells for which machines there is such a step. ``calls_scripts``: it sends calls of scripts by itself.
    """

    name: str
    sentence: str
    kind: FrameKind
    parameters: tuple[Parameter, ...]
    outcomes: tuple[str, ...]
    needs_job: bool
    run: Callable[[Stage], Performed]
    keeps_keys: bool = False
    fits: Callable[[Machine], bool] = lambda _: True
    calls_scripts: bool = False


# What a step may need to lie ahead, and the wait for it.
NEEDS = {"not_due": "due", "lease_running": "lapsed"}
_WAITS = {"wait_until_due": "due", "wait_until_lapsed": "lapsed"}


def instant_of(machine: Machine, seen: Observation, what: str, job: bytes | None) -> int | None:
    """When a job is ``due`` or has ``lapsed``, by the score that says so; None where there is none."""
    place = machine.waits.get(what)
    score = None if place is None or job is None else seen.score(place, job)
    return None if place is None or score is None else machine.read_score(place, score).at_ms


def waits_until(machine: Machine, seen: Observation, step: Step) -> int | None:
    """The instant that a step waits for, None where it waits for none."""
    return instant_of(machine, seen, _WAITS.get(step.do, ""), step.id)


def _has_wait(what: str) -> Callable[[Machine], bool]:
    return lambda machine: what in machine.waits


_MS = Parameter("ms", "duration_ms", "how long, on the server's clock", required=True, minimum=1)
_WORKER = Parameter("worker", "worker", "whose process ends", default="w1")
_KEEP = Parameter("keep", "flag", "whether the queue's keys are put back", default=True)


def _wait_until(what: str) -> Callable[[Stage], Performed]:
    def run(at: Stage) -> Performed:
        instant_ms = waits_until(at.machine, at.before, at.step)
        if instant_ms is None:
            note = f"the id is not in {at.machine.waits[what]}, so there is nothing to wait for"
            return Performed(Outcome("nothing_to_wait_for", note=note), kind="wait")
        came = at.wait_until(instant_ms)
        return Performed(Outcome(what if came else "interrupted"), kind="wait")

    return run


def _time_passes(at: Stage) -> Performed:
    if at.clock is not None:
        came = at.clock.advance(int(at.step.given["ms"]), at.before, at.sleep)
        return Performed(Outcome("passed" if came else "interrupted"), kind="wait")
    came = at.wait_until(at.before.clock_ms + int(at.step.given["ms"]))
    return Performed(Outcome("passed" if came else "interrupted"), kind="wait")


def _kill_worker(at: Stage) -> Performed:
    worker = at.take(_WORKER)
    return Performed(Outcome("killed", note=f"worker {worker} is gone and sends nothing more"), kind="fault")


def _flush_scripts(at: Stage) -> Performed:
    refused = at.engine.may("flush_scripts")
    if refused:
        return Performed(Outcome("not_sent", refused=refused, sent=False), kind="fault")
    at.command("SCRIPT FLUSH")
    return Performed(Outcome("flushed", note="the server has forgotten every script"), kind="fault")


def _restart_server(at: Stage) -> Performed:
    refused = at.engine.may("restart")
    if refused:
        return Performed(Outcome("not_sent", refused=refused, sent=False), kind="fault")
    keep = at.take(_KEEP)
    if keep and at.before.dumps is None:
        why = f"{at.before.undumped}, so they could not be put back; the server was not stopped"
        return Performed(Outcome("not_sent", refused=why, sent=False), kind="fault")
    at.engine.restart()
    if not keep:
        return Performed(Outcome("restarted", note="the server came back empty"), kind="fault")
    count = at.restore(at.before)
    note = f"the server came back empty; the queue's {count} keys were put back, the script cache was not"
    return Performed(Outcome("restarted", note=note), kind="fault")


STEPS: dict[str, NamedStep] = {
    step.name: step
    for step in (
        NamedStep(
            "wait_until_due",
            "Wait until the job is due, by the server's clock.",
            "wait",
            (),
            ("due", "nothing_to_wait_for", "interrupted"),
            True,
            _wait_until("due"),
            fits=_has_wait("due"),
        ),
        NamedStep(
            "wait_until_lapsed",
            "Wait until the job's lease has ended, by the server's clock.",
            "wait",
            (),
            ("lapsed", "nothing_to_wait_for", "interrupted"),
            True,
            _wait_until("lapsed"),
            fits=_has_wait("lapsed"),
        ),
        NamedStep("time_passes", "Wait that long.", "wait", (_MS,), ("passed", "interrupted"), False, _time_passes),
        NamedStep(
            "kill_worker",
            "A worker's process ends between two calls; nothing is sent.",
            "fault",
            (_WORKER,),
            ("killed",),
            False,
            _kill_worker,
        ),
        NamedStep(
            "flush_scripts",
            "The server forgets every script (our own engine only).",
            "fault",
            (),
            ("flushed", "not_sent"),
            False,
            _flush_scripts,
        ),
        NamedStep(
            "restart_server",
            "The server stops and starts again (our own Valkey only).",
            "fault",
            (_KEEP,),
            ("restarted", "not_sent"),
            False,
            _restart_server,
            keeps_keys=True,
        ),
    )
}
