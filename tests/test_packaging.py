"""What is built from this checkout: a wheel that works elsewhere, and an sdist that can be tested."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
# Where a walk's resources come from, told by the package itself.
TELL_FOLDERS = "from visualizer.resources import *; print(lua_folder()); print(lessons_folder())"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this checkout's sdist, and the wheel that is built from that sdist."""
    folder = tmp_path_factory.mktemp("built")
    ran((sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)), folder)
    return folder


@pytest.fixture(scope="session")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, installed into a folder of its own; what it needs is in the environment that runs the tests."""
    target = tmp_path_factory.mktemp("installed")
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile")
    ran((*pip, "--target", str(target), str(only(built, "*.whl"))), target)
    return target


def ran(words: Sequence[str], folder: Path, packages: Path | None = None) -> str:
    """Runs a command in a folder, with another folder's packages first; what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if packages is not None:
        environment["PYTHONPATH"] = str(packages)
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def only(folder: Path, pattern: str) -> Path:
    """The one file that matches."""
    (found,) = folder.glob(pattern)
    return found


def visualizer(installed: Path, folder: Path, *words: str) -> str:
    """Runs the installed command in an empty folder; what it printed."""
    return ran((sys.executable, "-m", "visualizer", *words), folder, installed)


def test_an_installed_wheel_uses_its_own_scripts_and_lessons(installed: Path, tmp_path: Path) -> None:
    resources = installed / "visualizer" / "_resources"
    folders = ran((sys.executable, "-c", TELL_FOLDERS), tmp_path, installed).split()
    assert folders == [str(resources / "lua"), str(resources / "lessons")]


def test_an_installed_wheel_holds_every_script_and_lesson(installed: Path) -> None:
    for name in ("lua", "lessons"):
        ours = {file.relative_to(CHECKOUT) for file in (CHECKOUT / name).rglob("*") if file.is_file()}
        resources = installed / "visualizer" / "_resources"
        theirs = {file.relative_to(resources) for file in (resources / name).rglob("*") if file.is_file()}
        assert ours == theirs


def test_an_installed_wheel_walks_a_lesson(installed: Path, tmp_path: Path) -> None:
    words = ("states-as-locations", "--path", "happy", "--pace", "0.05", "--engine", "fakeredis")
    told = visualizer(installed, tmp_path, "walk", *words)
    assert "3 of 3 ·" in told
    assert list(tmp_path.iterdir()) == []


def test_an_installed_wheel_lists_its_lessons(installed: Path, tmp_path: Path) -> None:
    slugs = {line.split()[0] for line in visualizer(installed, tmp_path, "lessons").splitlines()}
    assert slugs == {file.stem for file in (CHECKOUT / "lessons").glob("*.toml")}


def test_an_installed_wheel_shows_a_script(installed: Path, tmp_path: Path) -> None:
    source = visualizer(installed, tmp_path, "script", "leased/claim", "--source")
    assert (CHECKOUT / "lua" / "leased" / "claim.lua").read_text(encoding="utf-8").splitlines()[0] in source
    assert "KEYS" in visualizer(installed, tmp_path, "script", "leased/claim")


def test_a_wheel_brings_the_command_and_nothing_but_the_package(built: Path) -> None:
    with zipfile.ZipFile(only(built, "*.whl")) as wheel:
        names = wheel.namelist()
        (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
        assert "visualizer = visualizer.__main__:main" in wheel.read(entry_points).decode()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"visualizer", "echomq_visualizer"}
    assert "visualizer/tui/visualizer.tcss" in names
    assert not [name for name in names if "__pycache__" in name]


def test_building_leaves_nothing_in_the_checkout(built: Path) -> None:
    assert not built.is_relative_to(CHECKOUT)
    left = [name for name in os.listdir(CHECKOUT) if name in ("build", "dist") or name.endswith(".egg-info")]
    assert left == []


def test_an_sdist_holds_what_its_tests_need(built: Path) -> None:
    with tarfile.open(only(built, "*.tar.gz")) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for name in ("README.md", "pyproject.toml", "tests/conftest.py", "tests/test_packaging.py", "lua/observe.lua"):
        assert name in names
    assert {name.split("/")[0] for name in names} <= {
        *("PKG-INFO", "README.md", "pyproject.toml", ".gitignore"),
        *("visualizer", "lessons", "lua", "tests"),
    }
