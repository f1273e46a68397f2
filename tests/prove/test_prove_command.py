"""``visualizer prove`` with its real processes: what it answers, and that nothing outlives it however it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.engine.serving import eventually, needs_server, running
from tests.prove.few import few
from tests.shell.conftest import Shell, shell
from visualizer.engine import open_engine
from visualizer.engine.embedded import EmbeddedEngine
from visualizer.prove.counts import Tally
from visualizer.prove.proving import NEEDS_VALKEY, NOT_BY_URL, QUEUE, Proof, orders_for

__all__ = ["few", "shell"]

ROOT = Path(__file__).parents[2]
# The program with one process of each kind, and without the orders that it runs one by one before: what is asked here
# is how it ends. The first test has the whole crew.
BOOT = """
from visualizer.prove import proving
proving.WORKERS, proving.OBSERVERS = 1, dict.fromkeys(proving.OBSERVERS, 1)
proving.all_orders = lambda engine: ()
from visualizer.__main__ import main
main()
"""
# The crew, the server, and its watch.
CHILDREN = len({(order.role, order.column) for order in orders_for("", 1)}) + 2
ENDLESS = ("--seconds", "600", "--json")


@needs_server
def test_a_short_proof_holds_and_the_naive_queue_does_not(shell: Shell) -> None:
    ended = shell("prove", "--seconds", "1", "--seed", "11", "--json")
    assert (ended.code, ended.err) == (0, b"")
    (line,) = ended.lines
    told = json.loads(line)
    assert (told["seed"], told["ended"], told["holds"], told["faults"]) == (11, "done", True, [])
    scripted, naive = told["watched"]["scripted"], told["watched"]["naive"]
    assert (scripted["broken"], scripted["at_rest"]) == (0, [])
    assert scripted["readings"] > naive["readings"] > 0
    assert naive["broken"] > 0
    assert naive["shown"]["breaches"]
    assert naive["breaches"] > 0
    assert naive["lasting"] <= naive["breaches"]
    assert bool(naive["at_rest"]) == (naive["lasting"] > 0)
    assert set(told["watched"]) == set(told["worked"]) == {"scripted", "naive"}
    worked = told["worked"]
    assert set(worked["naive"]["refused"]) <= set(worked["scripted"]["refused"])
    assert worked["naive"]["commands"] > worked["naive"]["calls"] > 0
    assert told["workers"]["naive"] == told["workers"]["scripted"]
    assert told["worked"]["scripted"]["refused"]
    assert all(odd["times"] == odd["accepted"] > 0 for odd in told["odd"])


@needs_server
@pytest.mark.usefixtures("few")
def test_a_proof_in_lines(shell: Shell) -> None:
    ended = shell("prove", "--seconds", "0.3")
    assert ended.code == 0
    assert ended.lines[0].startswith("the proof · REAL Valkey")
    assert "readings of the scripted queue: no law was broken." in ended.lines[-3]
    assert len(ended.lines) < 30
    assert "A very short run (0.3 s)" in ended.lines[-4]


@needs_server
def test_all_of_a_proof_in_lines(shell: Shell) -> None:
    ended = shell("prove", "--seconds", "0.3", "--all")
    told = ended.out.decode()
    assert ended.code == 0
    for words in ("every order of two actors", "odd calls, and the laws they break", "× broken: "):
        assert words in told


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [("fakeredis", NEEDS_VALKEY), ("redis://localhost:1", NOT_BY_URL), ("unix:///nowhere", NOT_BY_URL)],
)
def test_it_runs_on_a_private_valkey_only(shell: Shell, engine: str, sentence: str) -> None:
    ended = shell("prove", "--engine", engine)
    assert (ended.code, ended.out, ended.complaint) == (2, b"", f"{sentence}\n")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--seconds", "0", "0 is not between 0.1 and 3600."),
        ("--seconds", "nan", "nan is not between 0.1 and 3600."),
        ("--seconds", "x", "'x' is not a number."),
        ("--seed", "-1", "-1 is not between 0 and 4294967295."),
        ("--seed", "0.5", "'0.5' is not a whole number."),
    ],
)
def test_what_cannot_be_is_refused(shell: Shell, option: str, value: str, sentence: str) -> None:
    ended = shell("prove", option, value)
    assert ended.code == 2
    assert ended.complaint.endswith(f"{sentence}\n")


@needs_server
@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_before_there_is_a_proof_says_that_nothing_was_proved(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("visualizer.prove.proving.Proof.__init__", interrupted)
    ended = shell("prove", *(["--json"] if as_json else []))
    told = (ended.complaint, ended.out.decode())
    assert (ended.code, *sorted(told)) == (130, "", "Nothing was proved.\n")
    assert bool(ended.complaint) == as_json


@needs_server
def test_ctrl_c_before_the_workers_begin_says_that_nothing_was_proved(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("visualizer.prove.crew.Crew.start", interrupted)
    ended = shell("prove")
    assert (ended.code, ended.complaint, ended.out) == (130, "", b"Nothing was proved.\n")


@needs_server
def test_a_second_ctrl_c_while_it_ends_keeps_the_counts(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("visualizer.prove.proving.Proof._finish", interrupted)
    ended = shell("prove", "--seconds", "0.5")
    assert ended.code == 130
    assert b"Stopped before its end" in ended.out


@contextmanager
def proving(root: Path, temp: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, with temporary folders of its own."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", BOOT, "prove", *arguments],
        cwd=temp,
        env={**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(temp)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def children_of(process: subprocess.Popen[str]) -> list[int]:
    told = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
    return [int(pid) for pid in told.stdout.split()]


def at_work(process: subprocess.Popen[str], temp: Path) -> list[int]:
    """The command's children, once they are all there and have something to count; the server is the first."""
    eventually(lambda: len(children_of(process)) == CHILDREN, "every process has started")
    # Nearly all of them are readings: the observer of the scripted queue is the only one that never rests.
    eventually(lambda: counted(temp) > 500, "they work")
    return children_of(process)


