"""Neither machine knows the other, and what serves both names no place and no verb of either."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import visualizer
from visualizer.machine import MACHINES

PACKAGE = Path(visualizer.__file__).parent
MACHINE = PACKAGE / "machine"
LEASED_MODULES, CORE_MODULES = sorted(MACHINE.glob("leased*.py")), sorted(MACHINE.glob("core*.py"))
# The proof is about one machine: it drives the leased one, beside the naive queue and in every order of two actors.
PROOF_MODULES = [*sorted((PACKAGE / "prove").glob("*.py")), PACKAGE / "interleavings.py"]
# What both machines share: it may name neither.
SHARED_MODULES = [path for path in sorted(MACHINE.glob("*.py")) if path not in (*LEASED_MODULES, *CORE_MODULES)]
GENERIC_MODULES = [
    path for path in sorted(PACKAGE.rglob("*.py")) if MACHINE not in path.parents and path not in PROOF_MODULES
]

PLACES = {place.name for machine in MACHINES.values() for place in machine.places}
VERBS = {name for machine in MACHINES.values() for name in machine.verbs}

# A word of a machine that another module says all the same, and why it may. Whatever is not used any more has to go.
SAID: dict[str, dict[str, str]] = {
    "naive.py": {
        "pending": "the naive queue is written by hand, beside the machine that it is compared with",
        "active": "the same",
    },
    "cache_steps.py": {
        "extend_lock": "one script that may run any number of times on one job; what is counted is the calls",
        "active": "one of its keys",
    },
    "model/parts.py": {"wait": "a kind of frame: a step that waits"},
    "steps.py": {"wait": "the same kind of frame"},
    "readout.py": {"wait": "the same kind of frame"},
    "doctor.py": {
        "enqueue": "one job of one machine is walked from end to end, to see that scripts run at all",
        "claim": "the same",
        "complete": "the same",
        "completed": "the outcome it should come to",
    },
    "engine/client.py": {"retry": "the name of an option of redis-py"},
}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Every text or bytes literal with its line, but for docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in prose:
            if isinstance(node.value, str):
                yield node.lineno, node.value
            elif isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("utf-8", "replace")


def said_in(path: Path) -> dict[str, list[int]]:
    """The places and verbs that stand in a module as a literal of their own, with the lines."""
    found: dict[str, list[int]] = {}
    for line, text in literals(path):
        if text in PLACES | VERBS:
            found.setdefault(text, []).append(line)
    return found


def imported_by(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return found | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}


@pytest.mark.parametrize("path", GENERIC_MODULES, ids=name_of)
def test_what_serves_both_machines_names_no_place_and_no_verb(path: Path) -> None:
    allowed = SAID.get(name_of(path), {})
    assert {word: lines for word, lines in said_in(path).items() if word not in allowed} == {}


def test_no_exception_has_outlived_its_use() -> None:
    unused = {
        file: sorted(set(words) - set(said_in(PACKAGE / file)))
        for file, words in SAID.items()
        if set(words) - set(said_in(PACKAGE / file))
    }
    assert unused == {}


@pytest.mark.parametrize("path", SHARED_MODULES, ids=name_of)
def test_what_the_machines_share_names_no_place_and_no_verb(path: Path) -> None:
    assert said_in(path) == {}


@pytest.mark.parametrize(
    ("modules", "other"),
    [(LEASED_MODULES, "core"), (CORE_MODULES, "leased"), (PROOF_MODULES, "core")],
    ids=["leased", "core", "the proof"],
)
def test_neither_machine_knows_the_other(modules: list[Path], other: str) -> None:
    assert len(modules) > 3
    for path in modules:
        assert not any(name.startswith(f"visualizer.machine.{other}") for name in imported_by(path)), path
        assert not [text for _, text in literals(path) if re.search(rf"\b{other}\b", text)], path


def test_the_words_of_a_machine_are_found() -> None:
    """The test above would tell: a module of a machine is full of them."""
    assert {"wait", "active", "extendLock"} <= set(said_in(MACHINE / "core.py"))
    assert {"pending", "schedule"} <= set(said_in(MACHINE / "leased.py"))
    assert "moveStalledJobsToWait" in VERBS
