"""``visualizer xray``: one step's script line by line, without a screen."""

from __future__ import annotations

from typing import Any

from visualizer.called import NoXrayError
from visualizer.caller import ErrorReply
from visualizer.cli.ending import OK, REFUSED, complain, say, write_json
from visualizer.cli.opening import loaded, opened
from visualizer.debugger import DebuggerError
from visualizer.inside import PlaceSeen, Seen
from visualizer.look_inside import source_of, why_never
from visualizer.player import Player, why_not_here
from visualizer.visible import json_bytes
from visualizer.wire_log import issued_lines
from visualizer.xray import Xray
from visualizer.xray_lines import told


def xray_step(
    name: str, path: str | None, step: int, as_json: bool, spec: str, queue: str | None, pace: float, take_over: bool
) -> int:
    """Plays the path up to the step and looks into that step's script; answers the exit code."""
    lesson = loaded(name, pace)
    chosen = lesson.paths[0] if path is None else lesson.path(path)
    if not 1 <= step <= len(chosen.steps):
        complain(f"The path {chosen.name} has steps 1 to {len(chosen.steps)}, and --step says {step}.")
        return REFUSED
    with opened(spec, lesson.queue if queue is None else queue, take_over) as engine:
        player = Player(lesson, engine, watch=bool(why_never(engine)))
        why = why_not_here(chosen, engine)
        if why is not None:
            complain(f"The path {chosen.name} was not played: {why}")
            return REFUSED
        player.choose(chosen.name)
        player.jump(step - 1)
        try:
            xray = Xray(source_of(player, None))
        except NoXrayError as none:
            complain(str(none))
            if not as_json:
                _tell_instead(player)
            return REFUSED
        title = f"{lesson.slug} · {chosen.name} · step {step}"
        broke_off = ""
        try:
            xray.to_end()
        except DebuggerError as failure:
            broke_off = f"The preview broke off: {failure}. The lesson is untouched."
        finally:
            xray.close()
        (_tell_json if as_json else _tell)(xray, title)
        if broke_off:
            complain(broke_off)
    return REFUSED if broke_off else OK


def _tell_instead(player: Player) -> None:
    """Without a debugger: the step runs, and what its script issued is told."""
    if not why_never(player.engine):
        return
    frame = player.step().frame
    lines = issued_lines(frame, player.space.base)
    if lines and frame is not None:
        say(f"Instead, what {frame.performed.script}.lua issued when it ran, and what it was answered:")
        for line in lines:
            say(line.text)


def _tell(xray: Xray, title: str) -> None:
    for line in told(xray, title):
        say(line)


def _tell_json(xray: Xray, title: str) -> None:
    """One object a stop, one a line: the line that ran, what it ran, and what is seen before the next line.

    Commands and locals stand as the debugger prints them: cut, line ends as blanks, numbers rounded to six digits, and
    instants ``shifted_ms`` later than in the lesson; in the views they are the lesson's.
    """
    called = xray.called
    lines = called.script.lines
    for stop in xray.stops:
        write_json(
            {
                "v": 1,
                "title": title,
                "script": called.script.name,
                "sha1": called.script.sha1,
                "keys": [[name, _plain(value)] for name, value in called.named()[: len(called.keys)]],
                "args": [[name, _plain(value)] for name, value in called.named()[len(called.keys) :]],
                "shifted_ms": stop.shifted_ms,
                "stop": stop.number,
                "line": stop.line or None,
                "source": lines[stop.line - 1] if stop.line else None,
                "ran_line": stop.ran_line or None,
                "commands": [{"command": _plain(ran.text), "reply": _plain(ran.reply)} for ran in stop.ran],
                "locals": {local.name: _plain(local.text) for local in stop.locals},
                "changed": sorted(stop.changed),
                "inside": _seen(stop.inside, xray),
                "outside": _seen(stop.outside, xray),
                "reply": _plain(xray.trace.reply) if stop.ended and xray.trace is not None else None,
                "error_line": (xray.trace.error_line or None) if stop.ended and xray.trace is not None else None,
                "ended": stop.ended,
            }
        )


def _seen(seen: Seen | None, xray: Xray) -> Any:
    if seen is None:
        return None
    return {
        "id": _plain(xray.job),
        "holds_id": list(seen.holding(xray.job)) if xray.job is not None else [],
        "places": {place.name: _place(place) for place in seen.places},
        "row": None if seen.row is None else [[_plain(field), _plain(value)] for field, value in seen.row.items()],
        "lock": _plain(seen.lock),
        "sides": {name: _plain(held) for name, held in seen.sides.items()},
    }


def _place(place: PlaceSeen) -> Any:
    return {"count": place.count, "head": [[_plain(job), score] for job, score in place.head]}


def _plain(value: Any) -> Any:
    """A value as JSON has it: bytes as text or hex, a mapping as pairs, an error as an object."""
    if isinstance(value, bytes):
        return json_bytes(value)
    if isinstance(value, ErrorReply):
        return {"error": value.text}
    if isinstance(value, dict):
        return [[_plain(key), _plain(held)] for key, held in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
