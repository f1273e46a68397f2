"""The machines that are taught, by name."""

from __future__ import annotations

from visualizer.machine.leased import LEASED
from visualizer.model import Machine

MACHINES: dict[str, Machine] = {LEASED.name: LEASED}

__all__ = ["MACHINES"]
