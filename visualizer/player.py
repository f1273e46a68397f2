"""Plays a lesson's path on an engine: what every front end drives, with no screen in it.

One player serves one front end from one thread at a time. Its walk is the truth a front end draws from.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from visualizer.actors import let_pass
from visualizer.caller import Caller
from visualizer.engine import Engine, Feature
from visualizer.keyspace import Keyspace
from visualizer.lesson import Lesson, LessonPath
from visualizer.machine import MACHINES
from visualizer.machine.bench import Bench
from visualizer.model import Dump, Frame, Machine, Observation, Step, Walk
from visualizer.race import Order, other_turn
from visualizer.steps import NEEDS, instant_of
from visualizer.walk import Walker

# A step that only teaches while a deadline lies ahead is tried that often before a front end gives up.
ARMING_TRIES = 3
_FEATURES: Mapping[str, Feature] = {
    "flush_scripts": "flush_scripts",
    "load_changed_text": "flush_scripts",
    "restart_server": "restart",
}
_DEADLINE_WORDS = {"not_due": "was due", "lease_running": "had lapsed"}


class DeadlinePassedError(Exception):
    """A step's deadline passed however often the path was replayed; the sentence says which."""


class Player:
    """A lesson on an engine. ``walk`` is what there is to draw; every method that steps returns it.

    ``path`` has its steps in the order in which they are taken: the written one, until another turn is chosen in a
    race. Going anywhere, rewinding and replaying keep that order; a restart brings the written one back.

    ``keep_dumps`` and ``watch``: see `Walker`.
    """

    def __init__(self, lesson: Lesson, engine: Engine, *, keep_dumps: bool = True, watch: bool = False) -> None:
        self.lesson = lesson
        self.engine = engine
        self.machine = machine_of(lesson)
        self.space = Keyspace(engine.queue, self.machine.row_prefix)
        self._written = self.path = lesson.paths[0]
        self._order = Order(self._written.steps)
        self._keep_dumps = keep_dumps
        self._watch = watch
        self._left = threading.Event()
        self._walker = self._fresh_walker()

    @property
    def walk(self) -> Walk:
        return self._walker.walk

    @property
    def real_locks(self) -> str:
        """A sentence where locks run by the server's clock although the lesson has its own; empty elsewhere."""
        clock = self._walker.clock
        if clock is None or clock.held:
            return ""
        return "Locks run by this server's own clock: one is over when its time is, also while you read."

    @property
    def taken(self) -> int:
        """How many of the path's steps have run."""
        return _steps_in(self.walk.frames)

    @property
    def shown_step(self) -> int:
        """The number of the path's step under the cursor; 0 before the first."""
        return _steps_in(self.walk.frames[: self.walk.cursor])

    def number_of(self, frame: Frame) -> int:
        """The number of the path's step that a frame of this walk is."""
        return _steps_in(self.walk.frames[: frame.number])

    @property
    def coming(self) -> Step | None:
        """The step that runs next, None at the path's end."""
        steps = self.path.steps
        return steps[self.taken] if self.taken < len(steps) else None

    @property
    def turns(self) -> Mapping[str, Step]:
        """Where a race's step is coming: each actor that has something to run, and its next step; else empty."""
        return self._order.turns(self.taken)

    @property
    def other(self) -> str | None:
        """The actor that could run next instead of the one whose step is coming; None where there is none."""
        return other_turn(self.turns, self.coming)

    # Stepping -------------------------------------------------------------------------------------------------------

    def step(self) -> Walk:
        """The next frame: the cursor goes forward, or, at the walk's end, the path's next step runs.

        At the path's end nothing happens. DeadlinePassedError where the step's deadline could not be kept ahead.
        """
        if not self.walk.at_end:
            return self._walker.forward()
        step = self.coming
        if step is None:
            return self.walk
        if step.needs is None:
            return self._take(step)
        return self._step_before_deadline(step, step.needs)

    def take_turn(self, actor: str) -> Walk:
        """Runs that actor's next step of the race, at the walk's end. TurnError where it has none to run.

        Where this is not the written order, nothing is announced of the race's steps from here on, nor of what follows.
        """
        self._order.put_next(actor, self.taken)
        self._reorder()
        self.last()
        return self.step()

    def plan(self, actors: Sequence[str]) -> None:
        """Chooses whose turn each step of the path's races is, before any has run. TurnError where it cannot be."""
        self._order.put_all(actors)
        self._reorder()

    def _reorder(self) -> None:
        self.path = replace(self._written, steps=self._order.steps)

    def let_time_pass(self, ms: int) -> Walk:
        """Lets the lesson's clock run, as a frame that is none of the path's; actors act when their moment comes."""
        self.last()
        return self._take(Step("time_passes", given={"ms": ms}, label="time", actor="you"))

    def back(self) -> Walk:
        return self._walker.back()

    def first(self) -> Walk:
        return self._walker.jump(0)

    def last(self) -> Walk:
        """The newest frame there is; nothing is run."""
        return self._walker.jump(len(self.walk.frames))

    def jump(self, number: int) -> Walk:
        """Shows the path's step of that number (0: before the first); steps that have not run yet are run."""
        number = max(0, min(number, len(self.path.steps)))
        while self.taken < number and not self._left.is_set():
            self.last()
            self.step()
        steps = 0
        for cursor, frame in enumerate(self.walk.frames, start=1):
            if frame.of_path:
                steps += 1
                if steps == number:
                    return self._walker.jump(cursor)
        return self._walker.jump(0)

    def restart(self) -> Walk:
        """The path from its start, on an empty queue, its races in the written order."""
        return self._begin(self._written)

    def choose(self, name: str) -> Walk:
        """Another path, from its start. UnknownLessonError names the paths there are."""
        return self._begin(self.lesson.path(name))

    def rewind(self) -> tuple[Walk, str]:
        """Puts the queue back to the frame under the cursor and drops what came after; says in a sentence how.

        Where the keys cannot be put back, the path is replayed from its start up to there, waits included.
        """
        cursor, dropped = self.walk.cursor, len(self.walk.frames) - self.walk.cursor
        if not dropped:
            return self.walk, "This is the newest frame: there is nothing to rewind."
        why = self._walker.why_not_rewind(cursor)
        frames = "one frame" if dropped == 1 else f"{dropped} frames"
        if why is None:
            self._walker.rewind(cursor)
            return self.walk, f"Rewound: the queue's keys are as they were here, and {frames} after it dropped."
        if "members" in why or "bytes" in why:
            return self.walk, f"No rewind here: {why}."
        # All that was taken, not the path's steps alone: what the learner and the actors did belongs to the frame.
        taken = [frame.step for frame in self.walk.frames[:cursor] if frame.step is not None]
        self._replay(taken, lambda step: self._walker.take(step))
        return self.walk, f"Replayed from the start, since {why}; {frames} after it dropped."

    def look(self) -> Walk:
        """Reads once more without a step: what changed meanwhile becomes a frame between steps."""
        return self._walker.look()

    def before_coming(self, step: Step) -> tuple[Observation, Callable[[Caller], Bench]]:
        """The queue as a step would find it now, with dumps, and what makes its bench; nothing runs."""
        return self._walker.before(step)

    def dumps_of(self, names: Iterable[bytes]) -> dict[bytes, Dump]:
        """Dumps of keys of the queue as they are now."""
        return self._walker.dumps_of(names)

    def leave(self) -> None:
        """Ends a wait that is under way, from another thread; what runs is finished, nothing more is waited for."""
        self._left.set()

    # Deadlines ------------------------------------------------------------------------------------------------------

    def _step_before_deadline(self, step: Step, needs: str) -> Walk:
        """Runs a step that only teaches while its deadline lies ahead; where it has passed, the path is re-armed."""
        number = self.taken
        for attempt in range(ARMING_TRIES + 1):
            if attempt:
                self._replay(self.path.steps[:number], self._take)
            deadline_ms = instant_of(self.machine, self._walker.walk.shown, NEEDS[needs], step.id)
            if deadline_ms is None or self._left.is_set():
                return self._walker.take(step)
            if self._walker.server_now_ms() >= deadline_ms:
                continue
            note = ""
            if attempt:
                note = (
                    f"Time had passed and the job {_DEADLINE_WORDS[needs]}, so the path was replayed up to here first."
                )
            walk = self._walker.take(step, note)
            if walk.shown.clock_ms < deadline_ms:
                return walk
        if self.taken > number:
            self._replay(self.path.steps[:number], self._take)  # the step came too late: it is still to come
        raise DeadlinePassedError(
            f"step {number + 1} ({step.heading}) only teaches before its deadline, and the path was replayed "
            f"{ARMING_TRIES} times without reaching it in time; a larger --pace leaves more time"
        )

    def _replay(self, steps: Iterable[Step], take: Callable[[Step], Walk]) -> None:
        """Takes these steps and no other, on an empty queue."""
        self._start_over()
        for step in steps:
            if self._left.is_set():
                return
            take(step)

    def _begin(self, path: LessonPath) -> Walk:
        self._start_over()
        self._written = self.path = path
        self._order = Order(path.steps)
        return self.walk

    def _start_over(self) -> None:
        self.engine.clear_queue()
        self._walker = self._fresh_walker()

    def _take(self, step: Step) -> Walk:
        clock = self._walker.clock
        if clock is None or step.do != "time_passes":
            return self._walker.take(step)
        return let_pass(step, self.machine, lambda: self.walk, lambda: clock.now_ms, self._walker.take)

    def _fresh_walker(self) -> Walker:
        return Walker(
            self.engine,
            self.machine,
            self.space,
            [job.id for job in self.lesson.jobs.values()],
            groups=self.lesson.groups.values(),
            keep_dumps=self._keep_dumps,
            watch=self._watch,
            sleep=self._sleep,
        )

    def _sleep(self, seconds: float) -> bool:
        return not self._left.wait(seconds)


def _steps_in(frames: tuple[Frame, ...]) -> int:
    return sum(frame.of_path for frame in frames)


def machine_of(lesson: Lesson) -> Machine:
    """The machine that the lesson teaches, with the lesson's names for its groups."""
    machine = MACHINES[lesson.machine]
    names = {group: name for name, group in lesson.groups.items()}
    return replace(machine, group_names=names) if names else machine


def why_not_here(path: LessonPath, engine: Engine) -> str | None:
    """None where the engine can play every step of the path, else the sentence that says why not."""
    for step in path.steps:
        feature = _FEATURES.get(step.do)
        why = engine.may(feature) if feature is not None else None
        if why is not None:
            return why
    return None
