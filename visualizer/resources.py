"""Finds the folders of Lua scripts and lessons: beside the package in a checkout, inside it once installed."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def lua_folder() -> Path:
    """The folder of Lua scripts; raises FileNotFoundError, with a sentence, where there is none."""
    return _folder("lua")


def lessons_folder() -> Path:
    """The folder of lesson files; raises FileNotFoundError, with a sentence, where there is none."""
    return _folder("lessons")


def _folder(name: str) -> Path:
    checkout = _PACKAGE.parent
    beside = checkout / name
    inside = _PACKAGE / "_resources" / name
    # What lies beside an installed package belongs to others, whatever it is called: a checkout has our project file.
    if (checkout / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    if inside.is_dir():
        return inside
    raise FileNotFoundError(
        f"the folder '{name}' is missing: it is neither beside the package ({beside}) nor inside it ({inside}); "
        "install echomq-visualizer again, or run it from a whole checkout"
    )
