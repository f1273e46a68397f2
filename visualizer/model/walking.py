"""What a learner walks: steps, what is expected of them, the frames they leave, and the walk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from visualizer.model.parts import FrameKind, Outcome, Performed
    from visualizer.model.reading import Move, Observation, WireCall


class Evidence(Struct, frozen=True):
    """What a law is judged on: two observations and what ran between them.

    ``homes_before`` and ``homes_after``: every id whose membership is known for certain, and the places that hold it.
    """

    before: Observation
    after: Observation
    homes_before: Mapping[bytes, tuple[str, ...]]
    homes_after: Mapping[bytes, tuple[str, ...]]
    did: str | None
    id: bytes | None
    performed: Performed


class LawResult(Struct, frozen=True):
    """A law judged on one frame: what broke it, in words, and on how many ids it was judged."""

    name: str
    sentence: str
    breaches: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.breaches


class Expectation(Struct, frozen=True):
    """One thing a lesson expected of a step, and what was read."""

    what: str
    wanted: Any
    got: Any
    met: bool


class Expect(Struct, frozen=True):
    """What a lesson announces about a step, before it runs. Absent ``leaves`` and ``enters`` mean none.

    ``row``: ``gone``, ``unchanged``, ``none`` (there is no row), or the fields it must hold afterwards.
    """

    leaves: tuple[str, ...] = ()
    enters: tuple[str, ...] = ()
    outcome: str | None = None
    row: str | Mapping[str, str] | None = None
    refused: str | None = None
    breaks: tuple[str, ...] = ()


class Step(Struct, frozen=True):
    """One step: a verb or a named step, the job it is about, and what it is given.

    ``given`` is resolved: groups are ids, durations are already multiplied by the pace; a ``token`` stays as written,
    since a worker's name can only be resolved when the step runs. ``label`` stands in the path line. ``actor`` names
    who took the step where it is none of the path's: a heartbeat, the sweep, the learner's own key. ``turn`` names
    whose turn it is in a race: a run of such steps is one order of several.
    """

    do: str
    id: bytes | None = None
    given: Mapping[str, Any] = {}
    payload: bytes = b""
    label: str = ""
    say: str = ""
    ask: str = ""
    needs: Literal["not_due", "lease_running"] | None = None
    expect: Expect | None = None
    actor: str = ""
    turn: str = ""

    @property
    def heading(self) -> str:
        """The label, in a race with whose turn it is."""
        label = self.label or self.do
        return f"{self.turn}: {label}" if self.turn else label


class Frame(Struct, frozen=True):
    """One step that ran: what was sent, what came back, what was read before and after, and what follows from it."""

    number: int
    step: Step | None
    performed: Performed
    calls: tuple[WireCall, ...]
    before: Observation
    after: Observation
    moves: tuple[Move, ...]
    laws: tuple[LawResult, ...]
    expected: tuple[Expectation, ...] = ()
    unseen: int = 0

    @property
    def kind(self) -> FrameKind:
        return self.performed.kind

    @property
    def outcome(self) -> Outcome:
        return self.performed.outcome

    @property
    def of_path(self) -> bool:
        """Whether this is one of the path's steps: not a change between them, and not an actor's."""
        return self.step is not None and not self.step.actor

    @property
    def broken(self) -> tuple[LawResult, ...]:
        return tuple(law for law in self.laws if law.breaches)

    def move(self) -> Move | None:
        """The move of the step's own job; without one, the first move."""
        own = self.step.id if self.step else None
        for move in self.moves:
            if move.id == own:
                return move
        return self.moves[0] if self.moves and own is None else None


class Walk(Struct, frozen=True):
    """Frames and a cursor. ``cursor`` 0 shows the opening observation, n the n-th frame."""

    opening: Observation
    frames: tuple[Frame, ...] = ()
    cursor: int = 0

    @property
    def frame(self) -> Frame | None:
        """The frame under the cursor, None at the opening."""
        return self.frames[self.cursor - 1] if self.cursor else None

    @property
    def shown(self) -> Observation:
        """The observation under the cursor."""
        return self.frames[self.cursor - 1].after if self.cursor else self.opening

    @property
    def at_end(self) -> bool:
        return self.cursor == len(self.frames)
