"""The home screen: every lesson, and what the highlighted one is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from visualizer.actions import ACTIONS, Action
from visualizer.lesson import Lesson
from visualizer.tui.prose import prose
from visualizer.tui.screens.choice import HelpScreen
from visualizer.tui.widgets.bars import KeyBar
from visualizer.tui.widgets.strip_panel import TextPanel
from visualizer.visible import visible

if TYPE_CHECKING:
    from visualizer.tui.app import VisualizerApp

_OPEN = Action("open", ("enter",), "open", "Open the highlighted lesson.", 2, "choose")
_HERE = {"prove", "help", "quit", "commands"}


class AboutPanel(TextPanel):
    """The highlighted lesson in its own words."""

    def show(self, lesson: Lesson) -> None:
        paths = Content("\n").join(
            [Content.assemble((f"{visible(path.name):<16}", "bold"), visible(path.title)) for path in lesson.paths]
        )
        parts = [Content.styled(visible(lesson.summary), "bold $strong"), paths, prose(lesson.intro)]
        self.put(f"{visible(lesson.course)} · {visible(lesson.title)}", Content("\n\n").join(parts))


class HomeScreen(Screen[None]):
    """Lists the lessons; Enter opens one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,h", "help", "help"),
        Binding("d", "prove", "proof"),
        Binding("m", "app.command_palette", "more"),
        Binding("q", "app.quit", "quit"),
        Binding("right", "open", "open", show=False),
    ]

    def __init__(self, lessons: tuple[Lesson, ...]) -> None:
        super().__init__()
        self._lessons = lessons

    def compose(self) -> ComposeResult:
        yield Static(
            Content.assemble(
                ("EchoMQ visualizer", "bold $strong"),
                ("\nStep one job through a queue's states while the real Lua runs.", "$quiet"),
            ),
            id="home-title",
        )
        with Horizontal(id="home"):
            options = OptionList(*(Option(_label(lesson)) for lesson in self._lessons))
            options.border_title = Content("lessons")
            yield options
            yield AboutPanel()
        yield KeyBar([_OPEN, *(action for action in ACTIONS if action.name in _HERE)])

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self.query_one(AboutPanel).show(self._lessons[event.option_index])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        cast("VisualizerApp", self.app).open_lesson(self._lessons[event.option_index])

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        if event.action == "open":
            self.action_open()
        elif event.action == "help":
            self.action_help()
        elif event.action == "prove":
            self.action_prove()
        elif event.action == "commands":
            self.app.action_command_palette()
        else:
            self.app.exit()

    def action_open(self) -> None:
        self.query_one(OptionList).action_select()

    def action_prove(self) -> None:
        cast("VisualizerApp", self.app).open_proof()

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())


def _label(lesson: Lesson) -> Content:
    return Content.assemble((f"{visible(lesson.course):<9}", ""), (visible(lesson.title), "bold"))
