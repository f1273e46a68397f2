"""The one table of what a learner can do: bindings, footer, help, command palette and plain mode all read it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Group = Literal["walk", "choose", "look", "keep", "program"]
GROUPS: dict[Group, str] = {
    "walk": "Walking",
    "choose": "Choosing",
    "look": "Looking",
    "keep": "Keeping",
    "program": "The program",
}


# How far the lesson's own clock goes at one press.
PASS_MS = 5_000


class Action(Struct, frozen=True):
    """One action. ``keys`` are Textual key names, the first one is shown; none needs a modifier.

    ``label`` stands in the footer, ``help`` is a sentence. The footer keeps the actions with the lowest ``rank``
    longest as it narrows. ``plain`` says that it exists without a screen.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    rank: int
    group: Group
    plain: bool = True


ACTIONS: tuple[Action, ...] = (
    Action("step", ("right", "space", "n"), "step", "Run the path's next step, or go forward one frame.", 2, "walk"),
    Action("back", ("left", "b"), "back", "Look at the frame before; nothing is run or undone.", 3, "walk"),
    Action("first", ("home", "g"), "first", "Go back to the start of the walk.", 14, "walk"),
    Action("last", ("end", "e"), "last", "Go to the newest frame.", 15, "walk"),
    Action("other", ("o",), "other", "In a race, let the other actor run next.", 4, "walk"),
    Action("jump", ("j",), "jump", "Go to a step by its number; steps before it are run.", 13, "walk"),
    Action("restart", ("r",), "restart", "Empty the queue and start this path again.", 5, "walk"),
    Action("rewind", ("w",), "rewind", "Put the queue back to this frame and drop what came after.", 10, "walk"),
    Action(
        "autoplay", ("a",), "autoplay", "Step by itself until the path's end; again to stop.", 9, "walk", plain=False
    ),
    Action("faster", ("plus", "equals_sign"), "faster", "Autoplay faster.", 18, "walk", plain=False),
    Action("slower", ("minus",), "slower", "Autoplay slower.", 19, "walk", plain=False),
    Action("path", ("p",), "path", "Choose another path of this lesson.", 4, "choose"),
    Action("lesson", ("l",), "lessons", "Choose another lesson.", 8, "choose"),
    Action("state", ("s",), "state", "Select a state: see a job placed there by running its scripts.", 7, "choose"),
    Action(
        "transition", ("t",), "transition", "Select a transition: see what it leaves, enters and writes.", 8, "choose"
    ),
    Action(
        "panel",
        ("tab",),
        "panel",
        "Go to the next panel: story, Lua, row, readout; ↑ and ↓ scroll it.",
        11,
        "look",
        plain=False,
    ),
    Action(
        "zoom", ("z",), "zoom", "Give the focused panel the whole screen; again to go back.", 12, "look", plain=False
    ),
    Action("pass", ("full_stop",), "time", "Let 5 seconds of the lesson's own clock pass.", 8, "walk"),
    Action("inside", ("x",), "inside", "Look inside the script: step it line by line on a copy.", 6, "look"),
    Action("layers", ("y",), "layers", "Show the step at its four layers, or its Lua again.", 13, "look"),
    Action("wire", ("i",), "wire", "Show every call of this step as it went over the wire.", 9, "look"),
    Action("codes", ("k",), "codes", "Show the page of codes, −1 to −11.", 13, "look"),
    Action("fold", ("f",), "fold", "Fold or unfold the steps that Lua scripts share.", 17, "look", plain=False),
    Action(
        "prove",
        ("d",),
        "proof",
        "Prove the laws: many processes at once, on a private Valkey beside the lesson.",
        13,
        "look",
        plain=False,
    ),
    Action("copy", ("c",), "copy", "Copy the readout to the clipboard.", 16, "keep", plain=False),
    Action("picture", ("v",), "picture", "Save the screen as an SVG picture.", 20, "keep", plain=False),
    Action("commands", ("m",), "more", "Open the command palette: every action by name.", 12, "program", plain=False),
    Action("help", ("question_mark", "h"), "help", "Show every key and what the screen means.", 1, "program"),
    Action("quit", ("q",), "quit", "Leave; the private server goes too.", 0, "program"),
)

# What a learner can do inside a script, on the screen that `inside` opens.
INSIDE: tuple[Action, ...] = (
    Action("line", ("right", "space"), "next line", "Run one line; among lines that ran, go forward.", 2, "walk"),
    Action("line_back", ("left",), "line back", "Look at the line before as it was read; nothing runs.", 4, "walk"),
    Action("write", ("w",), "to next write", "Run until a line has written; it stops after that line.", 5, "walk"),
    Action("end", ("e", "end"), "to end", "Run to the script's end.", 6, "walk"),
    Action("first_line", ("g", "home"), "first line", "Look at the first line again.", 12, "walk"),
    Action("up", ("up",), "up", "Choose the line above; in another panel, scroll.", 13, "choose"),
    Action("down", ("down",), "down", "Choose the line below; in another panel, scroll.", 14, "choose"),
    Action("breakpoint", ("b",), "breakpoint", "Set a breakpoint on the chosen line, or clear it.", 7, "choose"),
    Action(
        "continue", ("c",), "run to it", "Run to the next breakpoint; without one, to the chosen line.", 7, "choose"
    ),
    Action("later", ("n",), "next step", "Look into the next step: one that ran, or the one to come.", 9, "choose"),
    Action("earlier", ("p",), "step before", "Look into the step before.", 10, "choose"),
    Action("panel", ("tab",), "panel", "Go to the next panel: Lua, locals, commands, the two views.", 11, "look"),
    Action("zoom", ("z",), "zoom", "Give the focused panel the whole screen; again to go back.", 15, "look"),
    Action("leave", ("escape", "x"), "leave", "Back to the lesson, which is as it was.", 3, "program"),
    Action("help", ("question_mark", "h"), "help", "Show every key and what the screen means.", 1, "program"),
    Action("quit", ("q",), "quit", "Leave the visualizer.", 0, "program"),
)

KEY_SIGNS = {
    "right": "→",
    "left": "←",
    "up": "↑",
    "down": "↓",
    "question_mark": "?",
    "escape": "esc",
    "full_stop": ".",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
}


def sign(key: str) -> str:
    """A key as the footer and the help write it."""
    return KEY_SIGNS.get(key, key)
