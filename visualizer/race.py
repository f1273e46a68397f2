"""Races: runs of steps that several actors take turns in, and the order in which they take them.

A lesson writes one order. Whoever plays it may choose another: an actor's own steps keep their order, and who comes
next is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from visualizer.model import Frame, Step
from visualizer.visible import visible

NO_CHOICE = "No other actor has anything to run next."


class TurnError(LookupError):
    """An actor whose turn it cannot be: a sentence that names those who have something to run."""


def races_in(steps: Sequence[Step]) -> Iterator[range]:
    """Each race of a path: the indices of a run of steps that name whose turn they are."""
    start: int | None = None
    for at, turn in enumerate((*(step.turn for step in steps), "")):
        if turn and start is None:
            start = at
        elif not turn and start is not None:
            yield range(start, at)
            start = None


def actors_of(steps: Iterable[Step]) -> tuple[str, ...]:
    """The actors of these steps, in the order in which they first come."""
    return tuple(dict.fromkeys(step.turn for step in steps if step.turn))


class Order:
    """A path's steps as they are written, and in the order in which they are taken.

    ``steps`` is that order. Where it leaves the written one, the steps from there on announce nothing: what a lesson
    expects is true of its own order alone.
    """

    def __init__(self, written: tuple[Step, ...]) -> None:
        self._written = written
        self._places = list(range(len(written)))
        self.steps = written

    def turns(self, taken: int) -> Mapping[str, Step]:
        """After so many steps: each actor that has something to run, and its next step; empty outside of a race."""
        turns: dict[str, Step] = {}
        for step in self.steps[taken : self._end_of_race(taken)]:
            turns.setdefault(step.turn, step)
        race = next((race for race in races_in(self._written) if taken in race), range(0))
        known = actors_of(self._written[at] for at in race)
        return {actor: turns[actor] for actor in known if actor in turns}

    def put_next(self, actor: str, taken: int) -> None:
        """Lets that actor's next step come after so many steps. TurnError where it has none to run in this race."""
        turns = self.turns(taken)
        if actor not in turns:
            raise TurnError(_refusal(actor, turns, self.steps, taken))
        race = range(taken, self._end_of_race(taken))
        chosen = next(at for at in race if self.steps[at].turn == actor)
        self._places.insert(taken, self._places.pop(chosen))
        # What is left goes on as the lesson writes it.
        self._places[taken + 1 : race.stop] = sorted(self._places[taken + 1 : race.stop])
        self.steps = tuple(self._in_order())

    def put_all(self, actors: Sequence[str]) -> None:
        """Gives the turns of all the path's races to these actors, one after the other; what they leave open stays as
        it is written. TurnError at the first one that cannot be; nothing is changed then."""
        planned = Order(self._written)
        places = [at for race in races_in(self._written) for at in race]
        if len(actors) > len(places):
            given = "one turn is" if len(actors) == 1 else f"{len(actors)} turns are"
            there = f"races of {len(places)} steps in all" if places else "no race"
            raise TurnError(f"{given} given, and the path has {there}")
        for at, actor in zip(places, actors, strict=False):
            planned.put_next(actor, at)
        self._places, self.steps = planned._places, planned.steps

    def _end_of_race(self, taken: int) -> int:
        return next((race.stop for race in races_in(self._written) if taken in race), taken)

    def _in_order(self) -> Iterator[Step]:
        chosen = False
        for at, place in enumerate(self._places):
            chosen = chosen or place != at
            step = self._written[place]
            yield replace(step, expect=None) if chosen else step


def other_turn(turns: Mapping[str, Step], coming: Step | None) -> str | None:
    """The actor after the one whose step is coming, round and round; None where there is no other."""
    actors = list(turns)
    if coming is None or len(actors) < 2:
        return None
    return actors[(actors.index(coming.turn) + 1) % len(actors)]


def chosen_turns(frame: Frame, earlier: Sequence[Frame]) -> tuple[str, ...]:
    """Whose turn each step was up to this frame, where the order was chosen and the lesson announces nothing of it.

    Else it is empty.
    """
    if not frame.of_path or frame.step is None or frame.step.expect is not None:
        return ()
    return tuple(past.step.turn for past in (*earlier, frame) if past.step is not None and past.step.turn)


def order_line(turns: Sequence[str]) -> str:
    """The order that was chosen up to here: each actor by its first letter, by its name where that is another's too."""
    initials = {actor: actor[:1].upper() for actor in turns}
    distinct = len(set(initials.values())) == len(initials)
    told = " ".join(visible(initials[turn]) for turn in turns) if distinct else ", ".join(visible(t, 24) for t in turns)
    return f"Your own order ({told}): nothing is announced for it."


def _refusal(actor: str, turns: Mapping[str, Step], steps: Sequence[Step], taken: int) -> str:
    who = f"it cannot be the turn of “{visible(actor, 24)}”"
    if not turns:
        where = f"step {taken + 1} is" if taken < len(steps) else "what comes is"
        return f"{who}: {where} no step of a race"
    known = actor in actors_of(steps)
    why = "it has nothing left to run in this race" if known else "no actor of the race is called so"
    return f"{who} at step {taken + 1}: {why}; it can be that of {' or '.join(turns)}"
