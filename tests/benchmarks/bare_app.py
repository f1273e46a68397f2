"""A bare Textual app: one Static that a key changes. What any app costs, ours is held against it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

FIRST_WORDS = "Nothing has been pressed"


class BareApp(App[None]):
    """Counts key presses in one Static."""

    BINDINGS: ClassVar[list[BindingType]] = [("n", "step", "step"), ("q", "quit", "quit")]

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.label = Static(FIRST_WORDS, markup=False)

    def compose(self) -> ComposeResult:
        yield self.label

    def action_step(self) -> None:
        """Shows one more."""
        self.count += 1
        self.label.update(f"pressed {self.count} times")


if __name__ == "__main__":
    BareApp().run()
