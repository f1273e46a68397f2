"""The command line: click commands over the headless core; the screen is imported only when it opens."""

from __future__ import annotations

from visualizer.cli.ending import run

__all__ = ["run"]
