"""The processes themselves: what they say, that they end when nobody listens, and what their last words are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from time import monotonic

import pytest

from tests.engine.serving import DEADLINE_SECONDS, eventually, needs_server, running
from visualizer.engine import Engine
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.prove.counts import Order
from visualizer.prove.crew import Crew, CrewError

pytestmark = needs_server


def watcher(engine: Engine, **changed: str) -> Order:
    assert isinstance(engine, EmbeddedEngine)
    given = {"role": "watch", "column": "scripted", "socket_path": engine.server.socket_path, "queue": "cm", **changed}
    return Order(number=1, seed=1, ids=("JOB0KHTOWnGLuC",), **given)  # type: ignore[arg-type]  # words of a table


@pytest.fixture
def crew(valkey: Engine) -> Iterator[Crew]:
    hired = Crew([watcher(valkey), watcher(valkey)])
    hired.start()
    yield hired
    hired.close()


def hear_until_ready(crew: Crew) -> None:
    deadline = monotonic() + DEADLINE_SECONDS
    while not crew.ready:
        assert monotonic() < deadline
        crew.hear(0.02)


def test_they_work_from_go_to_stop_and_say_what_they_counted(crew: Crew) -> None:
    hear_until_ready(crew)
    assert [report.watched for report in crew.reports] == [None, None], "they wait for the word"
    crew.tell("go")
    crew.hear(0.4)
    crew.stop()
    assert all(report.final and report.watched and report.watched.readings > 0 for report in crew.reports)
    assert all(report.watched and report.watched.at_rest == () for report in crew.reports)
    assert not crew.gone


def test_stopped_before_they_go_they_end_all_the_same(crew: Crew) -> None:
    hear_until_ready(crew)
    crew.stop()
    assert all(report.final for report in crew.reports)


@pytest.mark.parametrize("go", [True, False])
def test_they_end_when_nobody_listens_any_more(crew: Crew, go: bool) -> None:
    hear_until_ready(crew)
    if go:
        crew.tell("go")
    pids = [member.pid for member in crew._members]
    assert all(map(running, pids))
    for member in crew._members:
        assert member.stdin is not None
        member.stdin.close()
    eventually(lambda: not any(map(running, pids)), "the server lives, and they end")


def test_one_that_does_not_listen_is_ended_all_the_same(crew: Crew) -> None:
    hear_until_ready(crew)
    pids = [member.pid for member in crew._members]
    os.kill(pids[0], signal.SIGSTOP)
    crew.close()
    assert not any(map(running, pids))


def test_a_process_that_fails_is_told_with_its_last_words(valkey: Engine) -> None:
    crew = Crew([watcher(valkey, queue="a{b")])
    crew.start()
    try:
        with pytest.raises(CrewError) as told:
            hear_until_ready(crew)
        assert str(told.value).startswith(
            "A process of the proof (watch 1, scripted queue) ended with code 1. Its last"
        )
        assert "holds a brace" in str(told.value)
    finally:
        crew.close()


def test_a_server_that_cannot_be_reached_is_no_failure_of_theirs(valkey: Engine) -> None:
    crew = Crew([watcher(valkey, socket_path="/nowhere/s")])
    crew.start()
    try:
        deadline = monotonic() + DEADLINE_SECONDS
        while not crew.gone:
            assert monotonic() < deadline
            crew.hear(0.02)
        assert crew.reports[0].final
    finally:
        crew.close()
