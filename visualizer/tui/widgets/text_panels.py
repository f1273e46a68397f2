"""The story that leads to the next step, and the row with its fields before and after."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from visualizer.clock import time_of_day
from visualizer.ids import decode
from visualizer.keyspace import Keyspace, slot
from visualizer.model import Move, Observation, Row
from visualizer.spans import Line
from visualizer.tui.prose import prose
from visualizer.tui.scene import Scene
from visualizer.tui.widgets.readout_panel import content_of
from visualizer.visible import short_id, visible, visible_size


class TextPanel(VerticalScroll, can_focus=True):
    """A titled panel of content that scrolls where it does not fit."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._body = Static(markup=False)
        self._shown: Content | None = None

    def compose(self) -> ComposeResult:
        yield self._body

    def _put(self, title: str, content: Content) -> None:
        self.border_title = Content(title)
        if self._shown is not None and content.is_same(self._shown):
            return
        self._shown = content
        self._body.update(content)
        self.scroll_home(animate=False)


class StoryPanel(TextPanel):
    """What to look at next, and the question that the next key answers; at the start, the lesson's introduction."""

    _above: list[Content]

    def show(self, scene: Scene, above: tuple[Line, ...] = ()) -> None:
        """``above`` are readout lines to tell first, where they have no panel of their own."""
        told = [content_of(line, max(self.size.width, 24)) for line in above]
        self._above = [Content("\n").join(told)] if told else []
        step = scene.next_step
        if scene.trouble:
            self._tell("the engine is gone", Content(scene.trouble))
        elif step is None:
            end = "The path ends here.\n\nLook back with ←, choose another path with p, or start this one again with r."
            self._tell("the end", Content(end))
        else:
            parts = [prose(step.say), Content.assemble(("? ", "bold $now"), prose(step.ask))]
            if scene.step == 0 and scene.path is scene.lesson.paths[0]:
                parts.insert(0, prose(scene.lesson.intro))
            self._tell(f"next: step {scene.step + 1} · {visible(step.label)}", *parts)

    def _tell(self, title: str, *parts: Content) -> None:
        title = f"readout, then {title}" if self._above else title
        self._put(title, Content("\n\n").join([*self._above, *parts]))


class RowPanel(TextPanel):
    """The row of the job the step is about: each field, and what the step wrote to it."""

    def show(self, scene: Scene, space: Keyspace | None) -> None:
        seen = scene.shown
        job = _job_of(scene)
        if seen is None or space is None:
            self._put("row", Content(""))
            return
        frame = scene.frame
        move = next((move for move in frame.moves if move.id == job), None) if frame else None
        title = f"row  {scene.machine.row_prefix}{short_id(job, 12)}"
        self._put(title, Content("\n").join(_row_lines(seen, job, move, space)))


def _job_of(scene: Scene) -> bytes:
    frame = scene.frame
    if frame is not None and frame.step is not None and frame.step.id is not None:
        return frame.step.id
    if frame is not None and frame.moves:
        return frame.moves[0].id
    return scene.path.job.id


def _row_lines(seen: Observation, job: bytes, move: Move | None, space: Keyspace) -> list[Content]:
    row = seen.rows.get(job)
    lines: list[Content] = []
    if row is None:
        if move is not None and move.row_before:
            lines.append(Content.assemble(("− deleted", "bold $left"), ("  no field is left", "$quiet")))
            for change in move.row:
                lines.append(_field(change.field, visible_size(change.before or b"", 24), "strike $left", "− "))
        else:
            lines.append(Content.styled("there is no row", "$quiet"))
    else:
        lines.extend(_fields(row, move))
    lines.append(Content(""))
    lines.extend(_facts(seen, job, space))
    return lines


def _fields(row: Row, move: Move | None) -> list[Content]:
    changes = {change.field: change for change in move.row} if move else {}
    lines = []
    for field in dict.fromkeys((*row.fields, *changes)):
        change = changes.get(field)
        if change is None:
            lines.append(_field(field, visible_size(row.fields[field], 28), ""))
        elif change.after is None:
            lines.append(_field(field, visible_size(change.before or b"", 28), "strike $left", "− "))
        elif change.before is None:
            lines.append(_field(field, visible_size(change.after, 28), "bold $entered", "+ "))
        else:
            before = (f"{visible(change.before, 14)} → ", "$quiet")
            after = (visible_size(change.after, 28), "bold $now")
            lines.append(Content.assemble((f"{visible(field, 12):<11}", "$quiet"), before, after))
    return lines


def _field(name: bytes, value: str, style: str, sign: str = "") -> Content:
    return Content.assemble((f"{visible(name, 12):<11}", "$quiet"), (sign + value, style))


def _facts(seen: Observation, job: bytes, space: Keyspace) -> list[Content]:
    """What the id itself says, and where it is now."""
    branded = decode(job)
    if branded is None:
        return [Content.styled("not a branded id", "$quiet")]
    places = seen.memberships.get(job, ())
    where = " and ".join(visible(place) for place in places) or "no place"
    lock = seen.locks.get(job)
    facts = [
        ("id", visible(job)),
        ("place", where),
        ("minted", f"{time_of_day(branded.minted_at_ms, seen.clock_ms)} by node {branded.node}"),
        ("slot", f"{slot(space.base)} of {{{visible(space.queue, 16)}}}"),
    ]
    if lock is not None:
        facts.append(("lock", visible(lock.token, 20)))
    return [Content.assemble((f"{name:<8}", "$faint"), (text, "$quiet")) for name, text in facts]
