"""Runs the measurements that are named, or all of them, and prints a line for each finding.

Exit code 1 where one misses its bar, 2 for misuse. They are worth most on a machine that does nothing else; trust the
ratios more than the milliseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.benchmarks import first_paint, idle, inside, key_press, looking_back, observation, walk_step, wire_call
from tests.benchmarks.figures import Finding

BENCHMARKS: Mapping[str, Callable[[float], Iterator[Finding]]] = {
    "first-paint": first_paint.measure,
    "key-press": key_press.measure,
    "wire-call": wire_call.measure,
    "observation": observation.measure,
    "walk-step": walk_step.measure,
    "looking-back": looking_back.measure,
    "inside": inside.measure,
    "idle": idle.measure,
}


def main(names: Sequence[str]) -> int:
    """Prints a line for each finding, as soon as it is there; answers the exit code."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    code = 0
    for name in names or BENCHMARKS:
        for finding in BENCHMARKS[name](1.0):
            print(f"{name:<13} {finding.line()}", flush=True)
            if not finding.holds:
                code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
