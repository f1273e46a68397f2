"""What the host does around a script: its guards before anything is sent, the meaning of the reply afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from visualizer.caller import ErrorReply, Reply
from visualizer.ids import IdError
from visualizer.machine.bench import Bench, TokenUnknownError
from visualizer.model import Outcome, Parameter, Performed, Verb

Edges = tuple[tuple[str | None, str | None], ...]

_WHOLE_NUMBERS = frozenset({"duration_ms", "time_ms", "count"})
_ANY_VERB = ("error", "not_sent")


class NotSentError(Exception):
    """Why a guard sends nothing."""


class Replies(Struct, frozen=True):
    """The outcome that each reply of a script names.

    ``refusals`` are the replies that are no error and yet a no; ``errors`` go by how their text begins, the longer
    beginning first where one begins the other.
    """

    answers: Mapping[Any, str] = {}
    refusals: Mapping[Any, str] = {}
    errors: Mapping[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every outcome once, in the order above."""
        return tuple(dict.fromkeys((*self.answers.values(), *self.refusals.values(), *self.errors.values())))

    def read(self, reply: Reply) -> Performed:
        """What the reply means; ``error`` for any error or reply that the script's contract does not name."""
        if isinstance(reply, ErrorReply):
            beginning = next((text for text in self.errors if reply.text.startswith(text)), None)
            name = "error" if beginning is None else self.errors[beginning]
            return Performed(Outcome(name, refused=reply.text))
        if reply in self.answers:
            return Performed(Outcome(self.answers[reply]))
        if reply in self.refusals:
            return Performed(Outcome(self.refusals[reply], refused=str(reply)))
        return unlisted(reply)


def unlisted(reply: Reply) -> Performed:
    """The outcome of a reply that the script's contract does not name, errors among them."""
    text = reply.text if isinstance(reply, ErrorReply) else f"a reply that the contract does not name: {reply!r}"
    return Performed(Outcome("error", refused=text))


def verb(
    script: str,
    sentence: str,
    moves: Edges,
    run: Callable[[Bench], Performed],
    outcomes: tuple[str, ...],
    parameters: tuple[Parameter, ...] = (),
    needs_job: bool = True,
) -> Verb:
    """A verb that runs ``script`` (``leased/claim``) and bears its name.

    It checks its parameters first. Where they, the id or a token cannot be sent it answers ``not_sent`` with the
    reason alone, and nothing reaches the server.
    """

    def guarded(at: Bench) -> Performed:
        try:
            _check(at, parameters, needs_job)
            return run(at)
        except (NotSentError, IdError, TokenUnknownError) as fault:  # each is raised before a script is called
            return Performed(Outcome("not_sent", refused=str(fault), sent=False))

    name = script.rpartition("/")[2].partition("-")[0]
    return Verb(name, script, sentence, moves, parameters, (*outcomes, *_ANY_VERB), needs_job, guarded)


def _check(at: Bench, parameters: tuple[Parameter, ...], needs_job: bool) -> None:
    """Raises what stands in the way of a call: all that building its keys and arguments would not find out."""
    if needs_job and at.step.id is None:
        raise NotSentError(f"{at.step.do} is about a job, and the step names none")
    for parameter in parameters:
        value = at.take(parameter)
        if value is None:
            if parameter.required:
                raise NotSentError(f"{at.step.do} needs {parameter.name}: {parameter.meaning}")
        elif parameter.kind in _WHOLE_NUMBERS:
            _check_number(parameter, value)
        elif parameter.kind == "group":
            at.space.lane(value)
        elif parameter.kind == "pairs":
            for pair in value:
                at.row(pair["job"])


def _check_number(parameter: Parameter, value: Any) -> None:
    lowest = parameter.minimum
    if type(value) is not int or (lowest is not None and value < lowest):
        bound = "" if lowest is None else f" of at least {lowest}"
        raise NotSentError(f"{parameter.name} is a whole number{bound}, not {value!r}")
