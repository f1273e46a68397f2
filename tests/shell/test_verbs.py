"""``visualizer verbs``: what it lists is what a lesson can hold, no more and no less."""

from __future__ import annotations

import pytest

from tests.shell.conftest import Shell
from visualizer.cli.verbs import KIND_WORDS
from visualizer.machine import MACHINES
from visualizer.model import Parameter, Verb
from visualizer.perform import NAMED_STEPS
from visualizer.steps import NamedStep

VERBS = [(machine.name, verb) for machine in MACHINES.values() for verb in machine.verbs.values()]
ACTIONS: list[tuple[str, Verb | NamedStep]] = [*VERBS, *(("named step", step) for step in NAMED_STEPS.values())]


def test_every_verb_and_named_step_is_a_line(shell: Shell) -> None:
    ended = shell("verbs")
    assert (ended.code, ended.err) == (0, b"")
    assert len(ended.lines) == len(ACTIONS)
    for line, (of, action) in zip(ended.lines, ACTIONS, strict=True):
        assert line.split()[0] == action.name
        assert f" {of} " in line
        assert line.endswith(f"  {action.sentence}")


@pytest.mark.parametrize("name", sorted({action.name for _, action in ACTIONS}))
def test_what_one_takes_answers_and_moves(shell: Shell, name: str) -> None:
    ended = shell("verbs", name)
    assert (ended.code, ended.err) == (0, b"")
    named = [(of, action) for of, action in ACTIONS if action.name == name]
    heads = [at for at, line in enumerate(ended.lines) if line.startswith(f"{name}  ")]
    assert len(heads) == len(named)
    for (of, action), start, end in zip(named, heads, [*heads[1:], len(ended.lines)], strict=True):
        lines = ended.lines[start:end]
        assert lines[0].startswith(f"{name}  {of}")
        assert action.sentence in lines
        assert f"outcomes  {', '.join(action.outcomes)}" in lines
        assert f"job       {'needed' if action.needs_job else 'not needed'}" in lines
        taken = [line for line in lines if line.startswith("with ")]
        assert len(taken) == len(action.parameters)
        for line, parameter in zip(taken, action.parameters, strict=True):
            assert line.startswith(f"with      {parameter.name}: {KIND_WORDS[parameter.kind]}")
            assert line.endswith(f"; {given(parameter)} — {parameter.meaning}")
            assert (parameter.minimum is not None) == (f", at least {parameter.minimum};" in line)
        moves = [line for line in lines if line.startswith("moves ")]
        edges = action.moves if isinstance(action, Verb) else ()
        assert moves == [f"moves     {source or 'nothing'} → {target or 'nothing'}" for source, target in edges]


def given(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    if parameter.default is None:
        return "optional"
    shown = {True: "true", False: "false"}.get(parameter.default) if parameter.kind == "flag" else parameter.default
    return f'default "{shown}"' if isinstance(parameter.default, str) else f"default {shown}"


def test_every_kind_of_value_has_words() -> None:
    assert {parameter.kind for _, action in ACTIONS for parameter in action.parameters} <= set(KIND_WORDS)
