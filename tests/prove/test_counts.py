"""Sums, verdicts and words of a proof: all of it without a process."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from visualizer.prove import telling
from visualizer.prove.counts import (
    KEPT_SENTENCES,
    OddCount,
    Order,
    Orders,
    Report,
    Shown,
    Tally,
    Watched,
    Worked,
    sum_watched,
    sum_worked,
    with_reports,
)
from visualizer.prove.odd import ODD
from visualizer.prove.proving import JOBS, OBSERVERS, WORKERS, orders_for

SHOWN = Shown("a_law", "It holds.", ("JOB is in two",), ("another_law",), (("pending", "empty"),), (("JOB", "no row"),))
WELL = Tally(
    10.0,
    7,
    "REAL Valkey",
    elapsed=10.0,
    ended="done",
    observers={"scripted": 2, "naive": 1},
    workers={"scripted": 2, "naive": 2},
    watched={
        "scripted": Watched(30_000, 12_345, most_ids=9, at_rest=()),
        "naive": Watched(2_000, 1_000, 500, 0, 6, {"a_law": 400, "another_law": 450}, SHOWN, ("JOB is lost",)),
    },
    worked={"scripted": Worked(90, 100, 10, {"claim": 5}, {"wrong kind": 4}), "naive": Worked(50, 200, 9, hollow=8)},
    odd=tuple(OddCount(odd.name, 3, 3, {"a_law": 3}) for odd in ODD),
    orders=(Orders("split", 70, 55, 44, ("check", "find"), "JOB waits again"), Orders("scripted", 2, 0)),
)


def with_scripted(**changed: object) -> Tally:
    return replace(WELL, watched={**WELL.watched, "scripted": replace(WELL.read("scripted"), **changed)})


def text(tally: Tally) -> str:
    return "\n".join(line.text for line in telling.report(tally))


# Sums -----------------------------------------------------------------------------------------------------------------


def test_readings_of_several_observers_are_added() -> None:
    one = Watched(10, 9, 2, 1, 5, {"a": 2}, None, None)
    other = Watched(20, 8, 3, 0, 7, {"a": 1, "b": 3}, SHOWN, ("x",))
    assert sum_watched([one, other]) == Watched(30, 17, 5, 1, 7, {"a": 3, "b": 3}, SHOWN, ("x",))
    assert sum_watched([other, one]).most_ids == 7
    assert sum_watched([]) == Watched()


def test_the_work_of_several_workers_is_added_and_few_sentences_are_kept() -> None:
    one = Worked(1, 2, 3, {"claim": 1}, {"wrong kind": 1}, 4, ("a",) * KEPT_SENTENCES, 5)
    other = Worked(10, 20, 30, {"claim": 1, "reap": 2}, {"duplicate": 5}, 40, ("b",), 50)
    total = sum_worked([one, other])
    assert total == Worked(
        *(11, 22, 33, {"claim": 2, "reap": 2}, {"wrong kind": 1, "duplicate": 5}, 44, ("a",) * KEPT_SENTENCES, 55)
    )


def test_each_report_counts_in_its_own_column() -> None:
    def order(column: str, role: str) -> Order:
        return Order(role, column, 1, 1, "", "q")  # type: ignore[arg-type]  # they come from a table here

    crew = [order("scripted", "watch"), order("scripted", "lawful"), order("naive", "watch"), order("odd", "odd")]
    odd = (OddCount("x", 1, 1),)
    reports = [Report(watched=Watched(5)), Report(worked=Worked(7)), Report(watched=Watched(3, 2, 1)), Report(odd=odd)]
    tally = with_reports(Tally(1.0, 1, "e"), crew, reports)
    assert (tally.read("scripted"), tally.did("scripted")) == (Watched(5), Worked(7))
    assert (tally.read("naive"), tally.did("naive")) == (Watched(3, 2, 1), Worked())
    assert tally.odd == odd
    assert with_reports(tally, crew, [Report()] * 4).odd == odd, "what was counted is not forgotten"


def test_the_crew_is_as_many_as_are_told() -> None:
    orders = orders_for("socket", 5)
    for column, count in OBSERVERS.items():
        there = [order for order in orders if order.column == column]
        assert sum(order.role == "watch" for order in there) == count
        assert sum(order.role != "watch" for order in there) == WORKERS
        assert {len(order.ids) for order in there} == {JOBS}
        assert len({order.queue for order in there}) == 1
    assert len({order.queue for order in orders}) == 3
    assert {(order.seed, order.socket_path) for order in orders} == {(5, "socket")}
    load = {order.column: order.pause_s for order in orders if order.role in ("lawful", "careless")}
    assert load["scripted"] == load["naive"], "the same load"


# Verdicts -------------------------------------------------------------------------------------------------------------


def test_a_proof_without_a_fault_holds() -> None:
    assert WELL.faults == ()
    assert telling.json_object(WELL)["holds"] is True
    assert "30,000 readings of the scripted queue, and no law was broken." in text(WELL)


@pytest.mark.parametrize(
    ("tally", "fault"),
    [
        (with_scripted(broken=3), "3 of 30,000 readings of the scripted queue break a law."),
        (with_scripted(at_rest=("JOB is lost",)), "At rest the scripted queue is broken: JOB is lost."),
        (with_scripted(readings=0), "Nothing was proved: the scripted queue was not read while it was worked on."),
        (replace(WELL, worked={}), "Nothing was proved: the scripted queue was not read while it was worked on."),
        (
            replace(WELL, worked={"scripted": Worked(1, 9, wrong=2)}),
            "2 calls of the scripted queue were answered otherwise than they had to be.",
        ),
        (replace(WELL, orders=(Orders("scripted", 2, 1),)), "1 of 2 orders of scripted do harm."),
    ],
)
def test_each_fault_is_told(tally: Tally, fault: str) -> None:
    assert tally.faults == (fault,)
    told = text(tally)
    assert fault in told
    assert "no law was broken" not in told
    assert telling.json_object(tally)["holds"] is False


# Words ----------------------------------------------------------------------------------------------------------------


def test_the_report_tells_every_count() -> None:
    told = text(WELL)
    for words in (
        *(
            "seed 7",
            "30,000 readings by 2 observers",
            "12,345 of them not as the one before",
            "up to 9 ids in a reading",
            "100 calls by 2 workers",
        ),
        *("4 refused that had to be", "wrong kind 4", "at rest no law is broken"),
        *("500 break a law (25.0 %)", "450 × another law", "200 commands by 2 workers"),
        "8 jobs were claimed that were completed already",
        *("at rest still broken: JOB is lost", "30 calls of 10 kinds", "every one was accepted"),
        *("a broken reading of the naive queue, whole", "a law: It holds.", "JOB is in two"),
        *("it also breaks another law", "pending    empty", "JOB no row"),
        *(
            "split: 70 orders, each of them run; 55 do harm",
            "44 of them leave the job counted",
            "check · find: JOB waits again",
            "0 do harm",
        ),
        telling.HONEST,
    ):
        assert words in told
    for odd in ODD:
        assert f"3 × {odd.name}: a law 3 ×" in told
        assert odd.why in told
    assert "_" not in told, "laws are named in words"


def test_what_was_answered_wrongly_is_told_call_by_call() -> None:
    wrong = replace(WELL, worked={"scripted": Worked(1, 9, wrong=2, sentences=("claim was answered error",))})
    assert "2 answered wrongly" in text(wrong)
    assert "claim was answered error" in text(wrong)


def test_cut_readings_are_told() -> None:
    assert "12 readings were cut" in text(with_scripted(cut=12))


def test_an_end_before_the_end_is_told() -> None:
    assert "Stopped before its end" in text(replace(WELL, ended="interrupted"))
    broken_off = text(replace(WELL, ended="broken off", trouble="The server is gone."))
    assert "The server is gone." in broken_off
    assert "no law was broken." not in broken_off


@pytest.mark.parametrize("width", [200, 100, 60, 20, 5, 1])
def test_the_progress_fits_its_line(width: int) -> None:
    assert len(telling.progress(replace(WELL, elapsed=4.0, ended="running"), width)) <= width


def test_before_the_first_reading_the_progress_says_that_processes_start() -> None:
    started = Tally(10.0, 7, "REAL Valkey")
    assert telling.progress(started, 60).endswith("░ the processes start")


def test_the_bar_is_as_full_as_the_time_that_has_passed() -> None:
    assert telling.bar(replace(WELL, elapsed=4.0), 10) == "████░░░░░░"
    assert telling.bar(replace(WELL, elapsed=15.0), 4) == "████"
    assert telling.bar(replace(WELL, elapsed=0.0), 4) == "░░░░"


def test_the_json_holds_every_count() -> None:
    told = telling.json_object(WELL)
    assert told["watched"]["naive"]["laws"] == {"a_law": 400, "another_law": 450}
    assert (told["seed"], told["ended"], told["faults"]) == (7, "done", [])
    assert [odd["why"] for odd in told["odd"]] == [odd.why for odd in ODD]
