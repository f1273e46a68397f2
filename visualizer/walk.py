"""Takes steps on an engine and keeps them as frames: take, back, forward, jump, rewind.

The walker is the one writer. Every step is read before and after; going back moves the cursor and calls nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec.structs import replace

from visualizer.caller import Caller
from visualizer.expect import judge as judge_expectations
from visualizer.kept_keys import KeptKeys
from visualizer.keyspace import Keyspace
from visualizer.laws import judge
from visualizer.lesson_clock import STEP_MS, LessonClock
from visualizer.machine.bench import Bench
from visualizer.model import (
    Dump,
    Evidence,
    Expectation,
    Frame,
    Machine,
    Observation,
    Outcome,
    Performed,
    Step,
    Walk,
)
from visualizer.move import moves_between, unseen_moves
from visualizer.observe import Observer
from visualizer.perform import NAMED_STEPS, Performer
from visualizer.script import load
from visualizer.sharing import shared


class Engine(Protocol):
    """What a walk needs of an engine."""

    @property
    def own(self) -> bool: ...

    @property
    def client(self) -> Any: ...

    @property
    def sent_bytes(self) -> int: ...

    def send(self, *words: Any) -> Any: ...

    def watching(self) -> AbstractContextManager[Any]: ...

    @property
    def owner_key(self) -> bytes | None: ...

    def hold(self, names: Iterable[bytes]) -> None: ...

    def check(self) -> None: ...

    def failure(self, error: Exception, *, reading: bool = False) -> Exception: ...

    def owner_lost(self, seen: bytes | None) -> str | None: ...

    def may(self, feature: Any) -> str | None: ...

    def restart(self) -> None: ...

    def clear_queue(self) -> None: ...

    def hold_clock(self) -> bool: ...

    def hold_key(self, key: bytes) -> int: ...

    def expire_now(self, key: bytes) -> None: ...

    def put_back(self, dumps: Mapping[bytes, tuple[bytes, int]], gone: Iterable[bytes]) -> None: ...

    @property
    def loaded(self) -> set[str]: ...


# What a step is told first where something changed before it: whether the lesson's clock alone did it.
_BETWEEN = {
    False: "Something changed before this step, and not by this walk: ← shows it.",
    True: "Time ran out for something just before this step: ← shows it.",
}


def _never_interrupted(seconds: float) -> bool:
    import time

    time.sleep(seconds)
    return True


class Walker:
    """One walk on one engine. ``captured`` ids are tracked in every reading; ``groups`` are lanes it may touch.

    ``keep_dumps`` reads the keys' dumps before each step, so that `rewind` can put them back. ``watch`` watches what
    each script issues, which costs a connection a call.
    """

    def __init__(
        self,
        engine: Engine,
        machine: Machine,
        space: Keyspace,
        captured: Iterable[bytes],
        *,
        groups: Iterable[bytes] = (),
        keep_dumps: bool = True,
        watch: bool = False,
        sleep: Callable[[float], bool] = _never_interrupted,
    ) -> None:
        self._engine = engine
        self._machine = machine
        self._space = space
        self._captured = tuple(captured)
        self._keys = KeptKeys(engine, machine, space, self._captured, groups)
        self._caller = Caller(self._keys, engine.watching if watch else None)
        self._observer = Observer(engine, machine, space, self._captured)
        self.clock = LessonClock(engine, space, machine) if machine.own_clock else None
        self._performer = Performer(engine, machine, space, self._caller, self.clock, sleep, self._keys.put_back)
        self._keep_dumps = keep_dumps
        self._load_scripts()
        opening = self._observer.read()
        self.walk = Walk(self.clock.seen(opening, None) if self.clock else opening)

    # Stepping -------------------------------------------------------------------------------------------------------

    def take(self, step: Step, note: str = "") -> Walk:
        """Runs a step at the end of the walk and appends its frame; the cursor goes there.

        A difference between the last reading and this one (an expiry, another client) becomes a frame of its own
        first, and no verb gets the credit; its outcome is ``ran_out`` where the lesson's clock has let something
        expire, else ``changed``. ``note`` is told first in the frame's readout.
        """
        self._engine.check()
        self._caller.drain()  # the calls of a step that did not come to its end
        named = NAMED_STEPS.get(step.do)
        last = self._last()
        ran_out = self.clock is not None and step.do != "time_passes" and self.clock.tick(last)
        keeps = self._keep_dumps or (named is not None and named.keeps_keys)
        before = self._read_before(last, keep=keeps)
        lost = self._engine.owner_lost(before.owner)
        if lost:
            self._engine.check()
        if keeps and self._keys.left_out(before):
            before = self._read(before, keep=True)
        before = shared(last, before)
        if not before.same_apart_from_time(last):
            self._append(None, Performed(Outcome("ran_out" if ran_out else "changed"), kind="between"), last, before)
            note = note or _BETWEEN[ran_out]
        self._keys.keep_late(keeps)
        performed = self._performer.perform(step, before, self.walk.frames)
        before = self._keys.with_late(before)
        if note:
            performed = replace(performed, notes=(note, *performed.notes))
        return self._append(step, performed, before, shared(before, self._read(before, self._durations(step))))

    def look(self) -> Walk:
        """Reads once more; where something changed without a step, that becomes a frame between steps."""
        fresh = shared(self._last(), self._read(self._last()))
        if fresh.same_apart_from_time(self._last()):
            return self.walk
        return self._append(None, Performed(Outcome("changed"), kind="between"), self._last(), fresh)

    def before(self, step: Step) -> tuple[Observation, Callable[[Caller], Bench]]:
        """The queue as a step would find it now, with its dumps, and what makes the bench it would work with.

        Nothing is written, and the walk stays as it is. A key that the lesson's clock lets expire before the step has
        a dump that has lapsed: whoever puts it back gets no key.
        """
        seen = self._read(self._last(), keep=True)
        if self._keys.left_out(seen):
            seen = self._read(seen, keep=True)
        later_ms = 0
        if self.clock is not None and self.clock.held and seen.dumps is not None:
            later_ms = STEP_MS
            over = set(self.clock.over(seen, STEP_MS))
            dumps = {key: replace(dump, expires_at_ms=1) if key in over else dump for key, dump in seen.dumps.items()}
            seen = replace(seen, dumps=dumps)
        return seen, lambda caller: self._performer.bench(caller, step, self.walk.frames, later_ms)

    def dumps_of(self, names: Iterable[bytes]) -> dict[bytes, Dump]:
        """Dumps of these keys as they are now; those that do not exist have none."""
        return self._keys.dumps_of(names)

    def server_now_ms(self) -> int:
        """The server's clock, read outside the wire log."""
        seconds, micros = self._engine.client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def _append(self, step: Step | None, performed: Performed, before: Observation, after: Observation) -> Walk:
        homes_before, homes_after = before.homes(), after.homes()
        moves = moves_between(before, after, homes_before, homes_after)
        did, job = (step.do, step.id) if step else (None, None)
        evidence = Evidence(before, after, homes_before, homes_after, did, job, performed)
        laws = judge(self._machine, evidence)
        expected: tuple[Expectation, ...] = ()
        if step is not None and step.expect is not None:
            expected = judge_expectations(step.expect, job, performed.outcome, moves, laws, before, after)
        frames = self.walk.frames
        frame = Frame(
            len(frames) + 1,
            step,
            performed,
            self._caller.drain(),
            before,
            after,
            moves,
            laws,
            expected,
            unseen_moves(before, after, moves),
        )
        self._keys.note(after)
        self.walk = Walk(self.walk.opening, (*frames, frame), len(frames) + 1)
        return self.walk

    # Moving the cursor: nothing is called -----------------------------------------------------------------------------

    def jump(self, cursor: int) -> Walk:
        """Shows the n-th frame; 0 is the opening. Out of range is clamped."""
        self.walk = replace(self.walk, cursor=max(0, min(cursor, len(self.walk.frames))))
        return self.walk

    def back(self) -> Walk:
        return self.jump(self.walk.cursor - 1)

    def forward(self) -> Walk:
        return self.jump(self.walk.cursor + 1)

    # Rewinding --------------------------------------------------------------------------------------------------------

    def why_not_rewind(self, cursor: int) -> str | None:
        """None where the keys of that moment can be put back, else why not, in a sentence part."""
        if cursor >= len(self.walk.frames):
            return None
        if self.clock is not None:
            return f"the {'lesson' if self.clock.held else 'server'}'s clock cannot be set back"
        since = self.walk.frames[cursor:]
        return self._keys.why_not(since[0].before, since, self.server_now_ms())

    def rewind(self, cursor: int) -> Walk:
        """Puts the queue's keys back as they were after the n-th frame, and drops the frames after it.

        ValueError where `why_not_rewind` has a reason. The script cache and the clock stay as they are.
        """
        why = self.why_not_rewind(cursor)
        if why:
            raise ValueError(why)
        if cursor < len(self.walk.frames):
            since = self.walk.frames[cursor:]
            self._keys.put_back(since[0].before, since)
            self.walk = Walk(self.walk.opening, self.walk.frames[:cursor], cursor)
        return self.jump(cursor)

    # Reading ----------------------------------------------------------------------------------------------------------

    def _last(self) -> Observation:
        return self.walk.frames[-1].after if self.walk.frames else self.walk.opening

    def _read(self, since: Observation, set_for_ms: Collection[int] = (), *, keep: bool = False) -> Observation:
        """A reading after ``since``, by the lesson's clock where it has one (``set_for_ms``: see there); ``keep``: with
        the dumps of all that ``since`` knows of."""
        fresh = self._observer.read(self._keys.to_keep(since) if keep else ())
        return self.clock.seen(fresh, since, set_for_ms) if self.clock is not None else fresh

    def _durations(self, step: Step) -> tuple[int, ...]:
        """The durations that a step sends, in ms: what a key may have been set for."""
        verb = self._machine.verbs.get(step.do)
        sent = (parameter for parameter in (verb.parameters if verb else ()) if parameter.kind == "duration_ms")
        given = (step.given.get(parameter.name, parameter.default) for parameter in sent)
        return tuple(ms for ms in given if isinstance(ms, int))

    def _read_before(self, since: Observation, *, keep: bool) -> Observation:
        """The reading before a step; where it fails, the error says that the step was not sent."""
        from redis.exceptions import RedisError

        try:
            return self._read(since, keep=keep)
        except RedisError as failure:
            raise self._engine.failure(failure, reading=True) from failure

    def _load_scripts(self) -> None:
        """NOSCRIPT then appears only after something flushed the cache. What the engine has is not sent again."""
        scripts = [load(verb.script) for verb in self._machine.verbs.values()]
        missing = [script for script in scripts if script.sha1 not in self._engine.loaded]
        if missing:
            pipeline = self._engine.client.pipeline(transaction=False)
            for script in missing:
                pipeline.execute_command("SCRIPT", "LOAD", script.source)
            pipeline.execute()
            self._engine.loaded.update(script.sha1 for script in missing)
