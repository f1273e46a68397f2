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
from visualizer.plain.telling import Teller
from visualizer.player import DeadlinePassedError, Player, why_not_here
from visualizer.race import NO_CHOICE
from visualizer.terminal_keys import Keys
from visualizer.visible import visible
from visualizer.xray import Xray

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
        self._teller = Teller(write, columns)
        self._write = self._teller.write
        self._load = load
        self._open_engine = open_engine
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
            "layers": lambda: self._teller.layers(self._player),
            "wire": lambda: self._teller.wire(self._player),
            "codes": lambda: self._teller.codes(self._player),
            "help": self._teller.help,
        }

    def run(self) -> None:
        """Tells the lesson from the path it stands on, and does what the keys say."""
        try:
            self._teller.lesson(self._player)
            self._teller.path(self._player)
            while (key := self._keys.press()) is not None:
                action = _ACTION_OF_KEY.get("space" if key == "enter" else key)
                if action is None:
                    self._write(f"{visible(sign(key), 12)} is no key here; ? lists them.")
                    continue
                self._write(f"> {action.label}")
                if action.name == "quit":
                    return
                doing = self._doing.get(action.name)
                if action.name == "prove":
                    self._write("The proof is a command of its own: leave with q and run visualizer prove")
                elif doing is None:
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
            self._teller.failure(failure)
        except (EngineError, RedisError) as failure:
            told = self._engine.failure(failure)
            self._teller.failure(told)
            if isinstance(told, EngineGone):
                self._write("What ran before can still be looked at; r starts the path again.")

    @property
    def _engine(self) -> Engine:
        return self._player.engine

    # Doing ------------------------------------------------------------------------------------------------------------

    def _step(self) -> None:
        player = self._player
        if player.walk.at_end and player.coming is None:
            self._teller.coming(self._player)
            return
        player.step()
        self._teller.frame(self._player)
        if player.walk.at_end:
            self._teller.coming(self._player)

    def _other(self) -> None:
        actor = self._player.other
        if actor is None:
            self._write(NO_CHOICE)
            return
        self._player.take_turn(actor)
        self._teller.frame(self._player)
        self._teller.coming(self._player)

    def _pass(self) -> None:
        if not self._player.machine.own_clock:
            self._write("This lesson has no clock of its own: its times are the server's.")
            return
        self._player.let_time_pass(PASS_MS)
        self._teller.frame(self._player)

    def _look_inside(self) -> None:
        player = self._player
        frame = player.walk.frame
        number = player.number_of(frame) if frame is not None else player.taken + 1
        try:
            xray = Xray(source_of(player, frame))
        except NoXrayError as none:
            self._write(str(none))
            self._teller.issued(player)
            return
        try:
            xray.to_end()
            self._teller.inside(xray, f"step {number}")
        except DebuggerError as failure:
            self._write(f"The preview broke off: {failure}. The lesson is untouched.")
        finally:
            xray.close()

    def _look(self, move: Callable[[], object]) -> None:
        move()
        self._teller.frame(self._player)
        if self._player.walk.at_end:
            self._teller.coming(self._player)

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
        self._teller.path(self._player)

    def _start_on_a_new_engine(self) -> None:
        """The path from its start, on the engine opened again; where that fails, what was walked is kept."""
        self._forget_explorer()
        path = self._player.path.name
        player = Player(self._player.lesson, self._open_engine(self._engine.queue), watch=True)
        player.choose(path)
        self._player = player
        self._teller.engine(self._player)

    def _rewind(self) -> None:
        _, how = self._player.rewind()
        self._write(how)
        self._teller.frame(self._player)
        self._teller.coming(self._player)

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
        self._teller.path(self._player)

    def _choose_lesson(self) -> None:
        name = choose_lesson(self._keys, self._write)
        if name is not None:
            self._player = Player(self._load(name), self._engine, watch=True)
            self._player.restart()
            self._forget_explorer()
            self._teller.lesson(self._player)
            self._teller.path(self._player)

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
        self._teller.explored(self._explore().engine_name, self._player.machine, frame, earlier)

    def _explore(self) -> Explorer:
        if self._explorer is None:
            self._explorer = Explorer(self._engine, self._player.machine)
        return self._explorer

    def _forget_explorer(self) -> None:
        """Its engine ends, and a lesson on another machine gets one of its own."""
        if self._explorer is not None:
            self._explorer.close()
            self._explorer = None
