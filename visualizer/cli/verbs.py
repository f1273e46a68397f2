"""``visualizer verbs``: what a lesson's ``do`` can hold, told from the verbs and the named steps themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from visualizer.cli.ending import OK, say
from visualizer.lesson_faults import nearest
from visualizer.machine import MACHINES
from visualizer.model import Parameter, Verb
from visualizer.perform import NAMED_STEPS
from visualizer.steps import NamedStep
from visualizer.visible import visible

NAMED = "named step"
NOTHING = "nothing"
# How a lesson writes a value of each kind.
KIND_WORDS = {
    "duration_ms": "milliseconds, times the pace",
    "time_ms": "milliseconds since 1970",
    "count": "a whole number",
    "token": 'a worker\'s name, a whole number, or { text = "…" }',
    "worker": "a worker's name",
    "group": "a name of [groups]",
    "job": "a name of [jobs]",
    "verb": "a verb of the machine",
    "payload": "a text",
    "text": "a text",
    "flag": "true or false",
    "pairs": "[{ job = …, token = … }, …]",
}


def list_verbs() -> int:
    """Every verb of each machine, then every named step, one a line with its sentence."""
    known = list(_all())
    name_width = max(len(name) for name, _, _ in known)
    of_width = max(len(of) for _, of, _ in known)
    for name, of, action in known:
        say(f"{name:<{name_width}}  {of:<{of_width}}  {action.sentence}")
    return OK


def show_verb(name: str) -> int:
    """What one of them takes, answers and moves; of every machine that has a verb of that name. UsageError."""
    found = [(of, action) for known, of, action in _all() if known == name]
    if not found:
        near = nearest(name, [known for known, _, _ in _all()])
        hint = f"; did you mean {near}?" if near else "."
        raise click.UsageError(f"There is no verb or named step {visible(name)}{hint} `visualizer verbs` lists them.")
    for of, action in found:
        for line in _told(of, action):
            say(line)
    return OK


def _all() -> Iterator[tuple[str, str, Verb | NamedStep]]:
    for machine in MACHINES.values():
        for name, verb in machine.verbs.items():
            yield name, machine.name, verb
    for name, step in NAMED_STEPS.items():
        yield name, NAMED, step


def _told(of: str, action: Verb | NamedStep) -> Iterator[str]:
    runs = f", runs {action.script}" if isinstance(action, Verb) else ""
    yield f"{action.name}  {of}{runs}"
    yield action.sentence
    for source, target in action.moves if isinstance(action, Verb) else ():
        yield f"moves     {source or NOTHING} → {target or NOTHING}"
    yield f"job       {'needed' if action.needs_job else 'not needed'}"
    for parameter in action.parameters:
        yield f"with      {parameter.name}: {_taken(parameter)} — {parameter.meaning}"
    yield f"outcomes  {', '.join(action.outcomes)}"


def _taken(parameter: Parameter) -> str:
    least = "" if parameter.minimum is None else f", at least {parameter.minimum}"
    if parameter.required:
        given = "required"
    elif parameter.default is None:
        given = "optional"
    else:
        given = f"default {json.dumps(parameter.default, ensure_ascii=False)}"
    return f"{KIND_WORDS[parameter.kind]}{least}; {given}"
