"""The regions of the lesson screen: draws one scene, ticks what counts down, and knows which panel has the focus."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from visualizer.actions import ACTIONS
from visualizer.caller import ErrorReply
from visualizer.clock import duration, lesson_time
from visualizer.lane_view import LaneView, lanes_of
from visualizer.picture import OVERDUE_TOLD_MS, picture
from visualizer.trace import plain_error
from visualizer.tui.scene import Scene
from visualizer.tui.telling import lines_of, lua_of, wire_of
from visualizer.tui.widgets.bars import KeyBar, PathLine, TopLine
from visualizer.tui.widgets.board import Board
from visualizer.tui.widgets.lua_panel import UNMARKED, LuaPanel, Marks
from visualizer.tui.widgets.readout_panel import ReadoutPanel
from visualizer.tui.widgets.text_panels import RowPanel, StoryPanel
from visualizer.tui.widgets.wire_panel import WirePanel
from visualizer.visible import visible

# A countdown that ends later than this does not tick: nothing on screen changes that fast.
_TICKING_MS = 60_000
_PANELS = ("story", "lua", "row", "readout")
# The wire log takes the place of what the step ran and wrote.
_WIRE_PANELS = ("story", "wire", "readout")
# Columns below which panels share one place, columns and lines below which the story's panel tells the readout too.
_SHARED_BELOW, _ONE_BELOW, _ONE_BELOW_LINES = 100, 60, 22


class LessonView(Vertical):
    """Everything between the edges of a lesson screen. It holds no state but the scene it draws."""

    def __init__(self, applies: Callable[[str], bool]) -> None:
        super().__init__()
        self._applies = applies
        self._scene: Scene | None = None
        self._countdown: Timer | None = None
        self._panel = "story"

    def compose(self) -> ComposeResult:
        yield TopLine()
        yield PathLine()
        yield Board()
        yield ReadoutPanel(id="readout")
        with Horizontal(id="bottom"):
            yield StoryPanel(id="story")
            yield LuaPanel(id="lua")
            yield RowPanel(id="row")
            yield WirePanel(id="wire")
        yield KeyBar(ACTIONS)

    def on_mount(self) -> None:
        self._countdown = self.set_interval(1, self._tick, pause=True)
        self.show_panel("story")

    # Drawing ----------------------------------------------------------------------------------------------------------

    def show(self, scene: Scene) -> None:
        """Draws a scene; each region repaints only what differs."""
        self._scene = scene
        waiting = "no engine" if scene.trouble else "starting the engine…"
        course = scene.lesson.course if scene.pace == 1 else f"{scene.lesson.course}   pace {scene.pace:g}"
        self.query_one(TopLine).show(scene.lesson.title, course, scene.engine, waiting)
        self._tick()
        lines = lines_of(scene)
        panel = self.query_one(ReadoutPanel)
        panel.show(lines)
        if scene.walk is None or not scene.walk.cursor:
            panel.settle()
        frame = scene.frame
        amiss = frame is not None and (frame.outcome.refused is not None or bool(frame.broken))
        panel.set_class(amiss or bool(scene.trouble), "refused")
        self.query_one(StoryPanel).show(scene, lines if self.screen.has_class("one-panel") else ())
        self.query_one(RowPanel).show(scene)
        lua = lua_of(scene)
        trace = lua.trace
        said = plain_error(trace.reply.text) if trace is not None and isinstance(trace.reply, ErrorReply) else ""
        marks = UNMARKED
        if trace is not None:
            # What a learner wants to find at once: where it wrote last, else where it ended.
            eye = max(trace.wrote or trace.lines, default=0)
            marks = Marks(trace.lines, broken=trace.error_line, error=visible(said), whole=True, eye=eye)
        contract = f"{lua.title}  ↑ its contract" if lua.script is not None else lua.title
        self.query_one(LuaPanel).show(lua.script, contract, lua.note, marks)
        self.set_class(scene.wire, "wire-log")
        if scene.wire:
            self.query_one(WirePanel).show(*wire_of(scene))
        self.query_one(KeyBar).show(self._applies, never(scene))
        if self._countdown is not None and _ticks(scene):
            self._countdown.resume()

    def _tick(self) -> None:
        """Draws what depends on the clock: the board's countdowns, and how long a wait still takes."""
        scene = self._scene
        if scene is None:
            return
        now_ms = _now_ms(scene)
        board = None
        lanes: tuple[LaneView, ...] = ()
        if scene.shown is not None:
            board = picture(scene.machine, scene.shown, scene.frame, now_ms, scene.found)
            lanes = lanes_of(scene.machine, scene.shown, scene.frame, board)
        locks, actors = scene.locks
        self.query_one(Board).show(scene.machine, board, locks, actors, lanes)
        told = scene.running or scene.autoplay
        if scene.machine.own_clock and scene.shown is not None:
            time = (
                f"clock {lesson_time(scene.shown.clock_ms - scene.shown.epoch_ms)}"
                if scene.shown.epoch_ms
                else "real time"
            )
            told = f"{told}   {time}" if told else time
        if scene.until_ms is not None and now_ms is not None:
            told = f"{scene.running}, {duration(max(scene.until_ms - now_ms, 0))}"
        self.query_one(PathLine).show(scene, told)
        if self._countdown is not None and not _ticks(scene):
            self._countdown.pause()

    # Panels -----------------------------------------------------------------------------------------------------------

    @property
    def focused_panel(self) -> Widget:
        """The panel that Tab has reached."""
        return self.query_one(f"#{self._panel}", Widget)

    @property
    def _panels(self) -> tuple[str, ...]:
        return _WIRE_PANELS if self._scene is not None and self._scene.wire else _PANELS

    @property
    def _sharing(self) -> tuple[str, ...]:
        """The panels that share one place on a small screen; the readout then has its own, or leads the story."""
        return self._panels[:-1]

    def next_panel(self) -> None:
        """Shows the next panel, or gives it the focus."""
        order = self._sharing if self.screen.has_class("one-panel") else self._panels
        at = order.index(self._panel) if self._panel in order else -1
        self.show_panel(order[(at + 1) % len(order)])

    def show_panel(self, name: str) -> None:
        """Brings a panel to the front where panels share one place, and gives it the focus."""
        self._panel = name
        if name in self._sharing:
            for panel in self.query("#bottom > *"):
                panel.set_class(panel.id == name, "current")
        self.focused_panel.focus()
        self._label_panels()

    def _label_panels(self) -> None:
        """Where panels share one place, the shown one names the others."""
        for name in self._sharing:
            others = " · ".join(other for other in self._sharing if other != name)
            told = f"tab: {others}" if self.screen.has_class("shared") else ""
            self.query_one(f"#{name}", Widget).border_subtitle = Content(told)

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.screen.set_class(width < _SHARED_BELOW or height < _ONE_BELOW_LINES, "shared")
        self.screen.set_class(width < _ONE_BELOW or height < _ONE_BELOW_LINES, "one-panel")
        self._label_panels()
        if self._scene is not None:
            self.show(self._scene)


