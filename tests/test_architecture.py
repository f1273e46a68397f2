"""Who may import whom, and that all but the screen works without Textual."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import visualizer

ROOT = Path(__file__).parent.parent
PYPROJECT = ROOT / "pyproject.toml"
SCREEN = "visualizer.tui"

# Forks for each module, so that each is imported into an interpreter that holds nothing of ours. What others made is
# imported once before: it takes most of the time, and none of it is Textual.
IMPORT_EACH = """
import importlib, os, sys
import click, fakeredis, msgspec, redis, rich.console

def fork_to_import(name):
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(name)
        except BaseException as failure:
            print(f"{name}: {failure!r}", flush=True)
        if any(found.partition(".")[0] == "textual" for found in sys.modules):
            print(f"{name}: it imports textual", flush=True)
        os._exit(0)
    return child

assert not any(found.partition(".")[0] in ("textual", "visualizer") for found in sys.modules)
for name in sys.argv[1:]:
    os.waitpid(fork_to_import(name), 0)
"""


def modules() -> list[str]:
    """Every module of the visualizer."""
    found = pkgutil.walk_packages(visualizer.__path__, "visualizer.")
    return ["visualizer", *(module.name for module in found)]


def core_modules() -> list[str]:
    return [name for name in modules() if name != SCREEN and not name.startswith(f"{SCREEN}.")]


def left_behind(*names: str) -> str:
    """What importing each of these modules alone complains of."""
    told = subprocess.run([sys.executable, "-c", IMPORT_EACH, *names], capture_output=True, text=True, cwd=ROOT)
    assert told.returncode == 0, told.stderr
    return told.stdout


@pytest.mark.skipif(not PYPROJECT.is_file(), reason="the contracts stand in pyproject.toml, which only a checkout has")
def test_the_import_contracts_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    status = lint_imports(config_filename=str(PYPROJECT), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.skipif(not PYPROJECT.is_file(), reason="the contracts stand in pyproject.toml, which only a checkout has")
def test_the_contracts_speak_of_every_module() -> None:
    layers, headless = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    top = sorted(name for name in modules() if name.count(".") == 1)
    assert sorted(headless["source_modules"]) == [name for name in top if name != SCREEN]
    told = [name.strip() for layer in layers["layers"] for name in layer.replace("|", ":").split(":")]
    assert sorted(f"visualizer.{name}" for name in told) == top
    assert layers["exhaustive"]


def test_a_core_module_alone_needs_no_textual() -> None:
    assert left_behind(*core_modules()) == ""


def test_a_process_of_the_proof_starts_light() -> None:
    """There are many of them, and each one imports its own."""
    told = "import sys, visualizer.prove.child; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    there = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert not {"textual", "click", "fakeredis", "lupa", "pygments"} & set(there.split())
    assert "redis" in there.split()


def test_the_screen_does_need_it() -> None:
    """The test above would tell: otherwise it would prove nothing."""
    assert left_behind("visualizer.tui.app", "visualizer.tui.nothing").splitlines() == [
        "visualizer.tui.app: it imports textual",
        "visualizer.tui.nothing: ModuleNotFoundError(\"No module named 'visualizer.tui.nothing'\")",
    ]
