"""What a process has used: processor seconds and resident memory, by `/proc` or by `ps`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from msgspec import Struct


class Usage(Struct, frozen=True):
    """Processor seconds since the process started, and the bytes it holds in memory now."""

    cpu_seconds: float
    resident_bytes: int


def usage(pid: int) -> Usage:
    """The usage of one process."""
    folder = Path(f"/proc/{pid}")
    if folder.is_dir():
        # The name stands in brackets and may hold spaces; user and system time are the 14th and 15th field.
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        pages = int((folder / "statm").read_text().split()[1])
        return Usage(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE"))
    told = subprocess.run(["ps", "-o", "time=,rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    time, kilobytes = told.stdout.split()
    seconds = 0.0
    for part in time.replace("-", ":").split(":"):
        seconds = seconds * 60 + float(part)
    return Usage(seconds, int(kilobytes) * 1024)


def children(pid: int) -> list[int]:
    """The processes that this one has started; none where the system does not tell."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listed.read_text().split()] if listed.is_file() else []
