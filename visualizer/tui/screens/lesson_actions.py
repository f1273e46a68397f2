"""What each action of the table does on the lesson screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from visualizer.actions import PASS_MS
from visualizer.model import Walk
from visualizer.player import Player
from visualizer.steps import waits_until
from visualizer.tui.screens import autoplay
from visualizer.tui.screens.choice import Choice, ChoiceScreen, HelpScreen, PageScreen
from visualizer.tui.screens.lesson_view import LessonView, never
from visualizer.tui.telling import lines_of
from visualizer.tui.widgets.lua_panel import LuaPanel
from visualizer.visible import visible

if TYPE_CHECKING:
    from visualizer.tui.app import VisualizerApp
    from visualizer.tui.screens.lesson import LessonScreen

# What works while a step runs: nothing that would touch the engine.
_ALWAYS = frozenset({"help", "quit", "commands", "panel", "zoom", "picture", "copy", "fold", "lesson", "prove"})


def applies(screen: LessonScreen, name: str) -> bool:
    """Whether the action does something at this moment."""
    scene = screen.scene
    if name in _ALWAYS:
        return True
    if scene is not None and name in never(scene):
        return False
    if name in ("layers", "codes", "wire"):
        return True
    if scene is None or scene.running:
        return name == "autoplay" and screen.autoplay is not None
    if scene.trouble or scene.walk is None:
        return name == "restart" or (scene.walk is not None and name in ("back", "first", "last"))
    walk = scene.walk
    if name in ("step", "autoplay"):
        return not walk.at_end or scene.step < len(scene.path.steps) or screen.autoplay is not None
    if name in ("back", "first"):
        return walk.cursor > 0
    if name == "pass":
        return walk.at_end
    if name == "other":
        return walk.at_end and scene.other is not None
    if name in ("last", "rewind"):
        return not walk.at_end
    if name in ("faster", "slower"):
        return screen.autoplay is not None
    return True


def engine_failure(player: Player | None, failure: Exception) -> Exception | None:
    """A client's exception as an engine's sentence; None where it is not the engine's."""
    from redis import RedisError

    if player is None or not isinstance(failure, RedisError):
        return None
    return player.engine.failure(failure)


# Walking --------------------------------------------------------------------------------------------------------------


def _step(screen: LessonScreen) -> None:
    scene, player = screen.scene, screen.player
    if scene is None or scene.walk is None or player is None:
        return
    coming = scene.next_step
    until_ms: int | None = None
    name = coming.heading if coming else "step"
    if coming is not None and scene.walk.at_end:
        until_ms = waits_until(scene.machine, scene.walk.shown, coming)
        name = name if until_ms is None else "waiting"
    screen.work(name, player.step, until_ms)


def _other(screen: LessonScreen) -> None:
    scene, player = screen.scene, screen.player
    if scene is None or scene.other is None or player is None:
        return
    actor, step = scene.other, scene.turns[scene.other]
    screen.work(step.heading, lambda: player.take_turn(actor))


def _moving(move: Callable[[Player], Walk]) -> Callable[[LessonScreen], None]:
    """An action that only moves the cursor: nothing is called, so it needs no thread."""

    def act(screen: LessonScreen) -> None:
        if screen.player is not None:
            move(screen.player)
            screen.post_message(screen.Answered(screen.player, ""))

    return act


def _restart(screen: LessonScreen) -> None:
    autoplay.stop(screen)
    scene, player = screen.scene, screen.player
    if scene is not None and (scene.trouble or player is None):
        screen.open_engine()
    elif player is not None:
        screen.work("starting again", player.restart)


def _rewind(screen: LessonScreen) -> None:
    player = screen.player
    if player is not None:
        screen.work("rewinding", lambda: player.rewind()[1])


def _jump(screen: LessonScreen) -> None:
    scene, player = screen.scene, screen.player
    if scene is None or player is None:
        return
    steps = scene.path.steps
    choices = [Choice("0", " 0  the start")]
    choices += [
        Choice(str(number), f"{number:>2}  {visible(step.heading)}", "" if number <= scene.taken else "runs up to here")
        for number, step in enumerate(steps, start=1)
    ]

    def chosen(value: str | None) -> None:
        if value is not None:
            screen.work(f"going to step {value}", lambda: player.jump(int(value)))

    screen.app.push_screen(ChoiceScreen("jump to a step", choices, str(scene.step)), chosen)


# Choosing -------------------------------------------------------------------------------------------------------------


def _path(screen: LessonScreen) -> None:
    scene, player = screen.scene, screen.player
    if scene is None or player is None:
        return
    choices = [Choice(path.name, visible(path.name), visible(path.title)) for path in screen.lesson.paths]

    def chosen(name: str | None) -> None:
        if name is not None:
            autoplay.stop(screen)
            screen.work(f"opening {name}", lambda: player.choose(name))

    screen.app.push_screen(ChoiceScreen("choose a path", choices, scene.path.name), chosen)


