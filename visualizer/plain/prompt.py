"""Asks for one of several names: by its number, by its name, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from visualizer.lesson import all_lessons
from visualizer.terminal_keys import Keys
from visualizer.visible import visible

Write = Callable[[str], None]


def choose_lesson(keys: Keys, write: Write) -> str | None:
    """Lists the lessons and asks for one; None where none is chosen."""
    return choose("lesson", [file.stem for file in all_lessons()], keys, write)


def choose(what: str, names: Sequence[str], keys: Keys, write: Write) -> str | None:
    """Lists the names and asks for one, also for one that is not listed; None where none is chosen."""
    for number, name in enumerate(names, start=1):
        write(f"{number:>3}  {visible(name)}")
    write(f"Which {what}? Type its number or its name, then enter; esc leaves.")
    answer = (keys.line() or "").strip()
    if not answer:
        write("Nothing is chosen.")
        return None
    if answer.isdecimal() and 1 <= int(answer) <= len(names):
        return names[int(answer) - 1]
    return answer
