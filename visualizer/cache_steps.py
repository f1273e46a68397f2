"""What the server's script cache has to do with a call, as named steps: the SHA-1, the text, and the bytes of both.

The steps that call a script call ``extend_lock``: it may run any number of times on one claimed job, and each time it
does the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from visualizer.caller import ErrorReply, Reply, ShaDiffersError
from visualizer.model import Machine, Outcome, Parameter, Performed
from visualizer.script import Named, Script, load
from visualizer.steps import NamedStep, Stage

BY_EVAL, BY_EVALSHA = "send_by_eval", "send_by_evalsha"

_OF = Parameter("of", "verb", "whose script it is", required=True)
_TOKEN = Parameter("token", "token", "the attempts that the worker's claim gave it", required=True)
_LEASE = Parameter("lease_ms", "duration_ms", "the new lease, each time", default=30_000, minimum=1)
_COUNT = Parameter("count", "count", "how many calls", default=20, minimum=1)
_CALLED = "extend_lock"


def _compute_sha1(at: Stage) -> Performed:
    script = _script(at, at.take(_OF))
    text = f"{script.name}.lua, {len(script.source.encode()):,} bytes"
    note = "computed here, before the server is asked; nothing was sent"
    return _found(script, Outcome("computed", note=note), (("text", text), ("sha-1", script.sha1)))


def _load_script(at: Stage) -> Performed:
    script = _script(at, at.take(_OF))
    try:
        answer = at.caller.load(script)
    except ShaDiffersError as differs:
        return _differs(script, differs)
    note = "the server computed the same SHA-1 from the text that it got"
    return _found(script, Outcome("loaded", note=note), (("here", script.sha1), ("server", answer)))


def _call_wrong_sha(at: Stage) -> Performed:
    script = _script(at, _CALLED)
    other = replace(script, sha1=_sha1(script.source + " "))
    reply = at.caller.call_by_sha_alone(other, *_arguments(at))
    facts = (("right", script.sha1), ("sent", other.sha1))
    if isinstance(reply, ErrorReply) and reply.code == "NOSCRIPT":
        note = "the SHA-1 of the same text with one space more at its end: no script here has it, and nothing ran"
        return _found(script, Outcome("no_script", refused=reply.code, note=note), facts)
    return _found(script, _answered(reply), facts)


def _load_changed_text(at: Stage) -> Performed:
    # A changed text stays in the cache under a name of its own: nothing to leave behind on a server that is not ours.
    refused = at.engine.may("flush_scripts")
    if refused:
        return Performed(Outcome("not_sent", refused=refused, sent=False), kind="commands")
    script = _script(at, _CALLED)
    changed = replace(script, source=script.source.replace("\n", "\r\n"))
    try:
        reply = at.caller.call(changed, *_arguments(at))
    except ShaDiffersError as differs:
        return _differs(script, differs)
    return _found(script, _answered(reply))


def _send_by(call: Callable[[Stage, Script, Named, Named], Reply]) -> Callable[[Stage], Performed]:
    def run(at: Stage) -> Performed:
        script = _script(at, _CALLED)
        keys, args = _arguments(at)
        outcome = Outcome("sent")
        for _ in range(at.take(_COUNT)):
            outcome = _answered(call(at, script, keys, args))
            if outcome.name == "error":
                break
        return Performed(outcome, script=script.name)

    return run


def _arguments(at: Stage) -> tuple[Mapping[str, bytes], Mapping[str, bytes | int]]:
    keys = {"active": at.key("active"), "row": at.row()}
    return keys, {"id": at.id, "token": at.token(), "lease_ms": at.take(_LEASE)}


def _script(at: Stage, verb: str) -> Script:
    return load(at.machine.verbs[verb].script)


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _found(script: Script, outcome: Outcome, facts: tuple[tuple[str, str], ...] = ()) -> Performed:
    return Performed(outcome, kind="commands", script=script.name, facts=facts)


def _differs(script: Script, differs: ShaDiffersError) -> Performed:
    note = "the server holds another text now, and our SHA-1 would get NOSCRIPT again, and a load again, without end"
    outcome = Outcome("sha_differs", refused="the server computed another SHA-1", note=note)
    return _found(script, outcome, (("here", script.sha1), ("server", differs.answer)))


def _answered(reply: Reply) -> Outcome:
    if isinstance(reply, ErrorReply):
        return Outcome("error", refused=reply.text)
    return Outcome("sent") if reply == 1 else Outcome("error", refused=str(reply))


def _has_script(machine: Machine) -> bool:
    return _CALLED in machine.verbs


_CALL = (_TOKEN, _LEASE)

CACHE_STEPS: dict[str, NamedStep] = {
    step.name: step
    for step in (
        NamedStep(
            "compute_sha1",
            "Compute a script's SHA-1 here; nothing is sent.",
            "commands",
            (_OF,),
            ("computed",),
            False,
            _compute_sha1,
        ),
        NamedStep(
            "load_script",
            "Load a script and compare the SHA-1 that the server answers with ours.",
            "commands",
            (_OF,),
            ("loaded", "sha_differs"),
            False,
            _load_script,
        ),
        NamedStep(
            "call_wrong_sha",
            "Call extend_lock by a SHA-1 that belongs to no script.",
            "commands",
            _CALL,
            ("no_script", "sent", "error"),
            True,
            _call_wrong_sha,
            fits=_has_script,
            calls_scripts=True,
        ),
        NamedStep(
            "load_changed_text",
            "Call extend_lock, and where it has to be loaded, let its line ends change on the way.",
            "commands",
            _CALL,
            ("sha_differs", "sent", "error", "not_sent"),
            True,
            _load_changed_text,
            fits=_has_script,
            calls_scripts=True,
        ),
        NamedStep(
            BY_EVAL,
            "Call extend_lock that often, each time by EVAL with its whole text.",
            "script",
            (*_CALL, _COUNT),
            ("sent", "error"),
            True,
            _send_by(lambda at, script, keys, args: at.caller.call_by_text(script, keys, args)),
            fits=_has_script,
            calls_scripts=True,
        ),
        NamedStep(
            BY_EVALSHA,
            "Call extend_lock that often, each time by EVALSHA.",
            "script",
            (*_CALL, _COUNT),
            ("sent", "error"),
            True,
            _send_by(lambda at, script, keys, args: at.caller.call(script, keys, args)),
            fits=_has_script,
            calls_scripts=True,
        ),
    )
}
