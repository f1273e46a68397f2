"""The machines that are taught, by name."""

from __future__ import annotations

from visualizer.machine.core import CORE
from visualizer.machine.leased import LEASED
from visualizer.model import Machine

MACHINES: dict[str, Machine] = {machine.name: machine for machine in (LEASED, CORE)}

__all__ = ["MACHINES"]
