"""A small screen that asks for one of several things, and the screen that tells every key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from visualizer.actions import ACTIONS, GROUPS, Action, sign


class Choice(Struct, frozen=True):
    """One thing to choose: the value that comes back, its name, a sentence about it."""

    value: str
    name: str
    about: str = ""


class ChoiceScreen(ModalScreen[str | None]):
    """Answers the chosen value, None where the learner changed their mind."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "leave")]

    def __init__(self, title: str, choices: Sequence[Choice], current: str | None = None) -> None:
        super().__init__()
        self._title = title
        self._choices = tuple(choices)
        self._current = current
        self._typed = ""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="choice") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("enter chooses · esc leaves")
            yield OptionList(*(Option(_label(choice), id=str(at)) for at, choice in enumerate(self._choices)))

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        values = [choice.value for choice in self._choices]
        options.highlighted = values.index(self._current) if self._current in values else 0
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index].value)

    def on_key(self, event: events.Key) -> None:
        """Digits go to the choice of that number."""
        if event.character is None or not event.character.isdigit():
            self._typed = ""
            return
        values = [choice.value for choice in self._choices]
        for typed in (self._typed + event.character, event.character):
            if typed in values:
                self._typed = typed
                self.query_one(OptionList).highlighted = values.index(typed)
                return

    def action_leave(self) -> None:
        self.dismiss(None)


def _label(choice: Choice) -> Content:
    return Content.assemble((choice.name, "bold"), (f"  {choice.about}" if choice.about else "", ""))


class PageScreen(ModalScreen[None]):
    """A page of entries: a name and what there is to say of it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,k,enter", "leave", "leave")]

    def __init__(self, title: str, entries: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title = title
        self._entries = tuple(entries)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help-box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("esc leaves · ↑ ↓ scroll")
            parts = [Content.assemble((name, "bold $now"), f"\n{text}") for name, text in self._entries]
            yield Static(Content("\n\n").join(parts), markup=False)

    def action_leave(self) -> None:
        self.dismiss(None)


_MARKS = (
    ("+", "$entered", "the id entered this place"),
    ("−", "$left", "the id left this place"),
    ("~", "$now", "the id stayed, its score is new"),
    ("•", "$strong", "the step's job, where it rests"),
    ("!", "$error", "a member without a row"),
    ("?", "$quiet", "a foreign member: not a branded id, so not a job"),
)


class HelpScreen(ModalScreen[None]):
    """Every key, from the one table of actions, and what the marks mean."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,h,enter", "leave", "leave")]

    def __init__(self, actions: Sequence[Action] = ACTIONS, marks: Sequence[tuple[str, str, str]] = _MARKS) -> None:
        super().__init__()
        self._actions = tuple(actions)
        self._marks = tuple(marks)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help-box") as box:
            box.border_title = Content("help")
            box.border_subtitle = Content("esc leaves · ↑ ↓ scroll")
            yield Static(_help(self._actions, self._marks), markup=False)

    def action_leave(self) -> None:
        self.dismiss(None)


def _help(actions: Sequence[Action], marks: Sequence[tuple[str, str, str]]) -> Content:
    lines: list[Content] = []
    for group, title in GROUPS.items():
        of_group = [action for action in actions if action.group == group]
        if not of_group:
            continue
        lines.append(Content.styled(title, "bold $now"))
        for action in of_group:
            keys = " ".join(sign(key) for key in action.keys)
            lines.append(Content.assemble((f"  {keys:<14}", "bold"), action.help))
        lines.append(Content(""))
    lines.append(Content.styled("The marks", "bold $now"))
    lines.extend(Content.assemble((f"  {mark:<14}", f"bold {style}"), meaning) for mark, style, meaning in marks)
    lines.append(Content(""))
    lines.append(Content("↑ and ↓ scroll the panel that has the focus. All times are UTC, by the server's clock."))
    return Content("\n").join(lines)
