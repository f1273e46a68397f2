"""``--plain``: a lesson in lines of text, driven by the keys of the one table of actions."""

from __future__ import annotations

import pytest

from tests.hostile import HOSTILE
from tests.shell.conftest import HEAD, PATH, RACE, SMALL, Shell, Told, after, begins, step
from visualizer.actions import ACTIONS, sign
from visualizer.lesson import all_lessons


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_a_lesson_is_told_and_stepped(told: Told, spec: str) -> None:
    lines = told("right", "", "n", "space", "q", spec=spec)
    assert lines[0] == "A small lesson · T1"
    assert lines[1].endswith(" · emq:{small}:")
    assert "Words before the first step." in lines
    assert "next, step 1 of 3 · enqueue" in lines
    assert "? Where?" in lines
    assert begins(after(lines, "step"), "JOB0KHTOWnGLuC enters pending.")
    assert "next, step 2 of 3 · claim" in after(lines, "step")
    assert any(line.startswith("JOB0KHTOWnGLuC leaves pending, enters active.") for line in after(lines, "step", 2))
    third = after(lines, "step", 3)
    assert begins(third, "JOB0KHTOWnGLuC leaves active and enters nothing: its row is gone.")
    assert any(line.startswith("The path ends here.") for line in third)
    assert any(line.startswith("The path ends here.") for line in after(lines, "step", 4))


def test_the_places_are_told_with_a_mark_and_a_word(told: Told) -> None:
    second = after(told("n", "n"), "step", 2)
    assert any(line.startswith("− pending") and line.endswith("left") for line in second)
    assert any(line.startswith("+ active") and "+ JOB0KHTO…LuC entered · in " in line for line in second)
    assert any(line.startswith("  schedule") and line.endswith("0") for line in second)


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_the_wire_log(told: Told, spec: str) -> None:
    lines = told("i", "n", "n", "i", "b", "i", spec=spec)
    assert after(lines, "wire") == ["Nothing has run yet, so nothing went over the wire."]
    claim = after(lines, "wire", 2)
    assert begins(claim, "call 2 EVALSHA leased/claim  156 B sent, ")
    assert begins(claim, "inside 1 ZPOPMIN pending")
    assert begins(claim, "total  2 calls, 205 B sent, ")
    assert begins(after(lines, "wire", 3), "call 1 EVALSHA leased/enqueue")


def test_looking_back_runs_nothing(told: Told) -> None:
    lines = told("n", "n", "left", "home", "e", "b", "n")
    assert "step 1 of 3 · enqueue" in after(lines, "back")
    assert "before the first step" in after(lines, "first")
    assert "step 2 of 3 · claim" in after(lines, "last")
    # The step after looking back goes forward to the frame that there is: the claim ran once.
    again = after(lines, "step", 3)
    assert "step 2 of 3 · claim" in again
    assert any(line.startswith("row ") and "attempts 0 → 1" in line for line in again)


def test_jump_rewind_and_restart(told: Told) -> None:
    lines = told("j", "3", "j", "1", "w", "r", "j", "x", "j", "99", "j", "\x1b", "j", "")
    assert "step 3 of 3 · complete" in after(lines, "jump")
    assert "step 1 of 3 · enqueue" in after(lines, "jump", 2)
    rewound = after(lines, "rewind")
    assert any(line.startswith("Rewound") for line in rewound)
    assert "next, step 2 of 3 · claim" in rewound
    assert "next, step 1 of 3 · enqueue" in after(lines, "restart")
    assert "x is no number of a step." in after(lines, "jump", 3)
    assert "step 3 of 3 · complete" in after(lines, "jump", 4)
    assert after(lines, "jump", 5)[-1] == after(lines, "jump", 6)[-1] == "Nothing is chosen."


def test_in_a_race_the_other_actor_may_run_next(told: Told) -> None:
    lines = told("n", "o", "n", "o", "n", "r", "n", "n", "n", "n", lesson=RACE)
    assert after(lines, "other")[-1] == "No other actor has anything to run next."
    assert after(lines, "step", 2)[-2:] == ["→ worker: complete", "o reaper: reap"]
    other = after(lines, "other", 2)
    assert "step 3 of 4 · reaper: reap" in other
    assert "lesson Your own order (R): nothing is announced for it." in other
    assert other[-1] == "? Where?", "one actor is left, so there is no choice"
    assert "step 4 of 4 · worker: complete" in after(lines, "step", 3)
    assert begins(after(lines, "step", 3), "Your order did no harm. When the race was over, the job had been counted")
    assert "lesson Your own order (R W): nothing is announced for it." in after(lines, "step", 3)
    written = after(lines, "step", 6)
    assert "step 3 of 4 · worker: complete" in written
    assert not any("Your own order" in line for line in lines[lines.index("> restart") :])


def test_another_path(told: Told) -> None:
    lines = told("p", "2", "p", "only", "p", "nly", "p", "")
    assert "path again: again" in after(lines, "path")
    assert "path only: only" in after(lines, "path", 2)
    assert any("did you mean only?" in line for line in after(lines, "path", 3))
    assert not any(line.startswith("path ") for line in after(lines, "path", 4))


def test_a_path_that_cannot_be_played_here(told: Told) -> None:
    restart = PATH.format(name="restarts") + step("restart_server", 'outcome = "restarted"')
    lines = told("p", "restarts", "n", lesson=SMALL + restart)
    assert any("fakeredis lives in this process" in line for line in after(lines, "path"))
    assert "step 1 of 3 · enqueue" in after(lines, "step")


