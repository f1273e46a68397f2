"""What there is: lessons, scripts, ids, and single states and transitions."""

from __future__ import annotations

import contextlib
import secrets
import sys
import time
from collections.abc import Sequence
from functools import cache

from visualizer.cli.ending import FAILED, OK, complain, say, write_json
from visualizer.engine import Engine, open_engine
from visualizer.ids import LARGEST_NODE, Minter, explain
from visualizer.visible import visible

SHOWN_QUEUE = "cm"
ID_WORDS = {"placement": "hash", "value": "Snowflake"}


def list_lessons(as_json: bool) -> int:
    """Every lesson, one a line; a faulty one is told on stderr and answers 1."""
    from visualizer.lesson import Lesson, LessonFaults, all_lessons, load
    from visualizer.machine import MACHINES
    from visualizer.perform import NAMED_STEPS

    code = OK
    lessons: list[Lesson] = []
    for file in all_lessons():
        try:
            lessons.append(load(file, MACHINES, NAMED_STEPS))
        except LessonFaults as faults:
            complain(str(faults))
            code = FAILED
    width = max((len(lesson.slug) for lesson in lessons), default=0)
    for lesson in lessons:
        paths = [path.name for path in lesson.paths]
        if as_json:
            known = {"slug": lesson.slug, "course": lesson.course, "title": lesson.title, "machine": lesson.machine}
            write_json({**known, "paths": paths})
        else:
            say(f"{lesson.slug:<{width}}  {lesson.course}  {lesson.title} ({lesson.machine}): {', '.join(paths)}")
    return code


def list_scripts() -> int:
    """Every script with the beginning of its SHA-1 and its sentence."""
    from visualizer.script import all_names, load

    names = all_names()
    width = max(map(len, names), default=0)
    for name in names:
        script = load(name)
        say(f"{name:<{width}}  {script.sha1[:7]}  {script.header.sentence}")
    return OK


def show_script(name: str, source: bool) -> int:
    """One script's contract and SHA-1, or exactly the text that is sent."""
    from visualizer.script import ScriptError, all_names, load

    names = all_names()
    if name not in names:
        hint = f"; did you mean {near}?" if (near := _nearest_script(name, names)) else "."
        raise ScriptError(f"there is no script {visible(name)}{hint} `visualizer script` lists them.")
    script = load(name)
    if source:
        # Bytes: a text stream would change line ends where the system has others.
        sys.stdout.buffer.write(script.source.encode())
        return OK
    header = script.header
    say(f"{script.name}  SHA-1 {script.sha1}")
    say(header.sentence)
    say(f"MOVES   {header.moves}")
    for kind, slots in (("KEYS", header.keys), ("ARGV", header.args)):
        for slot in slots:
            mark = "…" if slot.repeats else "?" if slot.optional else ""
            unused = " (unused)" if slot.unused else ""
            say(f"{kind} {slot.number}  {slot.name}{mark}{unused} — {slot.meaning}")
    for reply in header.returns:
        say(f"RETURNS {reply}")
    say(f"CLOCK   {header.clock}")
    return OK


def _nearest_script(name: str, names: Sequence[str]) -> str | None:
    """The script most like what was typed; a machine is left out easily, and then the script's own name tells."""
    from visualizer.lesson_faults import nearest

    bare = {each.rpartition("/")[2]: each for each in reversed(names)}
    return nearest(name, names) or bare.get(nearest(name, bare) or "")


def explain_id(text: str) -> int:
    """What an id says."""
    for what, value in explain(text):
        meaning = ID_WORDS.get(what)
        say(f"{what:<10} {value}" + (f"  ({meaning})" if meaning else ""))
    return OK


def mint_id(namespace: str) -> int:
    """A new id of that namespace, from a node drawn by lot: two processes may mint in the same millisecond."""
    say(_minter().mint(namespace))
    return OK


@cache
def _minter() -> Minter:
    return Minter(secrets.randbelow(LARGEST_NODE + 1), lambda: time.time_ns() // 1_000_000)


class _PrivateEngine:
    """Opens an engine of our own at the first question, so that a misspelt name costs none."""

    def __init__(self, spec: str) -> None:
        self._spec = spec

    def throwaway(self) -> Engine:
        return open_engine(self._spec, queue=SHOWN_QUEUE)


def show_choice(what: str, name: str | None, spec: str) -> int:
    """A state or a transition, run on a private engine; without a name, those that there are."""
    from visualizer.explore import Explorer
    from visualizer.machine import MACHINES
    from visualizer.plain import picture_lines
    from visualizer.readout import readout

    names = {of.name: of.starts if what == "state" else of.shows for of in MACHINES.values()}
    if name is None:
        for of, known in names.items():
            for each in known:
                say(f"{of:<8}{each}")
        return OK
    # A name that both machines have is the first one's, unless it is written as core/active.
    wanted, _, bare = name.rpartition("/")
    having = [of for of, known in names.items() if bare in known and wanted in ("", of)]
    machine = MACHINES[having[0] if having else wanted if wanted in MACHINES else next(iter(MACHINES))]
    name = bare
    with contextlib.closing(Explorer(_PrivateEngine(spec), machine)) as explorer:
        if what == "state":
            frames = explorer.state(name).frames
            frame, earlier = frames[-1], frames[:-1]
        else:
            frame, earlier = explorer.transition(name)
        led = [each.step.do for each in (*earlier, frame) if each.step is not None]
        say(f"{' → '.join(led)}, on {explorer.engine_name}")
        for line in readout(machine, frame, earlier):
            say(line.text)
        for text in picture_lines(machine, frame.after, frame):
            say(text)
    return OK
