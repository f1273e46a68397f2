"""What a right lesson becomes when it is loaded, how lessons are found, and the lessons that come with us."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.lessons.writing import CLAIM, HEAD, NAMED, PATH, RED, faults_of, read, step, written
from visualizer import ids
from visualizer.lesson import UnknownLessonError, all_lessons, duplicate_slugs, find
from visualizer.lesson_faults import key_lines
from visualizer.lesson_steps import Action
from visualizer.machine import MACHINES
from visualizer.model import Expect

# Loaded lessons -----------------------------------------------------------------------------------------------------


def test_what_a_lesson_gives_is_resolved(tmp_path: Path) -> None:
    lanes = step("lane_enqueue", "group = 'red'", f'enters = ["lane:red"]\nleaves = ["g:{RED}:pending"]')
    other = step("retry", "token = { text = '01' }, error = 'no'", 'row = "unchanged"').replace(
        "[[paths.steps]]", '[[paths.steps]]\njob = "two"\nlabel = "again"\nneeds = "lease_running"'
    )
    claim = step("claim", "", 'enters = ["active"]').replace("[[paths.steps]]", '[[paths.steps]]\njob = "two"')
    lesson = written(tmp_path, HEAD, f'[groups]\nred = "{RED}"\n', PATH, lanes, claim, other)
    admitted, _, retried = lesson.paths[0].steps
    assert lesson.slug == "written"
    assert lesson.jobs["two"].payload == b"\x83\x00\xff"
    assert lesson.groups == {"red": RED.encode()}
    assert admitted.given == {"group": RED.encode()}
    assert admitted.expect == Expect(leaves=(f"g:{RED}:pending",), enters=(f"g:{RED}:pending",))
    assert (admitted.id, admitted.payload, admitted.label) == (b"JOB0KHTOWnGLuC", b"text", "lane enqueue")
    assert (retried.id, retried.label, retried.needs) == (b"ORD0KHTOYgD5Um", "again", "lease_running")
    assert retried.given["token"] == {"text": "01"}
    assert retried.expect == Expect(row="unchanged")


def test_pairs_name_jobs_and_tokens(tmp_path: Path) -> None:
    given = "pairs = [{ job = 'one', token = 'w1' }, { job = 'two', token = 7 }]"
    lesson = written(tmp_path, HEAD, PATH, CLAIM, step("extend_locks", given))
    first, second = lesson.paths[0].steps[1].given["pairs"]
    assert first == {"job": b"JOB0KHTOWnGLuC", "token": "w1"}
    assert second == {"job": b"ORD0KHTOYgD5Um", "token": 7}
    faults = faults_of(tmp_path, HEAD, PATH, CLAIM, step("extend_locks", given.replace("'two'", "'three'")))
    assert [fault.key for fault in faults] == ["paths[1].steps[2].with.pairs[2].job"]


@pytest.mark.parametrize(("pace", "lease_ms", "default_ms"), [(1.0, 25, 30_000), (0.05, 1, 1_500), (0.001, 1, 30)])
def test_the_pace_multiplies_written_and_default_durations(
    tmp_path: Path, pace: float, lease_ms: int, default_ms: int
) -> None:
    lesson = written(tmp_path, HEAD, PATH, step("claim", "lease_ms = 25"), CLAIM, pace=pace)
    given_lease, default_lease = lesson.paths[0].steps
    assert given_lease.given["lease_ms"] == lease_ms
    assert default_lease.given["lease_ms"] == default_ms


def test_durations_of_zero_and_below_stay_so(tmp_path: Path) -> None:
    now, before = (step("retry", f"token = 1, delay_ms = {delay_ms}") for delay_ms in (0, -1000))
    lesson = written(tmp_path, HEAD, PATH, now, before, pace=0.05)
    assert [each.given["delay_ms"] for each in lesson.paths[0].steps] == [0, -50]


def test_line_breaks_within_a_paragraph_are_only_the_authors(tmp_path: Path) -> None:
    text = '"""\n  One\n  two.\n\n\nThree\n- four\n"""'
    lesson = written(tmp_path, HEAD, PATH, CLAIM.replace('"s"', text))
    assert lesson.paths[0].steps[0].say == "One two.\n\nThree\n- four"


def test_every_kind_of_parameter_has_a_way_to_be_written() -> None:
    kinds = {
        "duration_ms",
        "time_ms",
        "count",
        "token",
        "worker",
        "group",
        "payload",
        "text",
        "flag",
        "pairs",
        "job",
        "verb",
    }
    actions: list[Action] = [
        *NAMED.values(),
        *(verb for machine in MACHINES.values() for verb in machine.verbs.values()),
    ]
    assert {parameter.kind for action in actions for parameter in action.parameters} <= kinds


def test_key_lines_pass_over_texts_of_several_lines() -> None:
    text = "a = '''\nb = 1\nb = 1\n'''\nc = 2\n[[t]]\nd.e = 3\n[[t.u]]\n[[t.u]]\n[t.u.'x y']\nf = 4\n[[t]]\n[[t.u]]\n"
    keys = [
        "a",
        "c",
        "t[1]",
        "t[1].d.e",
        "t[1].u[1]",
        "t[1].u[2]",
        "t[1].u[2].x y",
        "t[1].u[2].x y.f",
        "t[2]",
        "t[2].u[1]",
    ]
    assert key_lines(text) == dict(zip(keys, [1, 5, 6, 7, 8, 9, 10, 11, 12, 13], strict=True))


# Finding ------------------------------------------------------------------------------------------------------------


def test_a_lesson_is_found_by_slug_and_by_file(tmp_path: Path) -> None:
    assert find("states-as-locations") in all_lessons()
    own = tmp_path / "own.toml"
    own.write_text("")
    assert find(str(own)) == own


def test_an_unknown_lesson_names_the_nearest_and_where_all_are_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownLessonError) as unknown:
        find("state-as-location")
    assert "did you mean states-as-locations? `visualizer lessons` lists them" in str(unknown.value)
    with pytest.raises(UnknownLessonError, match=r"no lesson called zzz\. `visualizer lessons` lists them"):
        find("zzz")
    with pytest.raises(UnknownLessonError, match="there is no lesson file"):
        find(str(tmp_path / "none.toml"))


def test_an_unknown_path_names_the_nearest_and_all() -> None:
    lesson = read(find("states-as-locations"))
    assert lesson.path("retry").name == "retry"
    with pytest.raises(UnknownLessonError, match=r"did you mean lease-lapses\? There are: happy, retry"):
        lesson.path("lease-lapse")


def test_two_files_of_one_slug_are_a_fault(tmp_path: Path) -> None:
    files = [tmp_path / "a" / "one.toml", tmp_path / "b" / "one.toml", tmp_path / "b" / "two.toml"]
    (fault,) = duplicate_slugs([*files, files[0]])
    assert fault.file == str(files[1])
    assert str(files[0]) in fault.reason


# The lessons that come with the visualizer --------------------------------------------------------------------------


@pytest.mark.parametrize("file", all_lessons(), ids=lambda file: file.stem)
def test_every_lesson_of_ours_loads_and_its_words_fit_their_panels(file: Path) -> None:
    lesson = read(file)
    assert not duplicate_slugs(all_lessons())
    assert len(lesson.intro.split()) <= 220
    for path in lesson.paths:
        for number, each in enumerate(path.steps, 1):
            where = f"{path.name}, step {number}"
            assert _rows(each.say) <= 12, where
            assert _rows(each.ask) <= 2, where
            assert each.ask.endswith("?"), where
            assert each.say.count("**") % 2 == 0, where


def test_states_as_locations_has_its_paths() -> None:
    lesson = read(find("states-as-locations"))
    assert (lesson.title, lesson.course, lesson.machine, lesson.queue) == (
        "States as locations", "R3.04.1", "leased", "cm",
    )  # fmt: skip
    assert [path.name for path in lesson.paths] == ["happy", "retry", "dead", "lease-lapses", "place-not-flag"]
    early = lesson.path("retry").steps[3]
    assert (early.do, early.needs, early.expect) == ("promote", "not_due", Expect(outcome="promoted", row="unchanged"))
    late = lesson.path("lease-lapses").steps[5].expect
    assert late is not None
    assert late.refused == "EMQSTALE complete token mismatch"


def test_states_as_locations_captures_erlang_terms_minted_in_order() -> None:
    jobs = list(read(find("states-as-locations")).jobs.values())
    assert jobs[0].id == b"JOB0KHTOWnGLuC"
    assert [job.id for job in jobs] == sorted(job.id for job in jobs)
    guesses = []
    for job in jobs:
        assert job.payload.startswith(b"\x83h\x04w\x05guess")
        parts, rest = [], job.payload[10:]
        while rest:
            assert rest[:1] == b"m"
            size = int.from_bytes(rest[1:5], "big")
            parts.append(rest[5 : 5 + size])
            rest = rest[5 + size :]
        game, player, guess = parts
        assert (ids.parse(game).namespace, ids.parse(player).namespace) == ("GAM", "PLR")
        guesses.append(guess)
    assert guesses[0] == b"BLUE RED"


def _rows(text: str) -> int:
    """How many rows a text takes in the narrowest story panel, inside its border."""
    return sum(len(textwrap.wrap(part.replace("**", ""), 34)) for part in text.split("\n")) + text.count("\n\n")
