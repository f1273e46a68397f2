"""Select a state, select a transition: answered by running, on an engine of its own, the walk's keys untouched."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from redis.exceptions import ResponseError

from tests.engine.serving import needs_server
from tests.shell.conftest import Shell
from visualizer.engine import Engine, EngineError, EngineGone
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.explore import Explorer, UnknownChoiceError
from visualizer.keyspace import Keyspace
from visualizer.machine import MACHINES
from visualizer.model import Step, Walk
from visualizer.walk import Walker

LEASED = MACHINES["leased"]
JOB = b"JOB0KHTOWnGLuC"


@pytest.fixture(scope="module", params=["valkey", "fakeredis"])
def explored(request: pytest.FixtureRequest, valkey_session: Engine) -> Iterator[tuple[Engine, Explorer]]:
    """An engine, and an explorer beside it whose own engine serves all questions of this module."""
    from visualizer.engine import open_engine

    engine = valkey_session if request.param == "valkey" else open_engine("fakeredis", queue=valkey_session.queue)
    explorer = Explorer(engine, LEASED)
    yield engine, explorer
    explorer.close()
    if engine is not valkey_session:
        engine.close()


def everything(engine: Engine) -> dict[bytes, tuple[bytes, int]]:
    """Every key of the server, dumped, with the time it expires at."""
    client: Any = engine.client
    return {key: (client.dump(key), client.pexpiretime(key)) for key in client.keys(b"*")}


@pytest.mark.parametrize("name", LEASED.starts)
def test_a_selected_state_holds_the_id(explored: tuple[Engine, Explorer], name: str) -> None:
    walk = explored[1].state(name)
    (job,) = walk.shown.memberships
    assert walk.shown.memberships[job] == (name,)
    assert walk.at_end
    assert LEASED.is_job_id(job)
    assert all(not frame.broken for frame in walk.frames)


@pytest.mark.parametrize("name", LEASED.shows)
def test_a_selected_transition_runs_last(explored: tuple[Engine, Explorer], name: str) -> None:
    frame, earlier = explored[1].transition(name)
    before, shown = LEASED.shows[name]
    assert frame.step is not None
    assert (frame.step.do, [past.step and past.step.do for past in earlier]) == (shown.do, [step.do for step in before])
    refused = "wrong token" in name
    assert (frame.outcome.refused is not None) == refused
    assert bool(frame.moves) != refused
    assert not frame.broken


def test_every_question_is_about_a_fresh_id_on_an_empty_queue(explored: tuple[Engine, Explorer]) -> None:
    first, second = explored[1].state("dead"), explored[1].state("dead")
    assert list(first.shown.memberships) != list(second.shown.memberships)
    assert second.shown.places["dead"].count == 1
    assert not any(reading.count for reading in second.opening.places.values())


def test_the_walks_keys_stay_as_they_are_byte_for_byte(explored: tuple[Engine, Explorer]) -> None:
    engine, explorer = explored
    engine.clear_queue()
    walker = Walker(engine, LEASED, Keyspace(engine.queue, LEASED.row_prefix), [JOB])
    walker.take(Step("enqueue", JOB, payload=b"\x83h\x04"))
    walker.take(Step("claim", JOB, {"worker": "w1", "lease_ms": 600_000}))
    engine.client.set(engine.base + b"with a TTL", b"\xff", px=600_000)
    before = everything(engine)
    assert len(before) == 3
    for name in LEASED.starts:
        explorer.state(name)
    for name in LEASED.shows:
        explorer.transition(name)
    assert everything(engine) == before
    assert walker.look() is walker.walk, "the walk sees no difference either"
    engine.client.delete(engine.base + b"with a TTL")


def test_the_panel_can_name_the_engine(explored: tuple[Engine, Explorer]) -> None:
    assert explored[1].engine_name == f"a throw-away {explored[0].label}"


def test_a_closed_explorer_answers_on_a_new_engine(fake: Engine) -> None:
    explorer = Explorer(fake, LEASED)
    explorer.state("pending")
    explorer.close()
    explorer.close()
    assert explorer.state("pending").shown.places["pending"].count == 1
    explorer.close()


# When its engine fails -----------------------------------------------------------------------------------------------


@needs_server
@pytest.mark.parametrize("when", ["before a question", "while its scripts run"])
def test_an_engine_that_dies_is_told_as_its_own_and_the_next_question_makes_another(
    valkey: Engine, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    with contextlib.closing(Explorer(valkey, LEASED)) as explorer:
        explorer.state("pending")
        engine = explorer._engine
        assert isinstance(engine, EmbeddedEngine)
        if when == "before a question":
            os.kill(engine.server.pid, signal.SIGKILL)
        else:
            take = Walker.take

            def dying(walker: Walker, step: Step, note: str = "") -> Walk:
                os.kill(engine.server.pid, signal.SIGKILL)
                monkeypatch.setattr(Walker, "take", take)
                return take(walker, step, note)

            monkeypatch.setattr(Walker, "take", dying)
        with pytest.raises(EngineError) as caught:
            explorer.transition("claim")
        assert str(caught.value) == (
            f"The throw-away {engine.label} is gone. The walk is not touched. Ask again: a new one will answer."
        )
        assert not isinstance(caught.value, EngineGone), "the walk's own engine has not failed"
        assert not os.path.exists(engine.server.folder)
        assert explorer.transition("claim")[0].moves
    assert valkey.client.ping()


def test_what_its_engine_refuses_is_told_and_the_engine_is_left(fake: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ResponseError("OOM command not allowed")

    with contextlib.closing(Explorer(fake, LEASED)) as explorer:
        explorer.state("pending")
        first = explorer._engine
        with monkeypatch.context() as patched:
            patched.setattr(type(fake), "clear_queue", refuse)
            with pytest.raises(EngineError, match=r"^The throw-away fakeredis .* could not answer: .*memory is full"):
                explorer.state("pending")
        explorer.state("pending")
        assert explorer._engine is not first


def test_an_unknown_name_makes_no_engine(fake: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(fake), "throwaway", lambda _: pytest.fail("an engine was made"))
    explorer = Explorer(fake, LEASED)
    with pytest.raises(UnknownChoiceError, match="did you mean pending"):
        explorer.state("pendin")
    with pytest.raises(UnknownChoiceError) as unknown:
        explorer.transition("\x1b[2J")
    told, *listed = str(unknown.value).split("\n")
    assert told == r"there is no transition called \x1b[2J. There are:"
    assert [line.strip() for line in listed] == list(LEASED.shows), "one a line: their names hold commas"


# In the shell ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_a_state_in_the_shell(shell: Shell, spec: str) -> None:
    ended = shell("show", "state", "active", "--engine", spec)
    assert (ended.code, ended.err) == (0, b"")
    assert ended.lines[0].startswith("enqueue → claim, on a throw-away ")
    assert "leaves pending, enters active." in ended.lines[1]
    assert any(line.startswith("+ active") and "entered" in line for line in ended.lines)
    assert any(line.startswith("− pending") and "left" in line for line in ended.lines)


def test_a_transition_in_the_shell(shell: Shell) -> None:
    ended = shell("show", "transition", "complete, with a wrong token", "--engine", "fakeredis")
    assert ended.code == 0
    assert "EMQSTALE complete token mismatch" in ended.lines[1]


def test_without_a_name_they_are_listed(shell: Shell) -> None:
    there = [f"{machine.name:<8}{name}" for machine in MACHINES.values() for name in machine.starts]
    assert shell("show", "state").lines == there
    there = [f"{machine.name:<8}{name}" for machine in MACHINES.values() for name in machine.shows]
    assert shell("show", "transition").lines == there


def test_a_name_that_both_machines_have_is_told_apart_by_its_machine(shell: Shell) -> None:
    plain, core = shell("show", "state", "active"), shell("show", "state", "core/active")
    assert plain.lines[0].startswith("enqueue → claim, on a throw-away")
    assert core.lines[0].startswith("addStandardJob → moveToActive, on a throw-away")
    assert (
        shell("show", "transition", "moveToDelayed")
        .lines[0]
        .startswith("addStandardJob → moveToActive → moveToDelayed")
    )


def test_an_unknown_state_is_2(shell: Shell) -> None:
    ended = shell("show", "state", "actve")
    assert (ended.code, ended.out) == (2, b"")
    assert "did you mean active?" in ended.complaint
    assert ended.complaint.splitlines()[1:] == [f"  {name}" for name in LEASED.starts]
