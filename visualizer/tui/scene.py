"""What there is to draw, as one frozen value: every widget gets the whole scene and takes its part."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from visualizer.lesson import Lesson, LessonPath
from visualizer.lock_view import ActorView, LockView, actors_of, locks_of
from visualizer.model import Frame, Machine, Observation, Step, Walk
from visualizer.trace import Trace


class EngineLabel(Struct, frozen=True):
    """What the top line says of the engine."""

    badge: str
    label: str
    prefix: str


class Surveyed(Struct, frozen=True):
    """What a scan found beside the places: captured ids with the keys that hold them, and a sentence where something
    is amiss."""

    found: Mapping[bytes, tuple[str, ...]]
    amiss: str


class Scene(Struct, frozen=True):
    """A lesson at one moment.

    ``walk`` is None until the engine answers. ``step`` is the number of the path's step under the cursor, ``taken``
    how many have run. ``running`` names what runs now (keys wait for it), ``until_ms`` the instant it waits for.
    ``trouble`` is a sentence about an engine that is gone, ``autoplay`` says how fast it runs, ``read_at`` is when the
    newest reading was taken (seconds, monotonic clock). ``found`` and ``surveyed`` come from a scan: see `Surveyed`.
    ``wire`` shows the wire log, ``unwatched`` says why it does not tell what scripts issue, where it does not.
    ``real_locks`` is the player's sentence on locks that run by a server's own clock. ``trace`` is what a debugger saw
    of the step under the cursor. ``turns`` are the actors that have something to run where a race is coming, each with
    its next step; ``other`` is who may run instead.
    """

    lesson: Lesson
    path: LessonPath
    machine: Machine
    engine: EngineLabel | None = None
    walk: Walk | None = None
    step: int = 0
    taken: int = 0
    running: str = ""
    until_ms: int | None = None
    trouble: str = ""
    autoplay: str = ""
    layers: bool = False
    wire: bool = False
    unwatched: str = ""
    pace: float = 1.0
    read_at: float = 0.0
    found: Mapping[bytes, tuple[str, ...]] = {}
    surveyed: str = ""
    real_locks: str = ""
    trace: Trace | None = None
    turns: Mapping[str, Step] = {}
    other: str | None = None

    @property
    def frame(self) -> Frame | None:
        return self.walk.frame if self.walk else None

    @property
    def earlier(self) -> tuple[Frame, ...]:
        """The frames before the one under the cursor."""
        return self.walk.frames[: self.walk.cursor - 1] if self.walk and self.walk.cursor else ()

    @property
    def shown(self) -> Observation | None:
        return self.walk.shown if self.walk else None

    @property
    def locks(self) -> tuple[tuple[LockView, ...], tuple[ActorView, ...]]:
        """The locks and the actors, for a machine that has them."""
        if self.shown is None or self.walk is None:
            return (), ()
        frames = self.walk.frames[: self.walk.cursor]
        return locks_of(self.machine, self.shown, frames), actors_of(self.machine, self.shown, frames)

    @property
    def next_step(self) -> Step | None:
        """The path's step after the one under the cursor, None at the end."""
        steps = self.path.steps
        return steps[self.step] if self.step < len(steps) else None
