"""``visualizer walk`` in text: what it prints, what its exit code says, and how it ends."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from tests.shell.conftest import ENQUEUE, HEAD, PATH, RACE, SMALL, Shell, step
from visualizer.cli.playing import failures, play
from visualizer.engine import Engine
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.lesson import find, load
from visualizer.machine import MACHINES, bench
from visualizer.model import Step, Walk
from visualizer.perform import NAMED_STEPS
from visualizer.player import Player
from visualizer.script import Script
from visualizer.script import load as load_script
from visualizer.walk import Walker

Written = Callable[[str], str]
NEEDS_SERVER = PATH.format(name="restarts") + ENQUEUE + step("restart_server", 'outcome = "restarted"')
LATER = step("schedule", 'enters = ["schedule"]\noutcome = "scheduled"', "delay_ms = 60000")
EARLY = step("promote", 'outcome = "promoted"', more='needs = "not_due"')
EARLY_LESSON = HEAD + PATH.format(name="early") + LATER + EARLY
LONG_WAIT = HEAD + PATH.format(name="long") + ENQUEUE + step("time_passes", 'outcome = "passed"', "ms = 600000")


def player_of(file: str, engine: Engine) -> Player:
    return Player(load(find(file), MACHINES, NAMED_STEPS), engine)


# What it prints -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_the_readouts_are_printed(shell: Shell, lesson_file: Written, spec: str) -> None:
    ended = shell("walk", lesson_file(SMALL), "--engine", spec)
    assert (ended.code, ended.err) == (0, b"")
    for line in (
        "path only · only",
        "1 of 3 · enqueue",
        "The queue holds 1 key, not a foreign one, and every row has a place.",
    ):
        assert line in ended.lines
    for beginning in (
        "JOB0KHTOWnGLuC enters pending.",
        "JOB0KHTOWnGLuC leaves active and enters nothing: its row is gone.",
    ):
        assert any(line.startswith(beginning) for line in ended.lines)
    assert "A small lesson · T1 · " in ended.lines[0]
    assert "emq:{small}:" in ended.lines[0]


@pytest.mark.parametrize("spec", ["valkey", "fakeredis"])
def test_the_wire_log_is_printed_under_each_frame(shell: Shell, lesson_file: Written, spec: str) -> None:
    ended = shell("walk", lesson_file(SMALL), "--wire", "--engine", spec)
    assert (ended.code, ended.err) == (0, b"")
    log = ended.lines[ended.lines.index("emq:{small}: begins the keys and is left out of them.") :]
    assert log[1].startswith("call 1 EVALSHA leased/enqueue  ")
    assert [line.split()[0] for line in ended.lines if line.startswith("inside")] == ["inside"] * 3
    assert sum(line.startswith("total  ") for line in ended.lines) == 3


def test_the_queue_can_be_another_one(shell: Shell, lesson_file: Written) -> None:
    ended = shell("walk", lesson_file(SMALL), "--engine", "fakeredis", "--queue", "a b")
    assert ended.code == 0
    assert "emq:{a b}:" in ended.lines[0]


@pytest.mark.parametrize("turns", ["reaper,worker", "reaper", " reaper , worker "])
def test_a_race_is_played_in_another_order(shell: Shell, lesson_file: Written, turns: str) -> None:
    ended = shell("walk", lesson_file(RACE), "--path", "race", "--turns", turns, "--engine", "fakeredis")
    assert (ended.code, ended.err) == (0, b"")
    steps = [line for line in ended.lines if " of 4 · " in line]
    assert steps[2:] == ["3 of 4 · reaper: reap", "4 of 4 · worker: complete"]
    assert "lesson Your own order (R W): nothing is announced for it." in ended.lines


def test_the_written_turns_announce_what_is_written(shell: Shell, lesson_file: Written) -> None:
    untrue = RACE.replace('outcome = "reaped"', 'outcome = "reaped"\nenters = ["dead"]')
    for turns, code in (("worker,reaper", 1), ("reaper,worker", 0)):
        ended = shell("walk", lesson_file(untrue), "--path", "race", "--turns", turns, "--engine", "fakeredis")
        assert (ended.code, ended.err) == (code, b"")
        assert any("announced enters dead" in line for line in ended.lines) == (code == 1)


def test_in_a_chosen_order_a_broken_law_is_1(shell: Shell) -> None:
    words = ("walk", "read-decide-write", "--path", "split-commands", "--pace", "0.001", "--engine", "fakeredis")
    assert shell(*words).code == 0, "the lesson announces what the written order breaks"
    ended = shell(*words, "--turns", "reaper,reaper,reaper,worker,worker,worker,worker,worker,reaper")
    assert (ended.code, ended.err) == (1, b"")
    assert any(line.startswith("broken ") for line in ended.lines)


def test_a_chosen_order_is_judged_by_what_it_leaves(shell: Shell) -> None:
    words = ("walk", "read-decide-write", "--path", "split-commands", "--pace", "0.001", "--engine", "fakeredis")
    harmless = ",".join(["reaper"] * 4)
    ended = shell(*words, "--turns", harmless)
    assert (ended.code, ended.err) == (0, b"")
    assert any(line.startswith("broken ") for line in ended.lines), "within the race laws break, and are mended"
    assert any(line.startswith("Your order did no harm. ") for line in ended.lines)
    assert shell(*words, "--turns", harmless, "--json").code == 0
    ghost = "worker,reaper,reaper,worker,worker,worker,worker,reaper,reaper"
    ended = shell(*words, "--turns", ghost, "--json")
    assert (ended.code, ended.err) == (1, b""), "every law holds at the end, and the job is counted twice"
    assert json.loads(ended.lines[-1])["breaks"] == []


@pytest.mark.parametrize(
    ("turns", "sentence"),
    [
        ("ghost", "“ghost” at step 3: no actor of the race is called so; it can be that of worker or reaper"),
        ("reaper,reaper", "It cannot be the turn of “reaper” at step 4: it has nothing left to run in this race"),
        ("worker,reaper,worker", "3 turns are given, and the path has races of 2 steps in all"),
        ("", "“” at step 3: no actor of the race is called so"),
        ("\x1b[2J", "\\x1b[2J"),
    ],
)
def test_a_wrong_turn_is_2_and_nothing_is_played(shell: Shell, lesson_file: Written, turns: str, sentence: str) -> None:
    ended = shell("walk", lesson_file(RACE), "--path", "race", "--turns", turns, "--engine", "fakeredis")
    assert (ended.code, ended.out) == (2, b"")
    assert sentence in ended.complaint
    assert "Traceback" not in ended.complaint


def test_a_pace_shortens_what_is_sent(shell: Shell, lesson_file: Written) -> None:
    lesson = HEAD + PATH.format(name="only") + ENQUEUE + step("time_passes", 'outcome = "passed"', "ms = 3600000")
    ended = shell("walk", lesson_file(lesson), "--engine", "fakeredis", "--pace", "0.000001")
    assert ended.code == 0
    assert any("passed on the server's clock" in line for line in ended.lines)


# A refusal: the readout is computed from the places, never from the edge that was meant -------------------------------


def test_a_script_that_refuses_moves_nothing_in_the_readout(
    shell: Shell, lesson_file: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "return redis.error_reply('EMQSTALE complete token mismatch')\n"
    sha1 = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()

    def stubbed(name: str) -> Script:
        script = load_script(name)
        return replace(script, source=source, sha1=sha1) if name == "leased/complete" else script

    monkeypatch.setattr(bench, "load", stubbed)
    ended = shell("walk", lesson_file(SMALL), "--engine", "fakeredis")
    assert ended.code == 1
    last = ended.lines[ended.lines.index("3 of 3 · complete") :]
    assert last[1].startswith("Refused: EMQSTALE complete token mismatch")
    assert "Nothing moved." in last[1]
    assert "lesson announced leaves active, read nothing" in last
    assert not any(line.startswith(("row ", "score ", "JOB0KHTOWnGLuC leaves")) for line in last)


# Exit codes -----------------------------------------------------------------------------------------------------------


def test_an_announcement_that_is_not_met_is_1(shell: Shell) -> None:
    untrue = Path(__file__).parents[1] / "lessons" / "untrue" / "false-leaves.toml"
    ended = shell("walk", str(untrue), "--engine", "fakeredis")
    assert (ended.code, ended.err) == (1, b"")
    assert any("announced leaves schedule, read pending" in line for line in ended.lines)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("walk",), "Missing argument 'LESSON'"),
        (("walk", "states-as-location"), "did you mean states-as-locations?"),
        (("walk", "none.toml"), "There is no lesson file none.toml"),
        (("walk", "states-as-locations", "--path", "hapy"), "did you mean happy?"),
        (("walk", "states-as-locations", "--pace", "0"), "a number greater than 0"),
        (("walk", "states-as-locations", "--pace", "nan"), "a number greater than 0"),
        (("walk", "states-as-locations", "--pace", "inf"), "a number greater than 0"),
        (("walk", "states-as-locations", "--pace", "fast"), "a number greater than 0"),
        (("walk", "states-as-locations", "--engine", "mongodb"), "The choices are auto, valkey, fakeredis"),
        (("walk", "states-as-locations", "--engine", "unix:///nowhere/at/all"), "cannot be reached"),
        (("walk", "states-as-locations", "--queue", "a}b"), "holds a brace"),
        (("walk", "states-as-locations", "--queue", ""), "A queue name cannot be empty"),
        (("walk", "states-as-locations", "--path", ""), "There are: happy, retry"),
        (("walk", "states-as-locations", "--take-over"), "--take-over is for a server"),
        (("walk", "states-as-locations", "happy"), "unexpected extra argument"),
        (("walk", "states-as-locations", "--jsno"), "No such option"),
        (("walk", "states-as-locations", "--turns", "a"), "--turns needs the --path"),
        (("walk", "states-as-locations", "--path", "happy", "--turns", "a"), "One turn is given, and the path has no"),
        (("walk", "tests/lessons/broken/unknown-verb.toml"), "unknown verb or named step"),
    ],
)
def test_misuse_and_engine_errors_are_2(shell: Shell, arguments: tuple[str, ...], sentence: str) -> None:
    ended = shell(*arguments)
    assert (ended.code, ended.out) == (2, b"")
    assert sentence in ended.complaint
    assert "Traceback" not in ended.complaint


def test_a_path_that_needs_our_own_server_is_2_and_the_others_are_played(shell: Shell, lesson_file: Written) -> None:
    file = lesson_file(HEAD + NEEDS_SERVER + PATH.format(name="other") + ENQUEUE)
    ended = shell("walk", file, "--engine", "fakeredis")
    assert ended.code == 2
    assert "The path restarts was not played: fakeredis lives in this process" in ended.complaint
    assert "path other · other" in ended.lines
    assert "path restarts · restarts" not in ended.lines
    assert shell("walk", file, "--engine", "fakeredis", "--path", "other").code == 0
    assert shell("walk", file, "--engine", "valkey").code == 0


def test_a_server_that_goes_away_is_2(shell: Shell, lesson_file: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    take = Walker.take

    def after_its_end(walker: Walker, taken: Step, note: str = "") -> Walk:
        if walker.walk.frames:
            server = cast(EmbeddedEngine, walker._engine).server
            os.kill(server.pid, signal.SIGKILL)
        return take(walker, taken, note)

    monkeypatch.setattr(Walker, "take", after_its_end)
    ended = shell("walk", lesson_file(SMALL), "--engine", "valkey")
    assert ended.code == 2
    assert "private Valkey" in ended.complaint
    assert "Traceback" not in ended.complaint
    assert "1 of 3 · enqueue" in ended.lines


# Deadlines ------------------------------------------------------------------------------------------------------------


def test_a_deadline_that_passed_replays_the_path_and_each_step_is_printed_once(
    shell: Shell, lesson_file: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([2**60])  # once far beyond the deadline, then the true clock
    true_clock = Walker.server_now_ms
    monkeypatch.setattr(Walker, "server_now_ms", lambda self: next(answers, None) or true_clock(self))
    ended = shell("walk", lesson_file(EARLY_LESSON), "--engine", "fakeredis")
    assert (ended.code, ended.err) == (0, b"")
    assert [line for line in ended.lines if " of 2 · " in line] == ["1 of 2 · schedule", "2 of 2 · promote"]
    assert ended.lines[ended.lines.index("2 of 2 · promote") + 1].startswith("Time had passed")


def test_a_deadline_that_never_can_be_kept_is_2(
    shell: Shell, lesson_file: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Walker, "server_now_ms", lambda _: 2**60)
    ended = shell("walk", lesson_file(EARLY_LESSON), "--engine", "fakeredis")
    assert ended.code == 2
    assert "step 2 (promote) only teaches before its deadline" in ended.complaint


# Frames between two steps ---------------------------------------------------------------------------------------------


def test_a_frame_between_steps_announces_nothing(engine: Engine, lesson_file: Written) -> None:
    player = player_of(lesson_file(SMALL), engine)
    played = play(player)
    frame, _ = next(played)
    assert failures(frame) == []
    engine.client.zadd(player.space.key("dead"), {b"JOB0KHTOWnGLuC": 0})
    between, earlier = next(played)
    assert (between.step, len(earlier)) == (None, 1)
    assert any("the_id_is_in_exactly_one_place" in failure for failure in failures(between))
    claim, earlier = next(played)
    assert claim.step is not None
    assert len(earlier) == 2


# How it ends ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def process(lesson_file: Written, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A walk in a process of its own that waits for ten minutes, with its private folders under ``tmp_path``."""
    folder = tmp_path / "t"
    folder.mkdir()
    command = [sys.executable, "-m", "visualizer", "walk", lesson_file(LONG_WAIT), "--engine", "valkey"]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)}
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        for stream in (started.stdout, started.stderr):
            assert stream is not None
            stream.close()


def lines_until(process: subprocess.Popen[bytes], beginning: bytes) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return
    raise AssertionError(f"the walk ended without a line that begins with {beginning!r}")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_its_server(
    process: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals, code: int
) -> None:
    lines_until(process, b"laws ")
    assert list((tmp_path / "t").glob("emq-*"))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, b"")
    assert b"Traceback" not in out
    assert not list((tmp_path / "t").glob("emq-*"))


def test_a_reader_that_leaves_ends_it_quietly(lesson_file: Written) -> None:
    command = [sys.executable, "-m", "visualizer", "walk", lesson_file(SMALL), "--json", "--engine", "fakeredis"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_a_terminal_without_our_signs_gets_escapes(lesson_file: Written) -> None:
    command = [sys.executable, "-m", "visualizer", "walk", lesson_file(SMALL), "--engine", "fakeredis"]
    ended = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert rb"\u2192" in ended.stdout
