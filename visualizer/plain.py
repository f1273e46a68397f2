"""A lesson as lines of text and single keys: for screen readers, for logs, and where no screen can be drawn."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence

from visualizer.actions import ACTIONS, sign
from visualizer.engine import Engine, EngineError
from visualizer.explore import Explorer, UnknownChoiceError
from visualizer.lesson import Lesson, LessonFaults, UnknownLessonError, all_lessons
from visualizer.lesson_table import prose
from visualizer.model import Frame, Machine, Observation
from visualizer.picture import SIGN, PlaceView, picture
from visualizer.player import DeadlinePassedError, Player, why_not_here
from visualizer.readout import readout
from visualizer.terminal_keys import Keys
from visualizer.visible import short_id, visible

PLACE_SIGN = {"entered": SIGN["entered"], "left": SIGN["left"], "holds": " ", "quiet": " "}
PLACE_WORD = {"entered": "entered", "left": "left", "holds": "", "quiet": ""}
MEMBERS_SHOWN = 6
WIDEST = 100

_ACTION_OF_KEY = {key: action for action in ACTIONS for key in action.keys}

Write = Callable[[str], None]


def picture_lines(machine: Machine, seen: Observation, frame: Frame | None) -> Iterator[str]:
    """The places as text, one a line: a mark and its word, the name, the count, the first members."""
    drawn = picture(machine, seen, frame)
    shown = (*drawn.places, *drawn.lanes)
    width = max(len(visible(place.name)) for place in shown)
    for place in shown:
        head = f"{PLACE_SIGN[place.mark]} {visible(place.name):<{width}} {place.count:>5}"
        tail = "  ".join(_members(place))
        yield f"{head}  {tail}".rstrip()
    for job in drawn.nowhere:
        yield f"! {'nowhere':<{width}} {1:>5}  {short_id(job)} has a row and is in no place"


def _members(place: PlaceView) -> Iterator[str]:
    if place.wrong_type:
        yield f"a {place.wrong_type}, not one of ours"
    for member in place.members[:MEMBERS_SHOWN]:
        word = f"{PLACE_WORD[member.mark]} " if member.mark == "entered" else ""
        mark = SIGN[member.mark].strip()
        yield " ".join(filter(None, (mark, short_id(member.id), word + member.note))).strip()
    more = place.hidden + max(0, len(place.members) - MEMBERS_SHOWN)
    if more:
        yield f"and {more:,} more"


def wrapped(text: str, width: int) -> Iterator[str]:
    """Prose in lines of that many characters, blank lines kept."""
    for paragraph in prose(text).split("\n"):
        yield from textwrap.wrap(visible(paragraph), width) or [""]


def choose_lesson(keys: Keys, write: Write) -> str | None:
    """Lists the lessons and asks for one; None when there is no more input."""
    names = [file.stem for file in all_lessons()]
    return _choose("lesson", names, keys, write)


def _choose(what: str, names: Sequence[str], keys: Keys, write: Write) -> str | None:
    for number, name in enumerate(names, start=1):
        write(f"{number:>3}  {visible(name)}")
    write(f"Which {what}? Type its number or its name, then enter.")
    answer = keys.line()
    if answer is None:
        return None
    chosen = answer.strip()
    if chosen.isdecimal() and 1 <= int(chosen) <= len(names):
        return names[int(chosen) - 1]
    return chosen


class PlainLesson:
    """One lesson on one engine, driven by keys until they end or say quit. ``load`` reads a lesson by its name."""

    def __init__(self, player: Player, keys: Keys, write: Write, load: Callable[[str], Lesson]) -> None:
        self._player = player
        self._keys = keys
        self._write = write
        self._load = load
        self._explorer: Explorer | None = None
        self._width = min(shutil.get_terminal_size().columns, WIDEST)
        self._doing: dict[str, Callable[[], None]] = {
            "step": self._step,
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
        except (LessonFaults, UnknownChoiceError, UnknownLessonError, DeadlinePassedError, EngineError) as failure:
            self._write(str(failure))
        except RedisError as failure:
            self._write(str(self._engine.failure(failure)))
            self._write("What ran before can still be looked at; r starts the path again.")

    @property
    def _engine(self) -> Engine:
        return self._player.engine

    # Telling ----------------------------------------------------------------------------------------------------------

    def _tell_lesson(self) -> None:
        lesson, engine = self._player.lesson, self._engine
        self._write(f"{visible(lesson.title)} · {visible(lesson.course)}")
        self._write(f"{engine.badge} {engine.label} · {visible(engine.base)}")
        self._write("")
        self._prose(lesson.intro)

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
        self._write(f"next, step {number} of {of} · {visible(coming.label)}")
        self._prose(coming.say)
        self._prose(f"? {coming.ask}")

    def _tell_frame(self) -> None:
        walk, machine = self._player.walk, self._player.machine
        frame = walk.frame
        of = len(self._player.path.steps)
        self._write("")
        if frame is None:
            self._write("before the first step")
        else:
            label = frame.step.label if frame.step else "between two steps"
            self._write(f"step {self._player.shown_step} of {of} · {visible(label)}")
            self._readout(frame, walk.frames[: walk.cursor - 1])
        self._write("")
        for line in picture_lines(machine, walk.shown, frame):
            self._write(line)

    def _readout(self, frame: Frame, earlier: Sequence[Frame]) -> None:
        for line in readout(self._player.machine, frame, earlier):
            self._write(visible(line.text))

    def _prose(self, text: str) -> None:
        for line in wrapped(text, self._width):
            self._write(line)

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

    def _look(self, move: Callable[[], object]) -> None:
        move()
        self._tell_frame()
        if self._player.walk.at_end:
            self._tell_coming()

    def _jump(self) -> None:
        self._write(f"To which step? Type a number from 0 to {len(self._player.path.steps)}, then enter.")
        answer = self._keys.line() or ""
        if answer.strip().isdecimal():
            self._look(lambda: self._player.jump(int(answer)))
        else:
            self._write(f"{visible(answer, 20) or 'nothing'} is no number of a step.")

    def _restart(self) -> None:
        from redis.exceptions import RedisError  # imported late, as above

        try:
            self._player.restart()
        except RedisError:
            if self._engine.may("restart") is not None:
                raise
            self._engine.restart()
            self._player.restart()
        self._tell_path()

    def _rewind(self) -> None:
        _, how = self._player.rewind()
        self._write(how)
        self._tell_frame()
        self._tell_coming()

    def _choose_path(self) -> None:
        paths = self._player.lesson.paths
        name = _choose("path", [path.name for path in paths], self._keys, self._write)
        if not name:
            return
        why = why_not_here(self._player.lesson.path(name), self._engine)
        if why is not None:
            self._write(why)
            return
        self._player.choose(name)
        self._tell_path()

    def _choose_lesson(self) -> None:
        name = choose_lesson(self._keys, self._write)
        if name:
            self._player = Player(self._load(name), self._engine)
            self._player.restart()
            self._forget_explorer()
            self._tell_lesson()
            self._tell_path()

    def _choose_state(self) -> None:
        machine = self._player.machine
        name = _choose("state", list(machine.starts), self._keys, self._write)
        if name:
            walk = self._explore().state(name)
            self._tell_explored(walk.frames[-1], walk.frames[:-1])

    def _choose_transition(self) -> None:
        machine = self._player.machine
        name = _choose("transition", list(machine.shows), self._keys, self._write)
        if name:
            self._tell_explored(*self._explore().transition(name))

    def _tell_explored(self, frame: Frame, earlier: Sequence[Frame]) -> None:
        self._write(f"on {self._explore().engine_name}; this lesson's keys are untouched")
        self._readout(frame, earlier)
        for line in picture_lines(self._player.machine, frame.after, frame):
            self._write(line)

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
                self._write(f"  {keys:<10} {action.help}")
