"""The story that leads to the next step, and the row with its fields before and after."""

from __future__ import annotations

from typing import Self

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from visualizer.clock import time_of_day
from visualizer.ids import decode
from visualizer.keyspace import slot
from visualizer.model import Move, Observation, Row
from visualizer.spans import Line
from visualizer.tui.prose import prose
from visualizer.tui.scene import Scene
from visualizer.tui.widgets.readout_panel import content_of
from visualizer.visible import short_id, visible, visible_size

# Lines of a panel that has none to spare.
_LOW = 6


class TextBody(VerticalScroll, can_focus=True):
    """Content that scrolls where it does not fit."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = Static(markup=False)
        self._shown: Content | None = None

    def compose(self) -> ComposeResult:
        yield self._text

    def put(self, content: Content) -> None:
        """Other content, from its top; nothing is repainted where it is the one already shown."""
        if self._shown is not None and content.is_same(self._shown):
            return
        self._shown = content
        self._text.update(content)
        self.scroll_home(animate=False)


class TextPanel(TextBody):
    """A titled panel of content."""

    ALLOW_MAXIMIZE = True

    _title = ""

    def _put(self, title: str, content: Content) -> None:
        if title != self._title:
            self._title = title
            self.border_title = Content(title)
        self.put(content)


class StoryPanel(Vertical):
    """What to look at next, and beneath it, always in view, the question that the next key answers.

    In a race the question stands below the actors, each with the key that runs its next step.
    At the start of a lesson it leads with the introduction, at a path's end with what the path showed.
    """

    ALLOW_MAXIMIZE = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._body = TextBody()
        self._question = Static(markup=False)
        self._asked = self._titled = self._with_more = ""
        self._scene: Scene | None = None

    def compose(self) -> ComposeResult:
        yield self._body
        yield self._question

    def focus(self, scroll_visible: bool = True) -> Self:
        self._body.focus(scroll_visible)
        return self

    def show(self, scene: Scene, above: tuple[Line, ...] = ()) -> None:
        """``above`` are readout lines to tell first, where they have no panel of their own."""
        told = [content_of(line, max(self.size.width - 4, 24)) for line in above]
        parts = [Content("\n").join(told)] if told else []
        step = scene.next_step
        if scene.trouble:
            title = "no engine"
            parts.append(Content(scene.trouble))
        elif step is None:
            title = "the end"
            parts.append(_ending(scene))
        else:
            title = f"next: step {scene.step + 1} · {visible(step.heading)}"
            if scene.step == 0 and scene.path.name == scene.lesson.paths[0].name:
                parts.append(prose(scene.lesson.intro))
            parts.append(prose(step.say))
        title = f"readout, then {title}" if told else title
        self._titled = title
        self._body.put(Content("\n\n").join(parts))
        self._scene = scene
        self._ask()

    def on_resize(self) -> None:
        self._ask()

    def _ask(self) -> None:
        """Who may run next, where there is a choice, and the question that the next key answers."""
        scene, question = self._scene, Content("")
        race = [] if scene is None else _race(scene, self.size.width, self.size.height)
        self.set_class(bool(race), "race")
        if scene is not None and scene.next_step is not None and not scene.trouble:
            asked = Content.assemble(("? ", "bold $now"), prose(scene.next_step.ask))
            question = Content("\n").join((*race, asked))
        if question.plain != self._asked:
            self._asked = question.plain
            self._question.display = bool(question)
            self._question.update(question)
        self.call_after_refresh(self._tell_more)

    def _tell_more(self) -> None:
        """The title says where the story goes on below: a cut sentence must not look like a whole one."""
        more = "  ↓ more" if self._body.max_scroll_y > 0 else ""
        title = f"{self._titled}{more}"
        if title != self._with_more:
            self._with_more = title
            self.border_title = Content(title)


def _race(scene: Scene, width: int, height: int) -> list[Content]:
    """Whom the next key lets run, whom the other one, and what each would run; on one line where that fits, and on a
    low panel without what they run."""
    if scene.other is None or scene.walk is None or not scene.walk.at_end or scene.next_step is None:
        return []
    signs = {scene.next_step.turn: "→", scene.other: "o"}

    def told(names: dict[str, str]) -> list[Content]:
        return [
            Content.assemble((f"{signs.get(actor, ' ')} ", "bold $now"), visible(name)) for actor, name in names.items()
        ]

    each = told({actor: step.heading for actor, step in scene.turns.items()})
    for line in (each, told({actor: actor for actor in scene.turns}) if height <= _LOW else []):
        on_one = Content("   ").join(line)
        if line and on_one.cell_length <= width:
            return [on_one]
    return each


def _ending(scene: Scene) -> Content:
    """What the path showed, as it was observed, and what to do next."""
    lines = [Content.styled("The path ends here. It showed:", "bold $strong"), Content("")]
    for frame in scene.walk.frames if scene.walk else ():
        move = frame.move()
        if frame.step is None or move is None or not (move.leaves or move.enters):
            continue
        ways = f"{' '.join(move.leaves) or 'nothing'} → {' '.join(move.enters) or 'nothing'}"
        lines.append(Content.assemble((f"{visible(frame.step.heading, 18):<19}", "$quiet"), visible(ways)))
    lines.append(Content("\n← looks back, p chooses another path, r starts this one again."))
    return Content("\n").join(lines)


class RowPanel(TextPanel):
    """The row of the job the step is about: each field, and what the step wrote to it."""

    def show(self, scene: Scene) -> None:
        seen = scene.shown
        job = _job_of(scene)
        if seen is None or scene.engine is None:
            self._put("row", Content(""))
            return
        frame = scene.frame
        move = next((move for move in frame.moves if move.id == job), None) if frame else None
        title = f"row  {scene.machine.row_prefix}{short_id(job, 12)}"
        self._put(title, Content("\n").join(_row_lines(seen, job, move, scene.engine.prefix)))


def _job_of(scene: Scene) -> bytes:
    frame = scene.frame
    if frame is not None and frame.step is not None and frame.step.id is not None:
        return frame.step.id
    if frame is not None and frame.moves:
        return frame.moves[0].id
    return scene.path.job.id


def _row_lines(seen: Observation, job: bytes, move: Move | None, prefix: str) -> list[Content]:
    row = seen.rows.get(job)
    lines: list[Content] = []
    if row is None:
        if move is not None and move.row_before:
            lines.append(Content.assemble(("− deleted", "bold $left"), ("  no field is left", "$quiet")))
            for change in move.row:
                lines.append(_field(change.field, visible_size(change.before or b"", 17), "strike $left", "− "))
        else:
            lines.append(Content.styled("there is no row", "$quiet"))
    else:
        lines.extend(_fields(row, move))
    lines.append(Content(""))
    lines.extend(_facts(seen, job, prefix))
    return lines


def _fields(row: Row, move: Move | None) -> list[Content]:
    changes = {change.field: change for change in move.row} if move else {}
    lines = []
    for field in dict.fromkeys((*row.fields, *changes)):
        change = changes.get(field)
        if change is None:
            lines.append(_field(field, visible_size(row.fields[field], 19), ""))
        elif change.after is None:
            lines.append(_field(field, visible_size(change.before or b"", 19), "strike $left", "− "))
        elif change.before is None:
            lines.append(_field(field, visible_size(change.after, 19), "bold $entered", "+ "))
        else:
            before = (f"{visible(change.before, 14)} → ", "$quiet")
            after = (visible_size(change.after, 19), "bold $now")
            lines.append(Content.assemble((f"{visible(field, 12):<12}", "$quiet"), before, after))
    return lines


def _field(name: bytes, value: str, style: str, sign: str = "") -> Content:
    return Content.assemble((f"{visible(name, 12):<12}", "$quiet"), (sign + value, style))


def _facts(seen: Observation, job: bytes, prefix: str) -> list[Content]:
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
        ("minted", time_of_day(branded.minted_at_ms, seen.clock_ms)),
        ("node", str(branded.node)),
        ("slot", f"{slot(prefix.encode())} of {visible(prefix, 20)}"),
    ]
    if lock is not None:
        facts.append(("lock", visible(lock.token, 20)))
    return [Content.assemble((f"{name:<8}", "$faint"), (text, "$quiet")) for name, text in facts]
