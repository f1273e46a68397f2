"""The story that leads to the next step, and the row with its fields before and after."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.strip import Strip

from visualizer.clock import time_of_day
from visualizer.ids import decode
from visualizer.keyspace import slot
from visualizer.model import Move, Observation, Row
from visualizer.path_end import showed
from visualizer.race_end import verdicts
from visualizer.spans import Line
from visualizer.tui.prose import prose
from visualizer.tui.scene import Scene
from visualizer.tui.widgets.readout_panel import content_of
from visualizer.tui.widgets.strip_panel import StripPanel, TextPanel
from visualizer.visible import short_id, visible, visible_size

# Lines of a panel that has none to spare.
_LOW = 6


class StoryPanel(StripPanel):
    """What to look at next, and beneath it, always in view, the question that the next key answers.

    In a race the question stands below the actors, each with the key that runs its next step.
    At the start of a lesson the introduction stands below it, at a path's end what the path showed.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None
        self._above: tuple[Line, ...] = ()

    def show(self, scene: Scene, above: tuple[Line, ...] = ()) -> None:
        """``above`` are readout lines to tell first, where they have no panel of their own."""
        if self._scene is not None and _story_of(scene) == _story_of(self._scene) and above == self._above:
            return
        self._scene, self._above = scene, above
        self._remake(from_top=True)

    def _make(self, width: int, height: int) -> tuple[Sequence[Strip], Sequence[Strip]]:
        scene = self._scene
        if scene is None:
            return (), ()
        told = [content_of(line, width) for line in self._above]
        parts = [Content("\n").join(told)] if told else []
        step = scene.next_step
        question = Content("")
        race: list[Content] = []
        # For where the title does not fit: the step's name is its last word to go.
        shorter: tuple[str, ...] = ()
        if scene.trouble:
            title = "no engine"
            parts.append(Content(scene.trouble))
        elif step is None:
            title = "the end"
            parts.append(_ending(scene, width))
        else:
            number, heading = scene.step + 1, visible(step.heading)
            title = f"next: step {number} · {heading}"
            shorter = (f"next: {number} · {heading}", f"{number} · {heading}")
            parts.append(prose(step.say))
            # The question is about the step, so what is said of the step comes before what is said of the lesson.
            if scene.step == 0 and scene.path.name == scene.lesson.paths[0].name:
                parts += (Content.styled("About this lesson", "bold $strong"), prose(scene.lesson.intro))
            race = _race(scene, width, height)
            asked = Content.assemble(("? ", "bold $now"), prose(step.ask))
            question = Content("\n").join((*race, asked))
        body = self._strips(Content("\n\n").join(parts), width)
        # The question may take half of the panel, with a race above it three quarters.
        most = -(-height * (3 if race else 2) // 4)
        pinned = self._strips(question, width)[:most]
        # A cut sentence must not look like a whole one: the title says that the story goes on below.
        more = "  ↓ more" if len(body) + len(pinned) > height else ""
        lead = "readout, then " if told else ""
        # Corners, lines and blanks beside a title take one cell more than padding and scrollbar beside a row.
        room = width - 1
        titles = [f"{lead}{each}{more}" for each in (title, *shorter)]
        titles.append(titles[-1].removesuffix(" more"))
        self.entitle(next((each for each in titles if cell_len(each) <= room), titles[-1]))
        return body, pinned


def _story_of(scene: Scene) -> tuple[object, ...]:
    """What the story is made of."""
    ending = scene.walk.frames if scene.walk is not None and scene.next_step is None else ()
    at_end = scene.walk is not None and scene.walk.at_end
    return (scene.lesson, scene.path, scene.step, scene.trouble, scene.other, at_end, ending)


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


def _ending(scene: Scene, width: int) -> Content:
    """What the path showed, as it was observed, and what to do next; of a race first whether its order did harm."""
    frames = scene.walk.frames if scene.walk else ()
    lines: list[Content] = []
    for verdict in verdicts(frames):
        lines += (Content.styled(verdict.told, "bold $error" if verdict.harm else "bold $strong"), Content(""))
    lines += (Content.styled("The path ends here. It showed:", "bold $strong"), Content(""))
    each = list(showed(frames))
    label = max((cell_len(heading) for heading, _ in each), default=0) + 1
    for heading, told in each:
        if max(label + cell_len(told) for _, told in each) <= width:
            lines.append(Content.assemble((f"{heading:<{label}}", "$quiet"), told))
        else:
            lines += (Content.styled(heading, "$quiet"), Content(f"  {told}"))
    lines.append(Content("\n← looks back, p chooses another path, r starts this one again."))
    return Content("\n").join(lines)


class RowPanel(TextPanel):
    """The row of the job the step is about: each field, and what the step wrote to it."""

    def show(self, scene: Scene) -> None:
        seen = scene.shown
        job = _job_of(scene)
        if seen is None or scene.engine is None:
            self.put("row", Content(""))
            return
        frame = scene.frame
        move = next((move for move in frame.moves if move.id == job), None) if frame else None
        title = f"row  {scene.machine.row_prefix}{short_id(job, 12)}"
        self.put(title, Content("\n").join(_row_lines(seen, job, move, scene.engine.prefix)))


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
