"""Planted mistakes: each an edit of one Lua file, of the kind that a shortened script is likely to have.

They are written in ``planted/*.txt`` as small differences: a line ``FILE: MISTAKE`` with the file in ``lua/core``, the
text that stands there exactly once (``-``), and what stands there instead (``+``, or nothing). Every one must be told
apart from the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

PLANTED = Path(__file__).with_name("planted")


class Mutation(Struct, frozen=True):
    """What is wrong, in which file of ``lua/core``, and the edit."""

    file: str
    mistake: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {self.mistake}"


def all_mutations() -> list[Mutation]:
    return [mutation for file in sorted(PLANTED.glob("*.txt")) for mutation in _read(file.read_text(encoding="utf-8"))]


def _read(text: str) -> Iterator[Mutation]:
    for block in text.strip().split("\n\n"):
        head, *edit = block.splitlines()
        file, _, mistake = head.partition(": ")
        old, new = ("\n".join(line[2:] for line in edit if line.startswith(sign)) for sign in "-+")
        yield Mutation(file, mistake, old, new)
