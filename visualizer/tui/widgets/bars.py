"""The one-line regions: what is open on which engine, the path's steps, and the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from visualizer.actions import Action, sign
from visualizer.model import Step
from visualizer.tui.canvas import fitted
from visualizer.tui.scene import EngineLabel, Scene
from visualizer.visible import visible

Part = tuple[str, str]


def _width(parts: Sequence[Part]) -> int:
    return sum(cell_len(text) for text, _ in parts)


def _justified(left: list[Part], right: list[Part], width: int) -> Content:
    """Left and right parts on one line; the right ones go first where both do not fit."""
    while right and _width(left) + _width(right) + 1 > width:
        right = right[:-1]
    if _width(left) > width:
        text, style = left[0]
        return Content.assemble((fitted(text, width), style))
    gap = width - _width(left) - _width(right)
    return Content.assemble(*left, (" " * max(gap, 0), ""), *right)


class TopLine(Widget):
    """The lesson, its course number, the engine (REAL or EMULATED) and the queue's prefix."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = ""
        self._course = ""
        self._engine: EngineLabel | None = None
        self._instead = ""

    def show(self, title: str, course: str, engine: EngineLabel | None, instead: str = "") -> None:
        """``instead`` is said where there is no engine to name."""
        if (title, course, engine, instead) != (self._title, self._course, self._engine, self._instead):
            self._title, self._course, self._engine, self._instead = title, course, engine, instead
            self.refresh()

    def render(self) -> Content:
        left: list[Part] = [(f" {visible(self._title)}", "bold $strong"), (f"   {visible(self._course)}", "$quiet")]
        right: list[Part]
        if self._engine is None:
            right = [(f"{self._instead} ", "$quiet")]
        else:
            badge = "bold $entered" if self._engine.badge == "REAL" else "bold $now"
            right = [
                (self._engine.badge, badge),
                (f" {visible(self._engine.label)} ", ""),
                (f"  {visible(self._engine.prefix)} ", "$quiet"),
            ]
        if _width(left) + _width(right[:1]) + 1 > self.size.width:
            left = left[:1]
        return _justified(left, right, self.size.width)


class TitleLine(Widget):
    """A line of parts on the left and on the right; the right ones go first where both do not fit."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sides: tuple[tuple[Part, ...], tuple[Part, ...]] = ((), ())

    def show(self, left: Sequence[Part], right: Sequence[Part]) -> None:
        if (tuple(left), tuple(right)) != self._sides:
            self._sides = (tuple(left), tuple(right))
            self.refresh()

    def render(self) -> Content:
        left, right = self._sides
        kept = [(f" {text}" if at == 0 else text, style) for at, (text, style) in enumerate(left)]
        while len(kept) > 1 and _width(kept) > self.size.width:
            kept.pop()
        return _justified(kept, [*right, (" ", "")], self.size.width)


class PathLine(Widget):
    """The path's steps: done, now, to come; as many names as fit around now."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None
        self._told = ""

    def show(self, scene: Scene, told: str = "") -> None:
        """``told`` is a word about what runs now, at the right end."""
        self._scene, self._told = scene, told
        self.refresh()

    def render(self) -> Content:
        if self._scene is None:
            return Content("")
        scene, width = self._scene, self.size.width
        steps, now = scene.path.steps, scene.step
        end: list[Part] = [(f"{now} of {len(steps)} ", "bold $strong" if not self._told else "$quiet")]
        if self._told:
            end.insert(0, (f"{self._told}   ", "bold $now"))
        head: list[Part] = [(f" {visible(scene.path.name)}  ", "bold $strong")]
        room = width - _width(head) - _width(end) - 2
        for names in _namings(len(steps), now) if 2 * len(steps) <= room else ():
            for joint in (" ── ", "  ", " "):
                marks = _marks(steps, now, scene.taken, names, joint)
                if _width(marks) <= room:
                    return _justified([*head, *marks], end, width)
        if now and _width(head) + _width(end) + 6 < width:
            label = fitted(visible(steps[now - 1].heading), width - _width(head) - _width(end) - 4)
            return _justified([*head, (f"◆ {label}", "bold $now")], end, width)
        return _justified(head, end, width)


def _namings(count: int, now: int) -> list[Callable[[int], bool]]:
    """Which steps are named, from all of them down to the one that is now; step numbers start at 1."""
    reach = range(count, 0, -1)
    return [
        range(1, count + 1).__contains__,
        range(now, count + 1).__contains__,
        *[range(now, now + near + 1).__contains__ for near in reach],
        range(now, now + 1).__contains__,
    ]


def _marks(steps: Sequence[Step], now: int, taken: int, named: Callable[[int], bool], joint: str) -> list[Part]:
    parts: list[Part] = []
    for number, step in enumerate(steps, start=1):
        if parts:
            parts.append((joint, "$faint"))
        done, current = number <= taken, number == now
        mark = "◆" if current else "●" if done else "○"
        style = "bold $now" if current else "$entered" if done else "$quiet"
        label = f" {visible(step.heading)}" if named(number) else ""
        name_style = "bold $now" if current else "" if done else "$quiet"
        parts.extend(((mark, style), (label, name_style)))
    return parts


class KeyBar(Widget):
    """The keys that apply, the most needed first to stay; Help and Quit stay to the last. A click is a key press."""

    class Pressed(Message):
        """A key's label was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, actions: Sequence[Action], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._actions = tuple(actions)
        self._applies: Callable[[str], bool] = lambda _name: True
        self._never: frozenset[str] = frozenset()
        self._spots: list[tuple[int, int, str]] = []

    def show(self, applies: Callable[[str], bool], never: frozenset[str] = frozenset()) -> None:
        """``applies`` answers whether an action does something now; the others are dimmed. Those of ``never`` have
        nothing to do on this screen and take no room."""
        self._applies, self._never = applies, never
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        for start, end, name in self._spots:
            if start <= event.x < end:
                self.post_message(self.Pressed(name))

    def render(self) -> Content:
        kept = kept_in([action for action in self._actions if action.name not in self._never], self.size.width)
        parts: list[Part] = []
        self._spots = []
        x = 0
        for action in kept:
            lead, key, label = _spoken(action)
            dim = not self._applies(action.name)
            parts.extend(((lead, ""), (key, "$faint" if dim else "bold $now"), (label, "$faint" if dim else "")))
            end = x + cell_len(lead + key + label)
            self._spots.append((x + cell_len(lead), end, action.name))
            x = end
        if parts:
            return Content.assemble(*parts)
        quit_key = next((action for action in self._actions if action.name == "quit"), None)
        return Content(fitted(_spoken(quit_key)[1] if quit_key else "", self.size.width))


def _spoken(action: Action) -> tuple[str, str, str]:
    return "  ", sign(action.keys[0]), f" {action.label}"


def kept_in(actions: Sequence[Action], width: int) -> list[Action]:
    """The actions whose keys fit, in the table's order; the lowest ranks stay longest."""
    kept: list[Action] = []
    used = 0
    for action in sorted(actions, key=lambda action: action.rank):
        size = cell_len("".join(_spoken(action)))
        if used + size > width:
            break
        kept.append(action)
        used += size
    return [action for action in actions if action in kept]
