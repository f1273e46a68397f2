"""Performs one step: a verb of the machine at its bench, or a named step on its stage.

What was not sent and what got no reply are outcomes, with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from visualizer.actors import ACTOR_STEPS
from visualizer.cache_steps import CACHE_STEPS
from visualizer.caller import Caller, ReplyLostError
from visualizer.ids import IdError
from visualizer.keyspace import Keyspace
from visualizer.lesson_clock import LessonClock
from visualizer.machine.bench import Bench, TokenUnknownError
from visualizer.model import Frame, FrameKind, Machine, Observation, Outcome, Performed, Step
from visualizer.naive import NAIVE_STEPS
from visualizer.steps import STEPS, Engine, NamedStep, Stage

NAMED_STEPS: Mapping[str, NamedStep] = {**STEPS, **NAIVE_STEPS, **ACTOR_STEPS, **CACHE_STEPS}


class Performer:
    """Performs the steps of one walk. ``sleep`` and ``restore`` are what a named step's stage has them for.

    ``earlier``, in its methods, are the walk's frames before the step: they hold the tokens that workers got.
    """

    def __init__(
        self,
        engine: Engine,
        machine: Machine,
        space: Keyspace,
        caller: Caller,
        clock: LessonClock | None,
        sleep: Callable[[float], bool],
        restore: Callable[[Observation], int],
    ) -> None:
        self._engine = engine
        self._machine = machine
        self._space = space
        self._caller = caller
        self._clock = clock
        self._sleep = sleep
        self._restore = restore

    def perform(self, step: Step, before: Observation, earlier: Sequence[Frame]) -> Performed:
        """Runs a step on the queue read as ``before``. KeyError where there is no such step."""
        verb, named = self._machine.verbs.get(step.do), NAMED_STEPS.get(step.do)
        kind: FrameKind = named.kind if verb is None and named is not None else "script"
        try:
            if verb is not None:
                performed = verb.run(self.bench(self._caller, step, earlier))
                ran = performed.kind == "script" and performed.outcome.sent
                return replace(performed, script=verb.script) if ran else performed
            if named is None:
                raise KeyError(f"{step.do} is no verb of the {self._machine.name} machine and no named step")
            if named.needs_job:
                if step.id is None:
                    raise IdError(f"{step.do} is about a job, and the step names none")
                self._space.job(step.id)  # its commands name the id where no key of its row is built
            return named.run(self._stage(step, before, earlier))
        except (IdError, TokenUnknownError) as failure:
            return Performed(Outcome("not_sent", refused=str(failure), sent=False), kind=kind)
        except ReplyLostError as failure:
            note = f"{str(failure).rstrip('.')}; the server may have run it, and it was not sent again"
            return Performed(Outcome("reply_lost", note=note), kind=kind, script=verb.script if verb else None)

    def bench(self, caller: Caller, step: Step, earlier: Sequence[Frame], later_ms: int = 0) -> Bench:
        """What a verb works with, by a clock that is ``later_ms`` ahead of the lesson's, where it has one."""
        clock = self._clock
        now_ms = None if clock is None else lambda: clock.now_ms + later_ms
        return Bench(caller, self._space, step, _tokens(earlier), now_ms)

    def _stage(self, step: Step, before: Observation, earlier: Sequence[Frame]) -> Stage:
        return Stage(
            self._caller,
            self._space,
            step,
            _tokens(earlier),
            before,
            self._engine,
            self._sleep,
            self._restore,
            self._machine,
            self._clock,
            earlier,
        )


def _tokens(frames: Sequence[Frame]) -> dict[tuple[str, bytes], bytes]:
    """The token that each worker last got for each job."""
    return {(grant.worker, grant.id): grant.token for frame in frames for grant in frame.performed.grants}
