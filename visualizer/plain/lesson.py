"""Drives one lesson by single keys and tells it in lines of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from visualizer.actions import ACTIONS, PASS_MS, sign
from visualizer.called import NoXrayError
from visualizer.debugger import DebuggerError
from visualizer.engine import Engine, EngineError, EngineGone
from visualizer.explore import Explorer, UnknownChoiceError
from visualizer.lesson import Lesson, LessonFaults, UnknownLessonError
from visualizer.look_inside import source_of
from visualizer.model import Frame
from visualizer.plain.prompt import Write, choose, choose_lesson
from visualizer.plain.text import folded, picture_lines, unmarked
from visualizer.player import DeadlinePassedError, Player, why_not_here
from visualizer.readout import readout
from visualizer.terminal_keys import Keys
from visualizer.visible import visible
from visualizer.wire_log import issued_lines, wire_log
from visualizer.xray import Xray
from visualizer.xray_lines import told

# Prose is wrapped at this width where the output is no terminal, and at this width at most where it is one.
PROSE_COLUMNS, WIDEST_PROSE_COLUMNS = 80, 100
# Where the words of a readout's line begin, behind its label, and the members of a place, behind its sign.
LABEL_COLUMNS, SIGN_COLUMNS = 7, 2

_ACTION_OF_KEY = {key: action for action in ACTIONS for key in action.keys}


class PlainLesson:
    """One lesson on one engine, driven by keys until they end or say quit.

    ``load`` reads a lesson by its name. ``open_engine`` opens the engine again, with the queue of that name, when it is
    gone; whoever gave it closes it. ``columns`` says how wide the terminal is, None where the output is none.
    """

    def __init__(
        self,
        player: Player,
        keys: Keys,
        write: Write,
        load: Callable[[str], Lesson],
        open_engine: Callable[[str], Engine],
        columns: Callable[[], int | None],
    ) -> None:
        self._player = player
        self._keys = keys
        self._write_line = write
        self._load = load
        self._open_engine = open_engine
        self._columns = columns
        self._explorer: Explorer | None = None
        self._doing: dict[str, Callable[[], None]] = {
            "step": self._step,
            "other": self._other,
            "back": lambda: self._look(self._player.back),
            "first": lambda: self._look(self._player.first),
            "last": lambda: self._look(self._player.last),
            "jump": self._jump,
            "restart": self._restart,
            "rewind": self._rewind,
            "path": self._choose_path,
            "lesson": self._choose_lesson,
            "state": self._choose_state,
            "transition": self._choose_transition,
            "pass": self._pass,
            "inside": self._look_inside,
            "layers": self._tell_layers,
            "wire": self._tell_wire,
            "codes": self._tell_codes,
            "help": self._help,
        }

    def run(self) -> None:
        """Tells the lesson from the path it stands on, and does what the keys say."""
        try:
            self._tell_lesson()
            self._tell_path()
            while (key := self._keys.press()) is not None:
                action = _ACTION_OF_KEY.get("space" if key == "enter" else key)
                if action is None:
                    self._write(f"{visible(sign(key), 12)} is no key here; ? lists them.")
                    continue
                self._write(f"> {action.label}")
                if action.name == "quit":
                    return
                doing = self._doing.get(action.name)
                if doing is None:
                    self._write(f"This needs the screen: {action.help}")
                else:
                    self._attempt(doing)
        finally:
            self._forget_explorer()

    def _attempt(self, doing: Callable[[], None]) -> None:
        """Does one action; what goes wrong is told, and the lesson goes on."""
        from redis.exceptions import RedisError  # imported late: the engine has loaded it by now

        try:
            doing()
        except (LessonFaults, UnknownChoiceError, UnknownLessonError, DeadlinePassedError) as failure:
            self._tell_failure(failure)
        except (EngineError, RedisError) as failure:
            told = self._engine.failure(failure)
            self._tell_failure(told)
            if isinstance(told, EngineGone):
                self._write("What ran before can still be looked at; r starts the path again.")

    @property
    def _engine(self) -> Engine:
        return self._player.engine

    # Telling ----------------------------------------------------------------------------------------------------------

    def _write(self, line: str, indent: int = 0) -> None:
        for part in folded(line, self._columns(), indent):
            self._write_line(part)

    def _tell_failure(self, failure: Exception) -> None:
        text = str(failure)
        if not isinstance(failure, LessonFaults):  # they begin with the name of a file
            text = text[:1].upper() + text[1:]
        for line in text.split("\n"):
            self._write(visible(line))

    def _tell_lesson(self) -> None:
        lesson = self._player.lesson
        self._write(f"{visible(lesson.title)} · {visible(lesson.course)}")
        self._tell_engine()
        self._write("")
        self._prose(lesson.intro)

    def _tell_engine(self) -> None:
        self._write(f"{self._engine.badge} {self._engine.label} · {visible(self._engine.base)}")
        if self._player.real_locks:
            self._write(self._player.real_locks)

    def _tell_path(self) -> None:
        path = self._player.path
        self._write("")
        self._write(f"path {visible(path.name)}: {visible(path.title)}")
        self._tell_coming()

    def _tell_coming(self) -> None:
        coming = self._player.coming
        self._write("")
        if coming is None:
            self._write("The path ends here. r starts it again, p chooses another, q leaves.")
            return
        number, of = self._player.taken + 1, len(self._player.path.steps)
        self._write(f"next, step {number} of {of} · {visible(coming.heading)}")
        self._prose(coming.say)
        self._prose(coming.ask, "? ")
        if self._player.other is not None:
            for actor, step in self._player.turns.items():
                key = {coming.turn: "→", self._player.other: "o"}.get(actor, " ")
                self._write(f"{key} {visible(step.heading)}", SIGN_COLUMNS)

    def _tell_frame(self) -> None:
        walk = self._player.walk
        frame = walk.frame
        of = len(self._player.path.steps)
        self._write("")
        if frame is None:
            self._write("before the first step")
        else:
            label = frame.step.heading if frame.step else "between two steps"
            self._write(f"step {self._player.shown_step} of {of} · {visible(label)}")
            self._readout(frame, walk.frames[: walk.cursor - 1])
        self._write("")
        for line in picture_lines(self._player.machine, walk.shown, frame):
            self._write(line, SIGN_COLUMNS)

    def _readout(self, frame: Frame, earlier: Sequence[Frame]) -> None:
        for line in readout(self._player.machine, frame, earlier):
            self._write(visible(line.text), LABEL_COLUMNS if line.label else 0)

    def _prose(self, markdown: str, lead: str = "") -> None:
        columns = min(self._columns() or PROSE_COLUMNS, WIDEST_PROSE_COLUMNS)
        for line in unmarked(markdown):
            for part in folded(lead + visible(line), columns, 2 if lead or line.startswith("- ") else 0):
                self._write_line(part)
            lead = ""

    # Doing ------------------------------------------------------------------------------------------------------------

    def _step(self) -> None:
        player = self._player
        if player.walk.at_end and player.coming is None:
            self._tell_coming()
            return
        player.step()
        self._tell_frame()
        if player.walk.at_end:
            self._tell_coming()

    def _other(self) -> None:
        actor = self._player.other
        if actor is None:
            self._write("There is no race here in which another actor could run next.")
            return
        self._player.take_turn(actor)
        self._tell_frame()
        self._tell_coming()

    def _pass(self) -> None:
        if not self._player.machine.own_clock:
            self._write("This lesson has no clock of its own: its times are the server's.")
            return
        self._player.let_time_pass(PASS_MS)
        self._tell_frame()

    def _look_inside(self) -> None:
        player = self._player
        frame = player.walk.frame
        number = player.number_of(frame) if frame is not None else player.taken + 1
        try:
            xray = Xray(source_of(player, frame))
        except NoXrayError as none:
            self._write(str(none))
            for line in issued_lines(frame, player.space.base):
                self._write(visible(line.text), LABEL_COLUMNS)
            return
        try:
            xray.to_end()
            for text in told(xray, f"step {number}"):
                self._write(visible(text), 15)
        except DebuggerError as failure:
            self._write(f"The preview broke off: {failure}. The lesson is untouched.")
        finally:
            xray.close()

    def _tell_layers(self) -> None:
        machine, frame = self._player.machine, self._player.walk.frame
        told = machine.layers(frame) if machine.layers is not None and frame is not None else ()
        for name, text in told or (("", "There are no layers to tell here."),):
            self._write(f"{name}  {text}".strip(), 4)

    def _tell_wire(self) -> None:
        base, unwatched = self._player.space.base, self._engine.may("watch")
        for line in wire_log(self._player.walk.frame, base, unwatched):
            self._write(visible(line.text), LABEL_COLUMNS if line.label else 0)

    def _tell_codes(self) -> None:
        for name, text in self._player.machine.codes or (("", "This machine has no codes: its refusals are words."),):
            self._write(f"{name}  {text}".strip(), 4)

    def _look(self, move: Callable[[], object]) -> None:
        move()
        self._tell_frame()
        if self._player.walk.at_end:
            self._tell_coming()

    def _jump(self) -> None:
        last = len(self._player.path.steps)
        self._write(f"To which step? Type a number from 0 to {last}, then enter; esc leaves.")
        answer = (self._keys.line() or "").strip()
        if answer.isdecimal():
            self._look(lambda: self._player.jump(int(answer)))
        else:
            self._write(f"{visible(answer, 20)} is no number of a step." if answer else "Nothing is chosen.")

    def _restart(self) -> None:
        from redis.exceptions import RedisError  # imported late, as above

        try:
            self._player.restart()
        except (EngineError, RedisError) as failure:
            if not isinstance(self._engine.failure(failure), EngineGone):
                raise
            self._start_on_a_new_engine()
        self._tell_path()

    def _start_on_a_new_engine(self) -> None:
        """The path from its start, on the engine opened again; where that fails, what was walked is kept."""
        self._forget_explorer()
        path = self._player.path.name
        player = Player(self._player.lesson, self._open_engine(self._engine.queue), watch=True)
        player.choose(path)
        self._player = player
        self._tell_engine()

    def _rewind(self) -> None:
        _, how = self._player.rewind()
        self._write(how)
        self._tell_frame()
        self._tell_coming()

    def _choose(self, what: str, names: Sequence[str]) -> str | None:
        return choose(what, names, self._keys, self._write)

    def _choose_path(self) -> None:
        name = self._choose("path", [path.name for path in self._player.lesson.paths])
        if name is None:
            return
        why = why_not_here(self._player.lesson.path(name), self._engine)
        if why is not None:
            self._write(why)
            return
        self._player.choose(name)
        self._tell_path()

    def _choose_lesson(self) -> None:
        name = choose_lesson(self._keys, self._write)
        if name is not None:
            self._player = Player(self._load(name), self._engine, watch=True)
            self._player.restart()
            self._forget_explorer()
            self._tell_lesson()
            self._tell_path()

    def _choose_state(self) -> None:
        name = self._choose("state", list(self._player.machine.starts))
        if name is not None:
            walk = self._explore().state(name)
            self._tell_explored(walk.frames[-1], walk.frames[:-1])

    def _choose_transition(self) -> None:
        name = self._choose("transition", list(self._player.machine.shows))
        if name is not None:
            self._tell_explored(*self._explore().transition(name))

    def _tell_explored(self, frame: Frame, earlier: Sequence[Frame]) -> None:
        self._write(f"on {self._explore().engine_name}; this lesson's keys are untouched")
        self._readout(frame, earlier)
        for line in picture_lines(self._player.machine, frame.after, frame):
            self._write(line, SIGN_COLUMNS)

    def _explore(self) -> Explorer:
        if self._explorer is None:
            self._explorer = Explorer(self._engine, self._player.machine)
        return self._explorer

    def _forget_explorer(self) -> None:
        """Its engine ends, and a lesson on another machine gets one of its own."""
        if self._explorer is not None:
            self._explorer.close()
            self._explorer = None

    def _help(self) -> None:
        for action in ACTIONS:
            if action.plain:
                keys = " ".join(sign(key) for key in action.keys)
                self._write(f"  {keys:<10} {action.help}", 13)
