"""What a scene tells in words: the readout's lines, and what the Lua panel says where no script ran."""

from __future__ import annotations

from msgspec import Struct

from visualizer.model import Frame
from visualizer.readout import readout
from visualizer.script import Script, load
from visualizer.spans import Line, Span
from visualizer.trace import Trace, went_another_way
from visualizer.tui.scene import Scene
from visualizer.visible import visible
from visualizer.wire_log import total, wire_log


def lines_of(scene: Scene) -> tuple[Line, ...]:
    """The readout of a scene; at the start, what there is before any step."""
    told = readout(scene.machine, scene.frame, scene.earlier) if scene.frame else ()
    if scene.trouble:
        sentence = Line("", (Span(scene.trouble, "refused"),))
        if scene.walk is None:
            return (sentence, Line("", (Span("r tries again, q leaves."),)))
        kept = Line("", (Span("What was walked is kept: ← looks back. r starts the path again on a new engine."),))
        return (sentence, kept, *told)
    if told:
        scanned = (Line("scan", (Span(scene.surveyed),)),) if scene.surveyed else ()
        return (*told, *scanned)
    if scene.walk is None:
        return (Line("", (Span("The engine starts.", "quiet"),)),)
    return (
        Line("", (Span("Nothing has run yet.", "strong"), Span("  Press → for the first step."))),
        Line("path", (Span(visible(scene.path.title)),)),
        *((Line("locks", (Span(scene.real_locks, "refused"),)),) if scene.real_locks else ()),
    )


def wire_of(scene: Scene) -> tuple[tuple[Line, ...], str]:
    """The wire log of the frame under the cursor, and its total, empty where nothing was sent."""
    base = scene.engine.prefix.encode() if scene.engine else b""
    sent = scene.frame.calls if scene.frame else ()
    return wire_log(scene.frame, base, scene.unwatched or None), total(sent) if sent else ""


class LuaView(Struct, frozen=True):
    """What the Lua panel shows: a script, or lines that say why there is none."""

    title: str
    script: Script | None = None
    note: tuple[str, ...] = ()
    trace: Trace | None = None


def lua_of(scene: Scene) -> LuaView:
    """The script that just ran."""
    frame = scene.frame
    if scene.layers and scene.machine.layers is not None:
        return LuaView("layers, top down", note=_layers(scene))
    if frame is None:
        return LuaView("lua", note=("", "No script has run yet.", "", *_coming(scene)))
    if frame.performed.script is not None:
        trace = scene.trace if scene.trace is not None and not went_another_way(scene.trace, frame) else None
        return LuaView(f"{frame.performed.script}.lua", load(frame.performed.script), trace=trace)
    if frame.kind == "commands":
        return LuaView(
            "no script: single commands", note=("", *_sent(frame), "", "Between two of them, anyone may look.")
        )
    return LuaView("no script", note=("", "This step runs no script."))


def _layers(scene: Scene) -> tuple[str, ...]:
    told = scene.machine.layers(scene.frame) if scene.machine.layers and scene.frame else ()
    if not told:
        return ("", "This step runs no script, so there are no layers to it.")
    lines = [f"{name}  {text}" for name, text in told]
    return ("── each runtime's own ──", *lines[:2], "── the protocol ──", *lines[2:])


def _coming(scene: Scene) -> tuple[str, ...]:
    """What the next key will run."""
    step = scene.next_step
    verb = scene.machine.verbs.get(step.do) if step and not scene.trouble else None
    return (f"The next key runs {verb.script}.lua.",) if verb else ()


def _sent(frame: Frame) -> list[str]:
    words = [(call.command.encode(), *call.keys, *call.args) for call in frame.calls]
    return [" ".join(visible(word, 40) for word in sent) for sent in words]
