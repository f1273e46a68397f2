"""The private folder: where it goes when TMPDIR cannot hold it, and what is said when nothing can."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.serving import needs_server
from visualizer.engine import EmbeddedServer, EngineError, folder
from visualizer.engine.folder import SOCKET_NAME, SOCKET_PATH_BYTES, private_folder

pytestmark = needs_server


@contextlib.contextmanager
def a_server_in(temp: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The folder of a server that answers, started with that TMPDIR."""
    monkeypatch.setenv("TMPDIR", str(temp))
    server = EmbeddedServer.spawn()
    try:
        server.wait()
        yield server.folder
    finally:
        server.close()
    assert not os.path.exists(server.folder)


@pytest.mark.parametrize("name", ["plain", "with space", "quote'", 'double"', "dollar $HOME `id`", "ünï", "new\nline"])
def test_any_name_that_fits_is_used(name: str, short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temp = short_path / name
    temp.mkdir()
    with a_server_in(temp, monkeypatch) as used:
        assert Path(used).parent == temp


def test_a_path_too_long_for_a_socket_is_passed_over(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temp = short_path / ("x" * 200)
    temp.mkdir()
    with a_server_in(temp, monkeypatch) as used:
        assert not used.startswith(str(short_path))
    assert not any(temp.iterdir())


def test_the_longest_path_that_fits_works_and_one_byte_more_is_passed_over(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server_in(short_path, monkeypatch) as used:
        around = len(os.fsencode(os.path.join(used, SOCKET_NAME))) + 1
    for more, fits in ((0, True), (1, False)):
        temp = short_path / ("x" * (SOCKET_PATH_BYTES - around + more))
        temp.mkdir()
        with a_server_in(temp, monkeypatch) as used:
            assert used.startswith(str(temp)) is fits


def test_a_missing_folder_is_passed_over(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_server_in(short_path / "missing", monkeypatch) as used:
        assert not used.startswith(str(short_path))


def test_a_file_in_place_of_a_folder_is_passed_over(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (short_path / "file").write_text("")
    with a_server_in(short_path / "file", monkeypatch) as used:
        assert not used.startswith(str(short_path))


def test_a_read_only_folder_is_passed_over(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with read_only(short_path, monkeypatch), a_server_in(short_path, monkeypatch) as used:
        assert not used.startswith(str(short_path))


def test_a_full_file_system_is_passed_over(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with full(short_path, monkeypatch), a_server_in(short_path, monkeypatch) as used:
        assert not used.startswith(f"{short_path}{os.sep}")
        assert [path.name for path in short_path.iterdir()] in ([], ["filler"])


def test_when_nothing_can_hold_it_every_reason_is_told_and_a_way_out(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    too_long = short_path / ("x" * 200)
    monkeypatch.setattr(folder, "_places", lambda: [str(too_long), str(short_path / "missing\x1b[2J")])
    with pytest.raises(EngineError) as caught:
        private_folder()
    sentence = str(caught.value)
    assert "too long for a socket" in sentence
    assert "No such file or directory" in sentence
    assert "Set TMPDIR" in sentence
    assert "--engine fakeredis" in sentence
    assert "\x1b" not in sentence


def test_tmpdir_comes_first_and_a_relative_one_is_made_absolute(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(short_path)
    (short_path / "here").mkdir()
    with a_server_in(Path("here"), monkeypatch) as used:
        assert Path(used).parent == short_path / "here"


def mounted(where: Path, options: str) -> bool:
    """Mounts a small file system where this user may; the caller unmounts it."""
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        return False
    command = [mount, "-t", "tmpfs", "-o", options, "tmpfs", str(where)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def read_only(where: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A read-only file system where one can be mounted, else a `mkdir` that fails as on one."""
    if mounted(where, "size=16k,ro"):
        try:
            yield
        finally:
            subprocess.run(["umount", str(where)], check=True)
        return
    make = os.mkdir

    def refuse(path: str, mode: int = 0o777) -> None:
        if str(path).startswith(f"{where}{os.sep}"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        make(path, mode)

    monkeypatch.setattr(os, "mkdir", refuse)
    yield


@contextlib.contextmanager
def full(where: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A full file system where one can be mounted, else a probe that fails as on one."""
    if mounted(where, "size=16k"):
        try:
            with contextlib.suppress(OSError), open(where / "filler", "wb", buffering=0) as filler:
                while filler.write(bytes(4096)):
                    pass
            yield
        finally:
            subprocess.run(["umount", str(where)], check=True)
        return
    attempt = folder._try_folder

    def refuse(path: str) -> None:
        if path.startswith(f"{where}{os.sep}"):
            os.mkdir(path)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        attempt(path)

    monkeypatch.setattr(folder, "_try_folder", refuse)
    yield
