"""``python -m visualizer`` and the command ``visualizer``."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    from visualizer.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