def never(scene: Scene) -> frozenset[str]:
    """The actions that have nothing to do on this path of this machine."""
    machine = scene.machine
    there = {
        "pass": machine.own_clock,
        "layers": machine.layers is not None,
        "codes": bool(machine.codes),
        "other": any(step.turn for step in scene.path.steps),
    }
    return frozenset(name for name, has in there.items() if not has)


def _now_ms(scene: Scene) -> float | None:
    """The server's clock now, by the last reading and our own monotonic clock; None while looking back, and where a
    lesson's own clock stands still."""
    if scene.walk is None or not scene.walk.at_end or scene.shown is None or scene.shown.epoch_ms:
        return None
    return scene.shown.clock_ms + (monotonic() - scene.read_at) * 1000


def _ticks(scene: Scene) -> bool:
    """Whether something on the screen counts down, or has run out just now."""
    now_ms = _now_ms(scene)
    if now_ms is None or scene.shown is None:
        return False
    if scene.until_ms is not None:
        return True
    instants_ms = (
        scene.machine.read_score(name, member.score).at_ms
        for name, reading in scene.shown.places.items()
        if scene.machine.place(name).scored in ("deadline", "due")
        for member in reading.members
        if member.score is not None
    )
    return any(at_ms is not None and -OVERDUE_TOLD_MS - 1_000 < at_ms - now_ms < _TICKING_MS for at_ms in instants_ms)
