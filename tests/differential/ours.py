"""Our scripts as they are sent, and as they would be sent with a mistake in one file."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.differential.mutations import Mutation
from visualizer import script
from visualizer.resources import lua_folder


def our_sources() -> Mapping[str, str]:
    """The core machine's scripts by name, ``moveToActive-11``."""
    names = [name for name in script.all_names() if name.startswith("core/")]
    return {name.removeprefix("core/"): script.load(name).source for name in names}


def mutated_sources(mutation: Mutation, folder: Path, patch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """The scripts that the mistake changes. It is planted in a copy of the files, which lies in ``folder``."""
    shutil.copytree(lua_folder() / "core", folder / "core")
    file = folder / "core" / f"{mutation.file}.lua"
    text = file.read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1, f"{mutation.old!r} stands {text.count(mutation.old)} times in {file.name}"
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    with patch.context() as patched:
        patched.setattr(script, "lua_folder", lambda: folder)
        # Past the cache, which knows the scripts without the mistake.
        return {name: script.load.__wrapped__(f"core/{name}").source for name in _users(mutation.file)}


def _users(file: str) -> list[str]:
    """The script that lies in the file, or all that use the shared step in it."""
    step = file.removeprefix("steps/")
    return [name for name in our_sources() if name == file or step in [used for *_, used in _load(name).shared]]


def _load(name: str) -> script.Script:
    return script.load(f"core/{name}")
