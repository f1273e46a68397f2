"""Where scripts and lessons are found: in this checkout, in an installed package, or nowhere with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from visualizer import resources


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty package folder that stands in for ours."""
    folder = tmp_path / "visualizer"
    folder.mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", folder)
    return folder


def make_checkout(package: Path) -> None:
    (package.parent / "pyproject.toml").touch()
    for name in ("lua", "lessons"):
        (package.parent / name).mkdir()


def make_installed(package: Path) -> None:
    for name in ("lua", "lessons"):
        (package / "_resources" / name).mkdir(parents=True)


def test_this_checkout_has_both_folders() -> None:
    assert (resources.lua_folder() / "leased").is_dir()
    assert resources.lessons_folder().is_dir()


def test_an_installed_package_holds_them_inside(package: Path) -> None:
    make_installed(package)
    assert resources.lua_folder() == package / "_resources" / "lua"
    assert resources.lessons_folder() == package / "_resources" / "lessons"


def test_a_checkout_is_looked_at_before_a_copy_inside(package: Path) -> None:
    make_installed(package)
    make_checkout(package)
    assert resources.lua_folder() == package.parent / "lua"
    assert resources.lessons_folder() == package.parent / "lessons"


def test_what_others_put_beside_an_installed_package_is_not_ours(package: Path) -> None:
    make_installed(package)
    (package.parent / "lua").mkdir()
    assert resources.lua_folder() == package / "_resources" / "lua"
    (package.parent / "pyproject.toml").touch()
    assert resources.lessons_folder() == package / "_resources" / "lessons"


@pytest.mark.usefixtures("package")
def test_a_missing_folder_is_named_with_the_way_out() -> None:
    with pytest.raises(FileNotFoundError, match=r"the folder 'lua' is missing: .*install echomq-visualizer again"):
        resources.lua_folder()
    with pytest.raises(FileNotFoundError, match="the folder 'lessons' is missing"):
        resources.lessons_folder()
