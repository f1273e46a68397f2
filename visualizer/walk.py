"""Takes steps on an engine and keeps them as frames: take, back, forward, jump, rewind.

The walker is the one writer. Every step is read before and after; going back moves the cursor and calls nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from msgspec.structs import replace

from visualizer.expect import judge as judge_expectations
from visualizer.ids import IdError
from visualizer.keyspace import Keyspace
from visualizer.laws import judge
from visualizer.machine.bench import Bench, TokenUnknownError
from visualizer.model import Evidence, Expectation, Frame, Machine, Observation, Outcome, Performed, Step, Walk
from visualizer.move import moves_between, unseen_moves
from visualizer.naive import NAIVE_STEPS
from visualizer.observe import Observer
from visualizer.script import Caller, ReplyLostError
from visualizer.steps import STEPS, NamedStep, Stage

NAMED_STEPS: Mapping[str, NamedStep] = {**STEPS, **NAIVE_STEPS}


class Engine(Protocol):
    """What a walk needs of an engine."""

    @property
    def client(self) -> Any: ...

    def send(self, *words: Any) -> Any: ...

    @property
    def owner_key(self) -> bytes | None: ...

    def hold(self, names: Iterable[bytes]) -> None: ...

    def check(self) -> None: ...

    def owner_lost(self, seen: bytes | None) -> str | None: ...

    def may(self, feature: Any) -> str | None: ...

    def restart(self) -> None: ...

    def clear_queue(self) -> None: ...

    def restore(self, key: bytes, dump: bytes, expires_at_ms: int) -> None: ...


def _never_interrupted(seconds: float) -> bool:
    import time

    time.sleep(seconds)
    return True


class Walker:
    """One walk on one engine. ``captured`` ids are tracked in every reading; ``groups`` are lanes it may touch.

    ``keep_dumps`` reads the keys' dumps before each step, so that `rewind` can put them back.
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
        sleep: Callable[[float], bool] = _never_interrupted,
    ) -> None:
        self._engine = engine
        self._machine = machine
        self._space = space
        self._captured = tuple(captured)
        self._caller = Caller(engine)
        self._keep_dumps = keep_dumps
        self._sleep = sleep
        self._written = self._writable_keys(groups)
        engine.hold(self._written)
        self._observer = Observer(engine, machine, space, self._captured)
        self._load_scripts()
        self.walk = Walk(self._observer.read())

    # Stepping -------------------------------------------------------------------------------------------------------

    def take(self, step: Step, note: str = "") -> Walk:
        """Runs a step at the end of the walk and appends its frame; the cursor goes there.

        A difference between the last reading and this one (an expiry, another client) becomes a frame of its own
        first, and no verb gets the credit. ``note`` is told first in the frame's readout.
        """
        self._engine.check()
        named = NAMED_STEPS.get(step.do)
        before = self._read(dumps=self._keep_dumps or (named is not None and named.keeps_keys))
        lost = self._engine.owner_lost(before.owner)
        if lost:
            self._engine.check()
        last = self._last()
        before = shared(last, before)
        if not before.same_apart_from_time(last):
            self._append(None, Performed(Outcome("changed"), kind="between"), last, before)
        performed = self._perform(step, before, named)
        if note:
            performed = replace(performed, notes=(note, *performed.notes))
        return self._append(step, performed, before, shared(before, self._read()))

    def look(self) -> Walk:
        """Reads once more; where something changed without a step, that becomes a frame between steps."""
        fresh = shared(self._last(), self._read())
        if fresh.same_apart_from_time(self._last()):
            return self.walk
        return self._append(None, Performed(Outcome("changed"), kind="between"), self._last(), fresh)

    def server_now_ms(self) -> int:
        """The server's clock, read outside the wire log."""
        seconds, micros = self._engine.client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def note_last(self, note: str) -> Walk:
        """Puts a sentence first in the last frame's readout."""
        frames = self.walk.frames
        last = frames[-1]
        told = replace(last, performed=replace(last.performed, notes=(note, *last.performed.notes)))
        self.walk = replace(self.walk, frames=(*frames[:-1], told))
        return self.walk

    def _perform(self, step: Step, before: Observation, named: NamedStep | None) -> Performed:
        tokens = self._tokens()
        verb = self._machine.verbs.get(step.do)
        try:
            if verb is not None:
                performed = verb.run(Bench(self._caller, self._space, step, tokens))
                ran = performed.kind == "script" and performed.outcome.sent
                return replace(performed, script=verb.script) if ran else performed
            if named is None:
                raise KeyError(f"{step.do} is no verb of the {self._machine.name} machine and no named step")
            return named.run(
                Stage(self._caller, self._space, step, tokens, before, self._engine, self._sleep, self.restore_all)
            )
        except (IdError, TokenUnknownError) as failure:
            return Performed(Outcome("not_sent", refused=str(failure), sent=False))
        except ReplyLostError as failure:
            note = f"{failure}; the server may have run it, and it was not sent again"
            return Performed(Outcome("reply_lost", note=note), script=verb.script if verb else None)

    def _tokens(self) -> dict[tuple[str, bytes], bytes]:
        return {(grant.worker, grant.id): grant.token for frame in self.walk.frames for grant in frame.performed.grants}

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
        self._written.update(self._lane_keys(after))
        for call in frame.calls:
            self._written.update(call.keys)
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
        then = self.walk.frames[cursor].before
        if then.dumps is None:
            return then.undumped or "the keys were not kept at that moment"
        now_ms = self.server_now_ms()
        for name, reading in then.places.items():
            if self._machine.place(name).scored not in ("deadline", "due"):
                continue
            for member in reading.members:
                if member.score is not None and then.clock_ms < member.score <= now_ms:
                    return f"a time in {name} has passed since"
        return None

    def rewind(self, cursor: int) -> Walk:
        """Puts the queue's keys back as they were after the n-th frame, and drops the frames after it.

        ValueError where `why_not_rewind` has a reason. The script cache and the clock stay as they are.
        """
        why = self.why_not_rewind(cursor)
        if why:
            raise ValueError(why)
        if cursor < len(self.walk.frames):
            self.restore_all(self.walk.frames[cursor].before)
            self.walk = Walk(self.walk.opening, self.walk.frames[:cursor], cursor)
        return self.jump(cursor)

    def restore_all(self, then: Observation) -> int:
        """Puts every key this walk may have written back as it was dumped; answers how many exist again."""
        count = 0
        for key in self._written:
            dump = (then.dumps or {}).get(key)
            self._engine.client.delete(key)
            if dump is not None:
                self._engine.restore(key, dump.data, dump.expires_at_ms)
                count += 1
        return count

    # Reading ----------------------------------------------------------------------------------------------------------

    def _last(self) -> Observation:
        return self.walk.frames[-1].after if self.walk.frames else self.walk.opening

    def _read(self, *, dumps: bool = False) -> Observation:
        return self._observer.read(tuple(self._written) if dumps else ())

    def _load_scripts(self) -> None:
        """NOSCRIPT then appears only after something flushed the cache."""
        from visualizer.script import load

        pipeline = self._engine.client.pipeline(transaction=False)
        for verb in self._machine.verbs.values():
            pipeline.execute_command("SCRIPT", "LOAD", load(verb.script).source)
        pipeline.execute()

    def _writable_keys(self, groups: Iterable[bytes]) -> set[bytes]:
        keys = {self._space.key(place.name) for place in self._machine.places}
        keys.update(self._space.key(side.name) for side in self._machine.sides)
        for job in self._captured:
            row = self._space.job(job)
            keys.update((row, row + b":logs", row + b":lock"))
        lanes = self._machine.lanes
        if lanes is not None:
            keys.update(self._space.key(f"{lanes.prefix}{group.decode()}{lanes.suffix}") for group in groups)
        return keys

    def _lane_keys(self, seen: Observation) -> Iterable[bytes]:
        return (self._space.key(name) for name in seen.places if ":" in name)


def shared(earlier: Observation, later: Observation) -> Observation:
    """The later observation, holding the earlier one's values wherever they are equal: frames share what stayed."""
    places = {
        name: earlier.places[name] if earlier.places.get(name) == reading else reading
        for name, reading in later.places.items()
    }
    rows = {job: earlier.rows[job] if earlier.rows.get(job) == row else row for job, row in later.rows.items()}
    return replace(
        later,
        places=places,
        rows=rows,
        memberships=earlier.memberships if earlier.memberships == later.memberships else later.memberships,
        sides=earlier.sides if earlier.sides == later.sides else later.sides,
    )
