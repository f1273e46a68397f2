"""Tells a lesson in lines of text: where it stands, what comes next, and what a step did."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from visualizer.actions import ACTIONS, sign
from visualizer.lesson import LessonFaults
from visualizer.model import Frame, Machine
from visualizer.plain.prompt import Write
from visualizer.plain.text import folded, picture_lines, unmarked
from visualizer.player import Player
from visualizer.race_end import verdicts
from visualizer.readout import readout
from visualizer.visible import visible
from visualizer.wire_log import issued_lines, wire_log
from visualizer.xray import Xray
from visualizer.xray_lines import told

# Prose is wrapped at this width where the output is no terminal, and at this width at most where it is one.
PROSE_COLUMNS, WIDEST_PROSE_COLUMNS = 80, 100
# Where the words of a readout's line begin, behind its label, and the members of a place, behind its sign.
LABEL_COLUMNS, SIGN_COLUMNS = 7, 2
# Where the words begin of what is seen inside a script, and of what a key does.
INSIDE_COLUMNS, KEY_COLUMNS = 15, 13


class Teller:
    """Writes lines of text. ``columns`` says how wide the terminal is, None where the output is none."""

    def __init__(self, write: Write, columns: Callable[[], int | None]) -> None:
        self._write_line = write
        self._columns = columns

    def write(self, line: str, indent: int = 0) -> None:
        """One line, folded at the terminal's width, all but its first part indented."""
        for part in folded(line, self._columns(), indent):
            self._write_line(part)

    def failure(self, failure: Exception) -> None:
        """What went wrong, one fault a line."""
        text = str(failure)
        if not isinstance(failure, LessonFaults):  # they begin with the name of a file
            text = text[:1].upper() + text[1:]
        for line in text.split("\n"):
            self.write(visible(line))

    def lesson(self, player: Player) -> None:
        """A lesson's title, the engine, and what it is about."""
        lesson = player.lesson
        self.write(f"{visible(lesson.title)} · {visible(lesson.course)}")
        self.engine(player)
        self.write("")
        self._prose(lesson.intro)

    def engine(self, player: Player) -> None:
        """Which engine runs, and where its keys lie."""
        self.write(f"{player.engine.badge} {player.engine.label} · {visible(player.engine.base)}")
        if player.real_locks:
            self.write(player.real_locks)

    def path(self, player: Player) -> None:
        """A path's title, and what comes first."""
        path = player.path
        self.write("")
        self.write(f"path {visible(path.name)}: {visible(path.title)}")
        self.coming(player)

    def coming(self, player: Player) -> None:
        """What to look at in the next step, and its question; at a race, who else may run."""
        coming = player.coming
        self.write("")
        if coming is None:
            for verdict in verdicts(player.walk.frames):
                self.write(verdict.told)
            self.write("The path ends here. r starts it again, p chooses another, q leaves.")
            return
        number, of = player.taken + 1, len(player.path.steps)
        self.write(f"next, step {number} of {of} · {visible(coming.heading)}")
        self._prose(coming.say)
        self._prose(coming.ask, "? ")
        if player.other is not None:
            for actor, step in player.turns.items():
                key = {coming.turn: "→", player.other: "o"}.get(actor, " ")
                self.write(f"{key} {visible(step.heading)}", SIGN_COLUMNS)

    def frame(self, player: Player) -> None:
        """The frame that is shown: its readout, and the places after it."""
        walk = player.walk
        frame = walk.frame
        of = len(player.path.steps)
        self.write("")
        if frame is None:
            self.write("before the first step")
        else:
            label = frame.step.heading if frame.step else "between two steps"
            self.write(f"step {player.shown_step} of {of} · {visible(label)}")
            self._readout(player.machine, frame, walk.frames[: walk.cursor - 1])
        self.write("")
        for line in picture_lines(player.machine, walk.shown, frame):
            self.write(line, SIGN_COLUMNS)

    def explored(self, engine: str, machine: Machine, frame: Frame, earlier: Sequence[Frame]) -> None:
        """A frame of a throw-away walk on that engine."""
        self.write(f"on {engine}; this lesson's keys are untouched")
        self._readout(machine, frame, earlier)
        for line in picture_lines(machine, frame.after, frame):
            self.write(line, SIGN_COLUMNS)

    def inside(self, xray: Xray, title: str) -> None:
        """What a script that ran to its end in the debugger did, line by line."""
        for text in told(xray, title):
            self.write(visible(text), INSIDE_COLUMNS)

    def issued(self, player: Player) -> None:
        """The commands that the shown frame's script issued, where the engine tells them."""
        for line in issued_lines(player.walk.frame, player.space.base):
            self.write(visible(line.text), LABEL_COLUMNS)

    def layers(self, player: Player) -> None:
        """What the frame's script looks at, layer by layer, where its machine tells that."""
        machine, frame = player.machine, player.walk.frame
        layers = machine.layers(frame) if machine.layers is not None and frame is not None else ()
        for name, text in layers or (("", "There are no layers to tell here."),):
            self.write(f"{name}  {text}".strip(), 4)

    def wire(self, player: Player) -> None:
        """The frame's calls as they went over the wire."""
        base, unwatched = player.space.base, player.engine.may("watch")
        for line in wire_log(player.walk.frame, base, unwatched):
            self.write(visible(line.text), LABEL_COLUMNS if line.label else 0)

    def codes(self, player: Player) -> None:
        """What the machine's codes mean."""
        for name, text in player.machine.codes or (("", "This machine has no codes: its refusals are words."),):
            self.write(f"{name}  {text}".strip(), 4)

    def help(self) -> None:
        """Every key that works here."""
        for action in ACTIONS:
            if action.plain:
                keys = " ".join(sign(key) for key in action.keys)
                self.write(f"  {keys:<10} {action.help}", KEY_COLUMNS)

    def _readout(self, machine: Machine, frame: Frame, earlier: Sequence[Frame]) -> None:
        for line in readout(machine, frame, earlier):
            self.write(visible(line.text), LABEL_COLUMNS if line.label else 0)

    def _prose(self, markdown: str, lead: str = "") -> None:
        columns = min(self._columns() or PROSE_COLUMNS, WIDEST_PROSE_COLUMNS)
        for line in unmarked(markdown):
            for part in folded(lead + visible(line), columns, 2 if lead or line.startswith("- ") else 0):
                self._write_line(part)
            lead = ""