def _lesson(screen: LessonScreen) -> None:
    app = cast("VisualizerApp", screen.app)
    choices = [Choice(lesson.slug, visible(lesson.title), visible(lesson.course)) for lesson in app.lessons]

    def chosen(slug: str | None) -> None:
        if slug is None or slug == screen.lesson.slug:
            return
        if screen.player is not None:
            screen.player.leave()
        screen.dismiss(None)
        app.open_lesson(next(lesson for lesson in app.lessons if lesson.slug == slug))

    screen.app.push_screen(ChoiceScreen("choose a lesson", choices, screen.lesson.slug), chosen)


def explore(screen: LessonScreen, state: str | None = None, *, transitions: bool = False) -> None:
    """Opens the screen that answers "select a state" or "select a transition" on a throw-away engine."""
    if screen.player is None or screen.scene is None:
        return
    from visualizer.tui.screens.explore import ExploreScreen

    screen.app.push_screen(ExploreScreen(screen.scene.machine, screen.player.engine, state, transitions=transitions))


# Looking and keeping --------------------------------------------------------------------------------------------------


def _pass(screen: LessonScreen) -> None:
    player = screen.player
    if player is not None:
        screen.work("time passes", lambda: player.let_time_pass(PASS_MS))


def _inside(screen: LessonScreen) -> None:
    player, scene = screen.player, screen.scene
    if player is None or scene is None or scene.walk is None:
        return
    autoplay.stop(screen)
    from visualizer.tui.screens.xray import Traced, XrayScreen  # imported late: the first frame does not wait for it

    def left(traced: tuple[Traced, ...] | None) -> None:
        for each in traced or ():
            screen.traces[player.path.name, each.number] = each.trace
        screen.post_message(screen.Answered(player, ""))

    screen.app.push_screen(XrayScreen(player, scene.frame), left)


def _layers(screen: LessonScreen) -> None:
    if screen.scene is not None:
        layers = screen.scene.wire or not screen.scene.layers
        screen.scene = replace(screen.scene, layers=layers, wire=False)
        if screen.scene.layers:
            screen.query_one(LessonView).show_panel("lua")


def _wire(screen: LessonScreen) -> None:
    if screen.scene is None:
        return
    zoomed = screen.maximized is not None
    screen.minimize()
    screen.scene = replace(screen.scene, wire=not screen.scene.wire)
    view = screen.query_one(LessonView)
    view.show_panel("wire" if screen.scene.wire else "lua")
    if zoomed:
        screen.maximize(view.focused_panel, container=False)


def _codes(screen: LessonScreen) -> None:
    if screen.scene is not None:
        screen.app.push_screen(PageScreen("the codes", screen.scene.machine.codes))


def _zoom(screen: LessonScreen) -> None:
    if screen.maximized is not None:
        screen.minimize()
    else:
        screen.maximize(screen.query_one(LessonView).focused_panel, container=False)


def _prove(screen: LessonScreen) -> None:
    """On an engine of its own: the lesson's is not touched."""
    autoplay.stop(screen)
    cast("VisualizerApp", screen.app).open_proof()


def _copy(screen: LessonScreen) -> None:
    if screen.scene is not None:
        lines = lines_of(screen.scene)
        screen.app.copy_to_clipboard("\n".join(line.text for line in lines))
        screen.notify(f"The readout's {len(lines)} lines were given to the terminal's clipboard.", markup=False)


def _picture(screen: LessonScreen) -> None:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    name = f"visualizer-{screen.lesson.slug}-{stamp}.svg"
    try:
        Path(name).write_text(screen.app.export_screenshot(), encoding="utf-8")
    except OSError as failure:
        told = f"The picture could not be saved: {failure.strerror}. Start the visualizer in a folder you may write to."
        screen.notify(told, severity="error", markup=False)
    else:
        screen.notify(f"Saved {name} in {Path.cwd()}", markup=False)


def _help(screen: LessonScreen) -> None:
    screen.app.push_screen(HelpScreen())


DO: dict[str, Callable[[LessonScreen], None]] = {
    "step": _step,
    "other": _other,
    "back": _moving(Player.back),
    "first": _moving(Player.first),
    "last": _moving(Player.last),
    "jump": _jump,
    "restart": _restart,
    "rewind": _rewind,
    "autoplay": lambda screen: autoplay.toggle(screen, _step),
    "faster": lambda screen: autoplay.pace(screen, 0.5, _step),
    "slower": lambda screen: autoplay.pace(screen, 2.0, _step),
    "path": _path,
    "lesson": _lesson,
    "state": explore,
    "transition": lambda screen: explore(screen, transitions=True),
    "panel": lambda screen: screen.query_one(LessonView).next_panel(),
    "pass": _pass,
    "inside": _inside,
    "layers": _layers,
    "wire": _wire,
    "codes": _codes,
    "zoom": _zoom,
    "fold": lambda screen: screen.query_one(LuaPanel).toggle_fold(),
    "prove": _prove,
    "copy": _copy,
    "picture": _picture,
    "commands": lambda screen: screen.app.action_command_palette(),
    "help": _help,
    "quit": lambda screen: screen.app.exit(0),
}
