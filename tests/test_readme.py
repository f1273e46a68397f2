"""The README says what is so: its lessons, keys, commands, options and pictures are those there are."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from visualizer.actions import ACTIONS, INSIDE, sign
from visualizer.cli.commands import visualizer
from visualizer.lesson import all_lessons, find, load
from visualizer.machine import MACHINES
from visualizer.perform import NAMED_STEPS
from visualizer.tui.themes import DARK, LIGHT

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def section(title: str) -> str:
    """What stands under a heading."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    assert found is not None, f"the README has no section {title}"
    return found[1]


def rows(title: str) -> Iterator[list[str]]:
    """The cells of a section's table, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def code(text: str) -> list[str]:
    """The words of a text that stand as code."""
    return re.findall(r"`([^`]+)`", text)


def commands() -> Iterator[list[str]]:
    """The words of every command line that starts with ``visualizer``, without that word."""
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("visualizer "):
                yield shlex.split(line, comments=True)[1:]


def test_the_table_of_lessons_is_what_there_is() -> None:
    told = [(code(lesson), course, code(paths)) for lesson, course, paths in rows("Lessons")]
    there = [load(file, MACHINES, NAMED_STEPS) for file in all_lessons()]
    assert told == [([lesson.slug], lesson.course, [path.name for path in lesson.paths]) for lesson in there]


def test_the_table_of_keys_is_the_table_of_actions() -> None:
    told = [tuple(code(keys)) for cell, _ in rows("Keys") for keys in cell.split(",")]
    assert sorted(told) == sorted(tuple(sign(key) for key in action.keys) for action in ACTIONS)


def test_the_table_of_keys_inside_a_script_is_the_table_of_actions() -> None:
    told = [tuple(code(keys)) for cell, _ in rows("Inside a script") for keys in cell.split(",")]
    assert sorted(told) == sorted(tuple(sign(key) for key in action.keys) for action in INSIDE)


def test_every_command_is_told() -> None:
    there = {name for name, command in visualizer.commands.items() if not command.hidden}
    told = {words[0] for words in commands()}
    assert told & set(visualizer.commands) == there


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_line_is_understood(words: list[str]) -> None:
    # Parsed, not run: an unknown command, option or choice is an error. A word that is no command is a lesson.
    named = words[0] in visualizer.commands
    name, rest = (words[0], words[1:]) if named else ("open", words)
    visualizer.commands[name].make_context(name, list(rest))
    if not named:
        assert find(words[0]).is_file()


def test_every_option_that_is_told_exists() -> None:
    there = {
        option
        for command in visualizer.commands.values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }
    ours = [line for line in README.splitlines() if "venv" not in line]
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(ours)))
    assert told <= there
    assert told


def test_the_themes_that_are_told_exist() -> None:
    assert set(re.findall(r"--theme ([\w-]+)", README)) <= {DARK.name, LIGHT.name}


def test_the_pictures_are_there() -> None:
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert shown
    assert [name for name in shown if not (CHECKOUT / name).is_file()] == []


def test_the_files_that_are_told_are_there() -> None:
    told = [word for word in code(README) if re.fullmatch(r"[\w./-]+\.(?:py|lua|toml)", word)]
    places = [CHECKOUT, CHECKOUT / "visualizer", CHECKOUT / "visualizer" / "tui" / "screens"]
    missing = [word for word in told if not any((place / word).is_file() for place in places)]
    assert missing == []


def test_the_two_commands_fit_the_project() -> None:
    see, test = re.findall(r"```sh\n(.*?)```", section("Two commands"), re.DOTALL)
    assert re.findall(r"pip install -q (.+?) &&", see) == ["."]
    assert see.rstrip().endswith("/visualizer")
    assert "visualizer" in PROJECT["scripts"]
    (wanted,) = re.findall(r"-e '\.\[(\w+)\]'", test)
    assert wanted in PROJECT["optional-dependencies"]
    assert test.rstrip().endswith("-m pytest")
    assert PROJECT["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in section("Two commands")


def test_no_path_of_a_machine_is_told() -> None:
    assert re.findall(r"(?<![\w.~}])/(?:home|root|work|tmp|var|usr|opt|mnt|Users|private)\b", README) == []