def test_another_lesson(told: Told) -> None:
    lines = told("l", "states-as-locations", "n", "i", "l", "nonsense")
    assert begins(after(lines, "wire"), "inside 1 EXISTS ")
    assert "States as locations · R3.04.1" in after(lines, "lessons")
    assert begins(after(lines, "step"), "JOB0KHTOWnGLuC enters pending.")
    assert begins(after(lines, "lessons", 2), "There is no lesson called nonsense.")


def test_a_state_and_a_transition(told: Told) -> None:
    lines = told("n", "s", "dead", "t", "claim", "s", "ded", "n")
    assert any(line.startswith("on a throw-away fakeredis") for line in after(lines, "state"))
    assert any("enters dead." in line for line in after(lines, "state"))
    assert any("leaves pending, enters active." in line for line in after(lines, "transition"))
    assert any("did you mean dead?" in line for line in after(lines, "state", 2))
    # The lesson goes on where it was.
    assert "step 2 of 3 · claim" in after(lines, "step", 2)


@pytest.mark.parametrize("key", ["p", "l", "s", "t", "j"])
@pytest.mark.parametrize("leaving", ["\x1b", "escape", "", "  "])
def test_a_prompt_can_be_left(told: Told, key: str, leaving: str) -> None:
    lines = told("n", key, leaving, "n")
    (asked,) = [line for line in lines if line.endswith("then enter; esc leaves.")]
    assert lines[lines.index(asked) + 1] == "Nothing is chosen."
    assert "step 2 of 3 · claim" in after(lines, "step", 2), "the lesson goes on where it was"


def test_markdown_marks_are_taken_off(told: Told) -> None:
    marked = "Words **in bold**, `in code`.\\n\\n- *one*\\n- two_of_them"
    lines = told(lesson=SMALL.replace("Words before the first step.", marked))
    at = lines.index("Words in bold, in code.")
    assert lines[at : at + 4] == ["Words in bold, in code.", "", "- one", "- two_of_them"]


def test_help_lists_every_key_that_works_here(told: Told) -> None:
    lines = after(told("?"), "help")
    for action in ACTIONS:
        listed = any(action.help in line and sign(action.keys[0]) in line for line in lines)
        assert listed == action.plain, action.name


@pytest.mark.parametrize("action", [action for action in ACTIONS if not action.plain], ids=lambda action: action.name)
def test_what_needs_a_screen_says_so(told: Told, action: object) -> None:
    key = action.keys[0]  # type: ignore[attr-defined]  # pytest hands parameters over untyped
    label = action.label  # type: ignore[attr-defined]
    wanted = "The proof is a command of its own" if label == "proof" else "This needs the screen"
    assert after(told(key), label)[0].startswith(wanted)


@pytest.mark.parametrize("action", [action for action in ACTIONS if action.plain], ids=lambda action: action.name)
def test_every_plain_action_does_something(told: Told, action: object) -> None:
    for key in action.keys:  # type: ignore[attr-defined]  # pytest hands parameters over untyped
        lines = told(key)
        assert not any("needs the screen" in line or "is no key here" in line for line in lines)


def test_an_unknown_key_is_told(told: Told) -> None:
    assert "u is no key here; ? lists them." in told("u")


def test_the_end_of_the_input_ends_it(told: Told) -> None:
    assert not any(line == "> quit" for line in told())
    assert told("p")[-2].startswith("Which path?")
    assert told("p")[-1] == "Nothing is chosen."


def test_a_deadline_that_passed_is_told(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    from visualizer.walk import Walker

    monkeypatch.setattr(Walker, "server_now_ms", lambda _: 2**60)
    later = step("schedule", 'enters = ["schedule"]\noutcome = "scheduled"', "delay_ms = 60000")
    early = step("promote", 'outcome = "promoted"', more='needs = "not_due"')
    lines = told("n", "n", "r", lesson=HEAD + PATH.format(name="early") + later + early)
    assert any("only teaches before its deadline" in line for line in after(lines, "step", 2))
    assert "next, step 1 of 2 · schedule" in after(lines, "restart")


def test_without_a_lesson_it_asks_for_one(shell: Shell) -> None:
    number = [file.stem for file in all_lessons()].index("states-as-locations") + 1
    ended = shell("--plain", "--engine", "fakeredis", lines=f"{number}\nq\n")
    assert ended.code == 0
    assert f"  {number}  states-as-locations" in ended.lines
    assert "States as locations · R3.04.1" in ended.lines
    assert shell("--plain", lines="").code == 0
    assert shell("--plain", lines="nonsense\n").code == 2


def test_a_path_can_be_named(shell: Shell) -> None:
    ended = shell("states-as-locations", "--path", "retry", "--plain", "--engine", "fakeredis", lines="q\n")
    assert any(line.startswith("path retry: ") for line in ended.lines)
    assert shell("states-as-locations", "--path", "retri", "--plain").code == 2


def test_hostile_payloads_and_keys(told: Told) -> None:
    for _, data in HOSTILE:
        if len(data) < 1_000:
            told("n", lesson=SMALL.replace("83 68 04", data.hex()))
    told(
        *(
            data.decode("utf-8", "surrogateescape").splitlines()[0]
            for _, data in HOSTILE
            if 0 < len(data) < 99 and data.strip()
        )
    )


def test_the_layers_the_codes_and_the_lessons_clock_need_no_screen(shell: Shell) -> None:
    ended = shell("lock-protocol", "--plain", "--engine", "fakeredis", lines="n\nn\ny\nk\n.\nq\n")
    assert ended.code == 0
    assert any(line.startswith("L3  EchoMQ.Scripts.move_to_active/4: EVALSHA") for line in ended.lines)
    assert any("JobLockMismatch" in line for line in ended.lines)
    assert "5.0 s passed on the lesson's clock. Nothing moved." in ended.lines