def counted(temp: Path) -> int:
    """How many scripts the command's server has run."""
    from visualizer.engine.client import unix_client

    (folder,) = temp.glob("emq-*")
    client = unix_client(str(folder / "s"), 10.0)
    try:
        found: dict[str, dict[str, int]] = client.info("commandstats")
        return found.get("cmdstat_evalsha", {}).get("calls", 0)
    finally:
        client.close()


def assert_nothing_left(children: list[int], temp: Path) -> None:
    eventually(lambda: not any(running(pid) for pid in children), "every process is gone")
    eventually(lambda: list(temp.glob("emq-*")) == [], "the server's folder is gone")


@needs_server
@pytest.mark.skipif(shutil.which("pgrep") is None, reason="it asks pgrep for the processes")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_is_ended_nothing_is_left(ending: signal.Signals, tmp_path: Path) -> None:
    with proving(ROOT, tmp_path, *ENDLESS) as process:
        children = at_work(process, tmp_path)
        # Ctrl-C in a terminal reaches every process of the group; the others are meant for one.
        (os.killpg if ending == signal.SIGINT else os.kill)(process.pid, ending)
        out, err = process.communicate()
        assert_nothing_left(children, tmp_path)
    if ending == signal.SIGINT:
        told = json.loads(out)
        assert (process.returncode, told["ended"], err) == (130, "interrupted", "")
        assert told["watched"]["scripted"]["readings"] > 0
        assert told["watched"]["scripted"]["at_rest"] == []
    elif ending == signal.SIGTERM:
        assert (process.returncode, out, err) == (128 + signal.SIGTERM, "", "")


@needs_server
@pytest.mark.skipif(shutil.which("pgrep") is None, reason="it asks pgrep for the processes")
@pytest.mark.parametrize(
    ("victim", "sentence"), [(0, "The private Valkey ended"), (-1, "A process of the proof (odd 1")]
)
def test_whoever_dies_the_counts_are_told(victim: int, sentence: str, tmp_path: Path) -> None:
    with proving(ROOT, tmp_path, *ENDLESS) as process:
        children = at_work(process, tmp_path)
        os.kill(children[victim], signal.SIGKILL)
        out, err = process.communicate()
        assert_nothing_left(children, tmp_path)
    told = json.loads(out)
    assert (process.returncode, told["ended"]) == (2, "broken off")
    assert told["watched"]["scripted"]["readings"] > 0
    assert err.startswith(sentence)
    assert err.count("\n") == 1


@needs_server
@pytest.mark.usefixtures("few")
def test_a_server_that_has_died_before_is_told_too() -> None:
    engine = open_engine("valkey", queue=QUEUE)
    try:
        assert isinstance(engine, EmbeddedEngine)
        os.kill(engine.server.pid, signal.SIGKILL)
        told: list[Tally] = []
        tally = Proof(engine, 600.0, 1).run(told.append)
        assert (tally.ended, told[-1]) == ("broken off", tally)
        assert tally.trouble.startswith("The private Valkey ended")
    finally:
        engine.close()


@needs_server
def test_a_claim_that_forgets_active_is_caught(tmp_path: Path) -> None:
    """A whole copy of the program with one line of one script left out."""
    copied = without_active(tmp_path / "copy")
    temp = tmp_path / "temp"
    temp.mkdir()
    with proving(copied, temp, "--seconds", "0.5", "--json") as process:
        out, err = process.communicate()
    told = json.loads(out)
    assert (process.returncode, told["ended"], told["holds"], err) == (1, "done", False, "")
    assert told["watched"]["scripted"]["broken"] > 0
    assert told["watched"]["scripted"]["laws"]["the_id_is_in_exactly_one_place"] > 0


def without_active(copied: Path) -> Path:
    for folder in ("visualizer", "lua", "lessons"):
        shutil.copytree(ROOT / folder, copied / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copied)
    script = copied / "lua" / "leased" / "steps" / "grant.lua"
    text = script.read_text()
    broken = "\n".join(line for line in text.splitlines() if "ZADD" not in line)
    assert broken != text.rstrip("\n")
    script.write_text(broken + "\n")
    return copied
