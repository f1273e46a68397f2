"""The judge: a machine's laws on one frame's evidence."""

from __future__ import annotations

from visualizer.model import Evidence, LawResult, Machine


def judge(machine: Machine, evidence: Evidence) -> tuple[LawResult, ...]:
    """Every law of the machine with what breaks it, in the machine's order."""
    return tuple(LawResult(law.name, law.sentence, tuple(law.breaches(evidence))) for law in machine.laws)
