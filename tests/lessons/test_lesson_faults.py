"""Every reason for which a lesson file is refused.

The files in ``broken/`` hold one kind of fault each (``six-faults`` six); their comment lines ``# wants: …`` say which
sentence the loader owes. The files in ``untrue/`` load, and fail when they are played.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lessons.writing import CLAIM, HEAD, HERE, PATH, faults_of, read, step, written
from visualizer.lesson import LessonFaults, all_lessons

BROKEN = sorted((HERE / "broken").glob("*.toml"))
UNTRUE = sorted((HERE / "untrue").glob("*.toml"))


def wants(file: Path) -> list[str]:
    return re.findall(r"^# wants: (.*)$", file.read_text(), re.MULTILINE)


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_broken_lesson_is_refused_with_its_own_reasons_and_no_other(file: Path) -> None:
    with pytest.raises(LessonFaults) as refused:
        read(file)
    lines = str(refused.value).split("\n")
    assert len(lines) == len(wants(file)) == len(refused.value.faults)
    for line, wanted in zip(lines, wants(file), strict=True):
        assert wanted in line
        assert line.startswith(str(file))


@pytest.mark.parametrize("file", UNTRUE, ids=lambda file: file.stem)
def test_an_untrue_lesson_loads(file: Path) -> None:
    assert len(wants(file)) == 1
    assert read(file).paths


def test_no_two_broken_lessons_stand_for_the_same_fault() -> None:
    reasons = [wanted for file in BROKEN if file.stem != "six-faults" for wanted in wants(file)]
    assert len(set(reasons)) == len(reasons) >= 15


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_the_line_of_a_fault_shows_its_key_or_the_table_it_is_missing_from(file: Path) -> None:
    with pytest.raises(LessonFaults) as refused:
        read(file)
    source = file.read_text().split("\n")
    for fault in refused.value.faults:
        leaf = re.sub(r"\[\d+\]", "", fault.key).rpartition(".")[2]
        if fault.line is None:
            assert leaf not in "".join(line for line in source if "=" in line and "#" not in line)
        else:
            shown = source[fault.line - 1]
            holder = shown == "[[paths.steps]]" or shown.startswith("with = ")
            assert leaf in shown or (fault.reason.startswith("missing") and holder)


def test_faults_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, HEAD, PATH, step("clam"), step("claim", "lease = 1"), "\n[odd]\n")
    lines = [fault.line or 0 for fault in faults]
    assert len(faults) == 3
    assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("lease_ms = 0", "0 is too small; at least 1"),
        ("lease_ms = 1.5", "a whole number of milliseconds is wanted, not a number"),
        ("lease_ms = true", "a whole number of milliseconds is wanted, not true or false"),
        ("lease_ms = 9007199254740993", "too large; whole numbers here go up to 9007199254740992"),
        ("lease_ms = 1979-05-27", "a whole number of milliseconds is wanted, not a date or a time"),
        ("worker = 1", "no worker's name"),
        ('worker = ""', "no worker's name"),
        ('worker = "w1 "', "no worker's name"),
        ("[1]", "not TOML"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(tmp_path: Path, given: str, reason: str) -> None:
    (fault,) = faults_of(tmp_path, HEAD, PATH, step("claim", given))
    assert fault.reason.startswith(reason) or reason in fault.reason


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("1.0", "a token is a name of a worker, a whole number, or { text"),
        ("true", "a token is a name of a worker"),
        ("{ txt = 'x' }", "missing; a text is required here"),
        ("'w2'", "no step of this path up to here claims as “w2”; known: w1"),
        ("'01'", "no worker's name"),
    ],
)
def test_a_token_is_a_worker_that_claims_a_number_or_a_text(tmp_path: Path, token: str, reason: str) -> None:
    faults = faults_of(tmp_path, HEAD, PATH, CLAIM, step("complete", f"token = {token}"))
    assert reason in faults[0].reason


def test_a_step_about_a_script_names_a_verb_of_the_machine(tmp_path: Path) -> None:
    [unknown] = faults_of(tmp_path, HEAD, PATH, step("load_script", 'of = "enqeue"'))
    assert (unknown.key, unknown.nearest) == ("paths[1].steps[1].with.of", "enqueue")
    assert written(tmp_path, HEAD, PATH, step("load_script", 'of = "enqueue"')).paths[0].steps[0].given == {
        "of": "enqueue"
    }


def test_a_claim_on_another_path_hands_nobody_a_token(tmp_path: Path) -> None:
    other = PATH.replace('"p"', '"other"')
    (fault,) = faults_of(tmp_path, HEAD, PATH, CLAIM, other, step("complete", "token = 'w1'"))
    assert fault.reason.endswith("known: none")


@pytest.mark.parametrize(
    ("first", "second", "reasons"),
    [
        ("'worker'", "'reaper'", []),
        ("'a'", None, ["a race has at least two actors, and step 2 names only a"]),
        (None, "'a'", ["a race has at least two actors, and step 3 names only a"]),
        ("'a'", "'a'", ["a race has at least two actors, and steps 2 to 3 name only a"]),
        ("'A'", "'b'", ["no actor's name: a small letter is wanted first"]),
        ("''", None, ["no actor's name"]),
        ("1", "'b'", ["an actor's name is wanted, not a whole number", "step 3 names only b"]),
    ],
)
def test_a_race_is_of_two_actors_with_names(
    tmp_path: Path, first: str | None, second: str | None, reasons: list[str]
) -> None:
    turns = [CLAIM if turn is None else CLAIM.replace("say =", f"turn = {turn}\nsay =") for turn in (first, second)]
    if not reasons:
        lesson = written(tmp_path, HEAD, PATH, CLAIM, *turns)
        assert [step.turn for step in lesson.paths[0].steps] == ["", "worker", "reaper"]
        return
    faults = faults_of(tmp_path, HEAD, PATH, CLAIM, *turns)
    assert len(faults) == len(reasons)
    for fault, reason in zip(faults, reasons, strict=True):
        assert reason in fault.reason
        assert fault.key.endswith(".turn")


@pytest.mark.parametrize("verb", ["schedule", "delay"])
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("delay_ms = 1, at_ms = 2", "delay_ms is given too; keep one of them"),
        ("", "missing; {verb} needs delay_ms or at_ms"),
        ("delay_ms = 0", None),
        ("at_ms = 0", None),
    ],
)
def test_a_job_is_due_by_exactly_one_of_a_delay_and_an_instant(
    tmp_path: Path, verb: str, given: str, reason: str | None
) -> None:
    token = "token = 1" if verb == "delay" else ""
    text = (HEAD, PATH, step(verb, ", ".join(filter(None, (token, given)))))
    if reason is None:
        assert written(tmp_path, *text).paths
    else:
        assert [fault.reason for fault in faults_of(tmp_path, *text)] == [reason.format(verb=verb)]


def test_only_a_worker_that_has_claimed_can_die(tmp_path: Path) -> None:
    other = PATH.replace('"p"', '"other"')
    dies = step("kill_worker", "worker = 'w1'")
    (fault,) = faults_of(tmp_path, HEAD, PATH, CLAIM, dies, other, dies)
    assert (fault.key, fault.reason) == (
        "paths[2].steps[1].with.worker",
        "no step of this path up to here claims as “w1”; known: none",
    )
    (by_default,) = faults_of(tmp_path, HEAD, PATH, step("kill_worker"))
    assert by_default.key == "paths[1].steps[1].with.worker"
    (misnamed,) = faults_of(tmp_path, HEAD, PATH, CLAIM, step("kill_worker", "worker = 'W'"))
    assert misnamed.reason.startswith("no worker's name")


def test_a_naive_claim_names_no_worker_so_any_may_die_of_it(tmp_path: Path) -> None:
    flag, dies = step("naive_claim_flag"), step("kill_worker", "worker = 'w9'")
    assert written(tmp_path, HEAD, PATH, flag, dies).paths
    of_another = dies.replace("[[paths.steps]]", '[[paths.steps]]\njob = "two"')
    assert len(faults_of(tmp_path, HEAD, PATH, flag, of_another)) == 1


@pytest.mark.parametrize(
    ("needs", "place", "setting"),
    [
        ("not_due", "schedule", step("schedule", "delay_ms = 1", 'enters = ["schedule"]')),
        ("lease_running", "active", CLAIM),
    ],
)
def test_a_step_needs_only_a_deadline_that_its_job_has(tmp_path: Path, needs: str, place: str, setting: str) -> None:
    setting = setting.replace("[paths.steps.expect]\n\n", f'[paths.steps.expect]\nenters = ["{place}"]\n')
    early = step("promote").replace("[[paths.steps]]", f'[[paths.steps]]\nneeds = "{needs}"')
    assert written(tmp_path, HEAD, PATH, setting, early).paths
    other = PATH.replace('"p"', '"other"')
    for text in ((early,), (setting.replace('do = "', 'job = "two"\ndo = "'), early), (setting, other, early)):
        (fault,) = faults_of(tmp_path, HEAD, PATH, *text)
        assert fault.key.endswith(".needs")
        assert fault.reason == f"no step of this path up to here has the job enter {place}, so it has no deadline"


def test_raw_control_characters_are_refused_with_key_and_line_and_the_rest_is_still_read(tmp_path: Path) -> None:
    bad = step("clam").replace('"s"', '"s\x1b[2J\u202e"')
    control, verb = sorted(faults_of(tmp_path, HEAD, PATH, bad), key=lambda fault: fault.key, reverse=True)
    assert control.key == "paths[1].steps[1].say"
    assert control.reason.startswith("control character U+001B, U+202E")
    assert "\x1b" not in str(control)
    assert verb.nearest == "claim"


@pytest.mark.parametrize(
    "mark", ["\\u0000", "\\u0009", "\\u0085", "\\u009b", "\\u2066", "\\u200b", "\\ufeff", "\\ue000"]
)
@pytest.mark.parametrize("place", ['title = "T', 'payload = "text', 'name = "p', 'job = "one', 'say = "s'])
def test_escaped_control_characters_are_refused_wherever_they_stand(tmp_path: Path, mark: str, place: str) -> None:
    text = HEAD + PATH + CLAIM
    assert place in text
    faults = faults_of(tmp_path, text.replace(place, place + mark, 1))
    key = place.partition(" ")[0]
    assert any(fault.key.endswith(key) and f"U+{mark[2:].upper()}" in fault.reason for fault in faults)
    assert all(line.isprintable() for line in map(str, faults))


def test_hostile_keys_are_shown_as_text(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, HEAD, PATH, CLAIM, '\n["\\u001b[2J"]\n"\\u0007" = 1\n')
    assert len(faults) == 3
    assert all(line.isprintable() for line in map(str, faults))


@pytest.mark.parametrize(
    ("raw", "reason", "line"),
    [
        (b"", "missing", None),
        (b"title = 1\n\ncourse = \xff\n", "not UTF-8: byte ff", 3),
        (b"title = 1\ntitle = 2\n", "not TOML in column 10: Cannot overwrite a value", 2),
        (b"a = " + b"[" * 5000, "not TOML", 1),
        (b"a = " + b"9" * 5000, "not TOML", 1),
        (b"\xef\xbb\xbftitle = 1\n", "control character U+FEFF", 1),
        (b"jobs = 1\npaths = 1\n", "a table is wanted, not a whole number", 1),
        (b"paths = [1]\n", "a table [[paths]] is wanted, not a whole number", 1),
        (b"[jobs]\n", "empty; capture at least one job", 1),
    ],
)
def test_a_file_that_is_no_lesson_is_refused_in_a_sentence(
    tmp_path: Path, raw: bytes, reason: str, line: int | None
) -> None:
    faults = faults_of(tmp_path, raw)
    assert any(fault.reason.startswith(reason) and fault.line == line for fault in faults)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for file in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(LessonFaults, match="cannot be read: "):
            read(file)


def test_two_jobs_cannot_share_an_id(tmp_path: Path) -> None:
    (fault,) = faults_of(tmp_path, HEAD.replace("ORD0KHTOYgD5Um", "JOB0KHTOWnGLuC"), PATH, CLAIM)
    assert fault.key == "jobs.two.id"
    assert fault.reason == "the job one has this id already"


@pytest.mark.parametrize("pace", [0.0, -1.0, float("nan")])
def test_a_pace_is_greater_than_zero(pace: float) -> None:
    with pytest.raises(ValueError, match="a pace is greater than 0"):
        read(all_lessons()[0], pace)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(draw=st.data())
def test_however_a_lesson_is_damaged_it_loads_or_says_what_is_wrong(tmp_path: Path, draw: st.DataObject) -> None:
    text = HEAD + PATH + CLAIM + step("complete", "token = 'w1'", 'row = "gone"')
    start = draw.draw(st.integers(0, len(text)))
    end = draw.draw(st.integers(start, min(start + 40, len(text))))
    patch = draw.draw(st.one_of(st.text(max_size=12), st.sampled_from(["[]", "{}", "1", "true", '"x"', "[[paths]]\n"])))
    file = tmp_path / "damaged.toml"
    file.write_bytes((text[:start] + patch + text[end:]).encode("utf-8", "surrogatepass"))
    assert all(line.isprintable() for line in str(_fault_of(file) or "loaded").split("\n"))


def _fault_of(file: Path) -> LessonFaults | None:
    try:
        read(file)
    except LessonFaults as refused:
        return refused
    return None
