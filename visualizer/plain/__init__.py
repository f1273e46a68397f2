"""A lesson as lines of text and single keys: for screen readers, for logs, and where no screen can be drawn."""

from __future__ import annotations

from visualizer.plain.lesson import PlainLesson
from visualizer.plain.prompt import choose_lesson
from visualizer.plain.text import folded, picture_lines, unmarked

__all__ = ["PlainLesson", "choose_lesson", "folded", "picture_lines", "unmarked"]
