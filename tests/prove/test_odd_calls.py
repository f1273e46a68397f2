"""The odd calls of a proof, in one process."""

from __future__ import annotations

from typing import Any

from tests.machine.odd_laws import COMPLETED, NO_ROW, STATE, TWO_PLACES
from tests.prove.working import SPACE, Server
from visualizer.engine import Engine
from visualizer.prove.odd import ODD, OddCaller

BREAKS: dict[str, set[str]] = {
    "complete a job nobody claimed, with token 0": set(),
    "complete after a reap, before the next claim": set(),
    "extend a lease after the reap": {TWO_PLACES, STATE},
    "complete what was extended after the reap": {COMPLETED, NO_ROW},
    "extend the lease of a scheduled job": {TWO_PLACES, STATE},
    "complete after a retry, with the same token": {COMPLETED, NO_ROW},
    "complete a dead job": {COMPLETED, NO_ROW},
    "retry a dead job with a higher cap": {TWO_PLACES, STATE},
    "delay a waiting job with token 0": {TWO_PLACES, STATE},
    "remove a job that waits in a lane": {NO_ROW},
}


def test_each_odd_call_is_accepted_and_breaks_its_laws_every_time(engine: Engine) -> None:
    link: Any = engine
    caller = OddCaller(link, SPACE)
    for _ in range(2 * len(ODD)):
        caller.turn()
    for odd in caller.counted:
        assert (odd.name, odd.times, odd.accepted, dict(odd.laws)) == (
            *(odd.name, 2, 2),
            dict.fromkeys(BREAKS[odd.name], 2),
        )
    assert [odd.name for odd in ODD] == list(BREAKS)


def test_an_odd_call_that_nothing_leads_to_is_not_counted() -> None:
    observed = [[b"1", b"0"], None, [], [[b"JOB0KHTOWnGLuC", []]], [], [], [], []]
    link: Any = Server(lambda words: observed if words[0] == "EVALSHA" and len(words) > 20 else 0)
    caller = OddCaller(link, SPACE)
    for _ in ODD:
        caller.turn()
    assert {odd.times for odd in caller.counted} == {0}


def test_an_odd_call_says_in_words_that_no_law_is_broken_where_none_is() -> None:
    assert {odd.name for odd in ODD if "No law is broken." in odd.why} == {n for n, laws in BREAKS.items() if not laws}
