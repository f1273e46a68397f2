"""``visualizer prove``: many processes, three queues, every reading judged; the counts, and whether the proof holds.

What it needs is imported when it is asked for, so that Ctrl-C while that goes on is told too.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from visualizer.cli.ending import FAILED, INTERRUPTED, OK, REFUSED, complain, say, write_json

if TYPE_CHECKING:
    from visualizer.prove.counts import Tally
    from visualizer.prove.proving import Proof


def prove(seconds: float, seed: int | None, as_json: bool, every: bool, spec: str) -> int:
    """Runs the proof and tells it, with ``every`` in full; answers the exit code. EngineError where it cannot run."""
    begun: list[Proof] = []
    try:
        tally = _run(seconds, seed, spec, begun)
    except KeyboardInterrupt:
        if not begun:
            (complain if as_json else say)("Nothing was proved.")
            return INTERRUPTED
        tally = _interrupted(begun[0])
    if as_json:
        from visualizer.prove.telling import json_object

        write_json(json_object(tally))
    else:
        for line in _lines(tally, every):
            say(line)
    if tally.trouble:
        complain(tally.trouble)
    return _code(tally)


def _run(seconds: float, seed: int | None, spec: str, begun: list[Proof]) -> Tally:
    """The whole proof; ``begun`` gets it before it runs, for the case that the run itself answers nothing."""
    from visualizer.cli.opening import opened
    from visualizer.engine import EngineError, is_url
    from visualizer.engine.embedded import server_binary
    from visualizer.prove.numbers import any_seed
    from visualizer.prove.proving import NEEDS_VALKEY, NOT_BY_URL, QUEUE, Proof

    if is_url(spec):
        raise EngineError(NOT_BY_URL)
    if spec == "fakeredis" or (spec == "auto" and server_binary() is None):
        raise EngineError(NEEDS_VALKEY)
    drawn = any_seed() if seed is None else seed
    with opened(spec, QUEUE) as engine:
        proof = Proof(engine, seconds, drawn)
        begun.append(proof)
        return proof.run(_show_progress if sys.stderr.isatty() else _show_nothing)


def _interrupted(proof: Proof) -> Tally:
    """What was counted until a second Ctrl-C came in the midst of ending."""
    from msgspec.structs import replace

    return replace(proof.tally, ended="interrupted")


def _lines(tally: Tally, every: bool) -> Iterator[str]:
    """The report at the terminal's width, broken between words."""
    from visualizer.prove.telling import report
    from visualizer.prove.wording import folded

    for line in report(tally, every):
        if sys.stdout.isatty():
            yield from (part.text for part in folded(line, shutil.get_terminal_size().columns))
        else:
            yield line.text


def _code(tally: Tally) -> int:
    if tally.ended == "interrupted":
        return INTERRUPTED
    if tally.ended == "broken off":
        return REFUSED
    return FAILED if tally.faults else OK


def _show_progress(tally: Tally) -> None:
    """One line that is written over again and again, and taken away at the end."""
    from visualizer.prove.telling import progress

    width = shutil.get_terminal_size().columns - 1
    text = progress(tally, width) if tally.ended == "running" else ""
    sys.stderr.write(f"\r{text:<{width}}" if text else f"\r{'':<{width}}\r")
    sys.stderr.flush()


def _show_nothing(_tally: Tally) -> None:
    """No terminal: a bar would only be in the way."""
