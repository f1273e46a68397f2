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
from visualizer.prove.wording import folded, line
from visualizer.spans import Span

SHOWN = Shown(
    "a_law",
    "It holds.",
    ("JOB is in two",),
    ("another_law",),
    (("pending", ()), ("active", ("OTHER 5", "JOB 7"))),
    (("JOB", "state=dead"), ("OTHER", "no row"), ("AWAY", "no row")),
    ("JOB",),
)
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
        "naive": Watched(
            *(2_000, 1_000, 500, 0, 6, {"a_law": 400, "another_law": 450}, SHOWN, ("JOB is lost", "JOB is bad")),
            breaches=61,
            lasting=1,
        ),
    },
    worked={
        "scripted": Worked(90, 100, 10, {"claim": 5, "bury": 2, "delay": 1}, {"wrong kind": 4}),
        "naive": Worked(50, 70, 9, {"claim": 40}, {"duplicate": 3}, 8, ("no such job", "no such job"), 6, 200),
    },
    rests_ms={"naive": 2.0},
    odd=tuple(OddCount(odd.name, 3, 3, {"a_law": 3}) for odd in ODD),
    orders=(
        Orders("split", 70, 55, 44, ("check", "find"), "JOB waits again", {"JOB is nowhere": 11}, 61, 50),
        Orders("scripted", 2, 0, sequences=2),
    ),
)


def with_scripted(**changed: object) -> Tally:
    return replace(WELL, watched={**WELL.watched, "scripted": replace(WELL.read("scripted"), **changed)})


def text(tally: Tally) -> str:
    return "\n".join(line.text for line in telling.report(tally, every=True))


# Sums -----------------------------------------------------------------------------------------------------------------


def test_readings_of_several_observers_are_added() -> None:
    one = Watched(10, 9, 2, 1, 5, {"a": 2}, None, None, 2, 1)
    other = Watched(20, 8, 3, 0, 7, {"a": 1, "b": 3}, SHOWN, ("x",), 3, 0)
    both = Watched(30, 17, 5, 1, 7, {"a": 3, "b": 3}, SHOWN, ("x",), 3, 1)
    assert sum_watched([one, other]) == both, "they saw the same breaches, so those are not added"
    assert sum_watched([other, one]).most_ids == 7
    assert sum_watched([]) == Watched()


