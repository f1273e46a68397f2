"""What a machine is made of: places, verbs, laws, and what a verb answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from visualizer.model.reading import Move
    from visualizer.model.walking import Evidence, Frame, Step

PlaceKind = Literal["zset", "list"]
FrameKind = Literal["script", "commands", "wait", "fault", "between"]


class Place(Struct, frozen=True):
    """A location that can hold a job id: one key whose membership *is* a state.

    ``name`` is the part of the key after ``emq:{q}:``. ``state`` is what the row's ``state`` field says about members,
    or None where the machine keeps no such field. ``order`` says in a few words what the score or position means.
    ``scored`` is ``zero`` (always 0), ``deadline`` or ``due`` (milliseconds, server clock), ``position`` (a list), or
    a word of the machine's own.
    """

    name: str
    kind: PlaceKind
    order: str
    scored: str
    state: str | None = None
    short: str = ""
    terminal: bool = False


class SideKey(Struct, frozen=True):
    """A key beside the places (``ring``, ``meta``): read with every observation, never holding a job's state.

    ``kind``: ``hash``, ``list``, ``set``, ``string`` or ``zset``.
    ``names_groups`` says that its members or fields are lane groups, so that their lanes are read as well.
    """

    name: str
    kind: str
    names_groups: bool = False


class LaneRule(Struct, frozen=True):
    """How a lane's key is built from its group: ``prefix`` + group + ``suffix``; ``field`` names it in the row.

    ``to`` is the place that a served job enters. The others name side keys: ``ring`` the groups in turn, ``paused``
    those that get none, ``limits`` and ``out`` how many jobs each may have out and has, ``wake`` what rouses a worker.
    """

    prefix: str
    suffix: str
    field: bytes
    place: Place
    to: str
    ring: str
    paused: str
    limits: str
    out: str
    wake: str


class Parameter(Struct, frozen=True):
    """One thing a verb or named step takes in a lesson's ``with``.

    ``kind``: ``duration_ms`` (multiplied by the pace, except on a lesson's own clock), ``job``
    (a job's name), ``verb`` (of the machine), ``flag``, ``time_ms``, ``count``, ``token`` (a worker's name, a whole
    number, or ``{text = "…"}``), ``worker``, ``group`` (a name of the lesson's ``[groups]``), ``payload``, ``text``,
    or ``pairs`` (a list of ``{job, token}``). A parameter without a default is required.
    """

    name: str
    kind: str
    meaning: str
    default: Any = None
    required: bool = False
    minimum: int | None = None


class Outcome(Struct, frozen=True):
    """What a verb's reply means. ``refused`` is the error's text or code; ``note`` explains what no wire call shows.

    ``sent`` is False when a guard of ours stopped the call before anything reached the server.
    """

    name: str
    refused: str | None = None
    note: str = ""
    sent: bool = True


class Grant(Struct, frozen=True):
    """A token that a worker got for a job: read from the reply of a claim."""

    worker: str
    id: bytes
    token: bytes


class Performed(Struct, frozen=True):
    """What a verb or a named step did: its outcome, the tokens it handed out, the ids it was about.

    ``facts`` are what it found out, each with its label (at most six letters): lines of the readout.
    """

    outcome: Outcome
    grants: tuple[Grant, ...] = ()
    kind: FrameKind = "script"
    script: str | None = None
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


class Verb(Struct, frozen=True):
    """One transition a caller may ask for. ``run`` gets a bench and answers a `Performed`.

    ``moves`` is (from, to) in place names, as the edge is drawn; ``script`` is the file it runs, ``leased/claim``.
    """

    name: str
    script: str
    sentence: str
    moves: tuple[tuple[str | None, str | None], ...]
    parameters: tuple[Parameter, ...]
    outcomes: tuple[str, ...]
    needs_job: bool
    run: Callable[[Any], Performed]


class ScoreReading(Struct, frozen=True):
    """A score as what it means: a sentence part, and the instant it names (None where it names none).

    ``means`` leads to an instant that lies ahead, ``meant`` to one that has passed.
    """

    means: str
    at_ms: int | None = None
    meant: str = ""


class Law(Struct, frozen=True):
    """An invariant whose name reads as a sentence. ``breaches`` lists what breaks it, in words; empty when it holds."""

    name: str
    sentence: str
    breaches: Callable[[Evidence], Sequence[str]]


class Locking(Struct, frozen=True):
    """How running jobs are kept by a lock: the place they run in, and who acts on it by itself.

    ``renews`` is the verb of a worker's heartbeat, ``sweeps`` that of the sweep. The durations are what each is given
    where nothing else is said: what a lock is taken for, how often it is renewed, how often the sweep runs.
    """

    place: str
    renews: str
    sweeps: str
    lock_ms: int
    renew_ms: int
    sweep_ms: int


class Machine(Struct, frozen=True):
    """One taught machine: its places in the order of the screen, its row, verbs and laws.

    ``row_prefix`` comes between ``emq:{q}:`` and the id in a row's key; ``lock_suffix`` after the row's key in the
    lock's (None: no lock). ``glance`` are the row fields read for ids that are in view but not captured.
    ``own_clock``: its scripts are told the time, so its lessons have a clock of their own. ``columns`` is the layout of
    a screen whose places do not stand in one row: columns of rows of place names. ``layers`` tells a frame at the four
    layers of the runtime, top down; ``codes`` is the page of codes.
    ``beside_row`` is what the keys add to a row's that belong to it, ``waits`` what a step can wait for by the server's
    clock (``due``, ``lapsed``) and the place whose score is that instant, ``locking`` how a running job is kept.
    ``row_note`` says in a few words what the row means for who holds the job, or nothing.
    ``explain`` gives the machine's own sentences about a frame (the frames before it are the second argument).
    ``starts``: for each place the steps that put a fresh job there; ``shows``: for each transition the steps before it
    and the step itself. Both are run, never quoted.
    ``group_names`` are what a lesson calls the groups whose lanes it shows.
    """

    name: str
    places: tuple[Place, ...]
    sides: tuple[SideKey, ...]
    row_prefix: str
    lock_suffix: str | None
    glance: tuple[bytes, ...]
    lanes: LaneRule | None
    verbs: Mapping[str, Verb]
    laws: tuple[Law, ...]
    read_score: Callable[[str, float], ScoreReading]
    is_job_id: Callable[[bytes], bool]
    starts: Mapping[str, tuple[Step, ...]]
    shows: Mapping[str, tuple[tuple[Step, ...], Step]]
    edges: tuple[tuple[str, str, str], ...]
    explain: Callable[[Frame, Sequence[Frame]], Sequence[str]]
    row_note: Callable[[Frame, Move], str]
    own_clock: bool = False
    columns: tuple[tuple[tuple[str, ...], ...], ...] = ()
    layers: Callable[[Frame], Sequence[tuple[str, str]]] | None = None
    codes: Sequence[tuple[str, str]] = ()
    beside_row: tuple[str, ...] = (":logs",)
    waits: Mapping[str, str] = {}
    locking: Locking | None = None
    group_names: Mapping[bytes, str] = {}

    def place(self, name: str) -> Place:
        """The place of that name; a lane's name gives the lane rule's place. KeyError for an unknown name."""
        for place in self.places:
            if place.name == name:
                return place
        if self.lanes and name.startswith(self.lanes.prefix) and name.endswith(self.lanes.suffix):
            return self.lanes.place
        raise KeyError(name)
