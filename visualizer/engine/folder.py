"""Finds a private folder that a server can keep its socket and its log in."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket

from visualizer.engine.base import EngineError

SOCKET_NAME = "s"
# macOS takes the fewest: 104 bytes with the closing zero byte (Linux: 108).
SOCKET_PATH_BYTES = 103
PROBE_BYTES = 4096


def private_folder() -> str:
    """A new folder, readable by us alone, in the first place that can hold one; EngineError where none can.

    TMPDIR comes first, then the places where other programs would look.
    """
    complaints: list[str] = []
    for place in _places():
        folder = os.path.join(os.path.abspath(place), f"emq-{os.urandom(6).hex()}")
        try:
            _try_folder(folder)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            complaints.append(f"{_shown(place)}: {error.strerror or error}")
        else:
            return folder
    raise EngineError(
        "The private server found no folder for its socket ("
        + "; ".join(complaints)
        + "). Set TMPDIR to a writable folder with a short path, or use --engine fakeredis."
    )


def _places() -> list[str]:
    named = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR")]
    return list(dict.fromkeys(place for place in [*named[:3], "/tmp", "/var/tmp", named[3], "/dev/shm"] if place))


def _try_folder(folder: str) -> None:
    """Makes the folder and proves that it takes a socket and a log. OSError, with its reason, where it does not."""
    path = os.path.join(folder, SOCKET_NAME)
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise OSError(f"the path is too long for a socket ({len(os.fsencode(path))} bytes of {SOCKET_PATH_BYTES})")
    os.mkdir(folder, 0o700)
    with open(os.path.join(folder, "probe"), "wb") as probe:
        probe.write(bytes(PROBE_BYTES))
    os.unlink(probe.name)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(path)
    os.unlink(path)


def _shown(place: str) -> str:
    from visualizer.visible import visible  # imported late: only an error needs it

    return visible(os.fsencode(place), 60)