def test_the_work_of_several_workers_is_added_and_few_sentences_are_kept() -> None:
    one = Worked(1, 2, 3, {"claim": 1}, {"wrong kind": 1}, 4, ("a",) * KEPT_SENTENCES, 5, 6)
    other = Worked(10, 20, 30, {"claim": 1, "reap": 2}, {"duplicate": 5}, 40, ("b",), 50, 60)
    total = sum_worked([one, other])
    assert total == Worked(
        *(11, 22, 33, {"claim": 2, "reap": 2}, {"wrong kind": 1, "duplicate": 5}, 44, ("a",) * KEPT_SENTENCES, 55, 66)
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
    assert set(tally.watched) == set(tally.worked) == {"scripted", "naive"}, "the odd calls are counted elsewhere"
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
    assert verdict(WELL) == [
        "30,000 readings of the scripted queue: no law was broken.",
        "Naive: 500 of 2,000 readings broken, 61 separate breaches, 60 healed, 1 never healed.",
        "Harmful orders of two actors: 55 of 70 as separate commands, 0 of 2 as scripts.",
    ]


def verdict(tally: Tally) -> list[str]:
    return [line.text for line in telling.verdict(tally)]


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
    assert not any("no law was broken" in said for said in verdict(tally))
    assert telling.json_object(tally)["holds"] is False


# Words ----------------------------------------------------------------------------------------------------------------


def test_the_report_tells_every_count() -> None:
    told = text(WELL)
    for words in (
        *(
            "seed 7",
            "30,000 readings by 2 observers",
            ", 12,345 differ from the reading before",
            "each reading saw all ids, at most 9",
            "100 calls by 2 workers, each one script; 10 jobs completed",
            "claim 5, complete 0, reap 0, 2 other verbs 3",
        ),
        *("4 refused that had to be", "refused: wrong kind 4", "when all had stopped, no law was broken either"),
        "500 break a law (25.0 %): 61 separate breaches, 60 healed, 1 never healed",
        *("450 × broken: another law", "70 calls by 2 workers, sent as 200 separate commands"),
        *("claim 40 (6 by a worker that then dies)", "3 refused that had to be, 8 answered wrongly"),
        *("the observer rests 2 ms after each reading", "when all had stopped, still broken: JOB is lost\n"),
        *("30 calls of 10 kinds, every one accepted", "a broken reading of the naive queue"),
        *("a law: It holds.", "JOB is in two", "it also breaks another law"),
        *("pending    empty", "active     OTHER 5, ! JOB 7", "! JOB state=dead\n      OTHER no row"),
        "1 other id with no row and in no place",
        *(
            "split: 70 orders of turns, each of them run; 55 do harm",
            "a turn may send nothing: they come to 61 different sequences of commands, of which 50 do harm",
            "44 of them leave the job counted",
            "11 of them end so: JOB is nowhere",
            "check · find: JOB waits again",
            "0 do harm",
        ),
        telling.HONEST,
    ):
        assert words in told
    for odd in ODD:
        assert f"3 × {odd.name} · broken each time: a law\n" in told
        assert odd.why in told
    assert "_" not in told, "laws are named in words"
    assert "AWAY" not in told, "an id without a row and a place has nothing to do with it"
    assert told.count("no such job") == 1
    assert told.endswith("\n".join(verdict(WELL)))


def test_the_short_report_is_short_and_ends_with_the_columns_and_the_verdict() -> None:
    told = [line.text for line in telling.report(WELL)]
    assert len(told) <= 24
    assert told[-3:] == verdict(WELL)
    assert [said for said in told if said and not said.startswith(" ")][1:4] == [
        " · ".join(title) for title in telling.TITLES.values()
    ]
    assert "--all" in "".join(told)


def with_naive(**changed: object) -> Tally:
    return replace(WELL, watched={**WELL.watched, "naive": replace(WELL.read("naive"), **changed)})


@pytest.mark.parametrize(
    ("at_rest", "lasting", "words"),
    [
        (None, 2, "61 separate breaches, 59 healed, 2 not yet healed"),
        ((), 0, "61 separate breaches, all healed"),
        (("JOB is lost", "OTHER is lost"), 2, "61 separate breaches, 59 healed, 2 never healed"),
    ],
)
def test_breaches_are_told_as_healed_or_not(at_rest: tuple[str, ...] | None, lasting: int, words: str) -> None:
    told = text(with_naive(at_rest=at_rest, lasting=lasting))
    assert f"500 break a law (25.0 %): {words}\n" in told
    left = "nothing was left broken; in between, 500 readings saw what must not be"
    assert (left in told) == (at_rest == ())
    assert ("still broken: JOB is lost, and 1 more id\n" in told) == bool(at_rest)


def test_breaches_that_several_observers_saw_are_a_least_number() -> None:
    assert "3 break a law (0.0 %): at least 2 separate breaches, all healed" in text(
        with_scripted(broken=3, breaches=2)
    )


def test_an_odd_call_tells_how_often_it_breaks_what_it_does_not_always_break() -> None:
    first, second, *rest = ODD
    odd = (OddCount(first.name, 5, 5), OddCount(second.name, 5, 5, {"a_law": 4}))
    told = text(replace(WELL, odd=odd))
    assert f"5 × {first.name} · breaks no law\n" in told
    assert f"5 × {second.name} · broken now and then: a law (4 ×)\n" in told
    assert rest


def test_what_was_answered_wrongly_is_told_call_by_call() -> None:
    wrong = replace(WELL, worked={"scripted": Worked(1, 9, wrong=2, sentences=("claim was answered error",))})
    assert "2 answered wrongly" in text(wrong)
    assert "claim was answered error" in text(wrong)


def test_cut_readings_are_told() -> None:
    assert "12 readings were cut" in text(with_scripted(cut=12))


def test_an_end_before_the_end_is_told() -> None:
    stopped = verdict(replace(WELL, ended="interrupted"))
    assert stopped == ["Stopped before its end: these are the counts until then.", *verdict(WELL)]
    broken_off = text(replace(WELL, ended="broken off", trouble="The server is gone."))
    assert "The server is gone." in broken_off
    assert "no law was broken." not in broken_off


def test_ended_before_it_began_it_says_only_that_nothing_was_proved() -> None:
    early = replace(WELL, ended="interrupted", elapsed=0.0, watched={}, worked={})
    assert text(early) == "Nothing was proved."
    assert verdict(early) == ["Nothing was proved."]


def test_a_very_short_run_says_so() -> None:
    first, *others = verdict(replace(WELL, seconds=0.3, elapsed=0.3))
    assert first == "A very short run (0.3 s): it may miss what a longer one meets."
    assert others == verdict(WELL)


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


# Widths ---------------------------------------------------------------------------------------------------------------


def broken_at(columns: int, *spans: Span | str) -> list[str]:
    return [part.text for part in folded(line(*spans), columns)]


def test_a_line_is_broken_between_words_and_goes_on_further_to_the_right() -> None:
    assert broken_at(20, "  one two", Span(", three"), " four five") == ["  one two, three", "    four five"]
    assert broken_at(9, "one two", Span(", three")) == ["one two,", "  three"], "no line begins with a comma"
    assert broken_at(4, "one HINCRBY", Span("complete")) == ["one", "  HINCRBYcomplete"], "a word stays whole"
    assert broken_at(7, "one two") == ["one two"]
    assert broken_at(80) == [""]


def test_a_broken_line_keeps_its_roles() -> None:
    first, second = folded(line(Span("one ", "good"), Span("two", "broken")), 4)
    assert first.spans == (Span("one", "good"),)
    assert second.spans[-1] == Span("two", "broken")


@pytest.mark.parametrize("columns", [120, 80, 40, 1, 0])
def test_no_line_of_the_report_is_wider_than_its_words_allow(columns: int) -> None:
    for told in telling.report(WELL, every=True):
        parts = broken_at(columns, *told.spans)
        assert " ".join(" ".join(parts).split()) == " ".join(told.text.split())
        assert all(len(part) <= columns or len(part.split()) == 1 for part in parts)
