"""``visualizer prove``: many processes, three queues, every reading judged; the counts, and whether the proof holds."""

from __future__ import annotations

import random
import shutil
import sys

from visualizer.cli.ending import FAILED, INTERRUPTED, OK, REFUSED, complain, say, write_json
from visualizer.cli.opening import opened
from visualizer.engine import EngineError, is_url
from visualizer.engine.embedded import server_binary
from visualizer.prove.counts import Tally
from visualizer.prove.proving import NEEDS_VALKEY, NOT_BY_URL, QUEUE, Proof
from visualizer.prove.telling import json_object, progress, report

LARGEST_SEED = 2**32 - 1


def prove(seconds: float, seed: int | None, as_json: bool, spec: str) -> int:
    """Runs the proof and tells it; answers the exit code. EngineError where it cannot run at all."""
    if is_url(spec):
        raise EngineError(NOT_BY_URL)
    if spec == "fakeredis" or (spec == "auto" and server_binary() is None):
        raise EngineError(NEEDS_VALKEY)
    drawn = random.SystemRandom().randint(0, LARGEST_SEED) if seed is None else seed
    with opened(spec, QUEUE) as engine:
        tally = Proof(engine, seconds, drawn).run(_show_progress if sys.stderr.isatty() else _show_nothing)
    if as_json:
        write_json(json_object(tally))
    else:
        for line in report(tally):
            say(line.text)
    if tally.trouble:
        complain(tally.trouble)
    return _code(tally)


def _code(tally: Tally) -> int:
    if tally.ended == "interrupted":
        return INTERRUPTED
    if tally.ended == "broken off":
        return REFUSED
    return FAILED if tally.faults else OK


def _show_progress(tally: Tally) -> None:
    """One line that is written over again and again, and taken away at the end."""
    width = shutil.get_terminal_size().columns - 1
    text = progress(tally, width) if tally.ended == "running" else ""
    sys.stderr.write(f"\r{text:<{width}}" if text else f"\r{'':<{width}}\r")
    sys.stderr.flush()


def _show_nothing(_tally: Tally) -> None:
    """No terminal: a bar would only be in the way."""
