"""However an x-ray ends, nothing of it is left: no server, no script that runs on, no folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from tests.engine.serving import eventually, needs_server, running
from tests.xray.looking import CLAIM, ENQUEUE, LOCAL, children_of, player_on, taken
from visualizer import xray as of_xray
from visualizer.called import NoXrayError
from visualizer.debugger import DebuggerError
from visualizer.engine import Engine, private_engine
from visualizer.engine.embedded import EmbeddedEngine, EmbeddedServer
from visualizer.look_inside import source_of
from visualizer.xray import Xray

pytestmark = [needs_server, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

ENDLESS = "local n = 0\nwhile true do\n  n = n + 1\nend"
# Within one line, so that the debugger cannot stop it.
HANGING = "local s = string.rep('a', 30)\nreturn string.find(s, string.rep('a?', 30) .. string.rep('a', 30) .. 'b')"


def server_of(xray: Xray) -> EmbeddedServer:
    engine = xray._engine
    assert isinstance(engine, EmbeddedEngine)
    return engine.server


def kill(server: EmbeddedServer) -> None:
    """A crash of the server; what it has forked lives on."""

    def died() -> bool:
        # Not collected: that is the owner's to do.
        return os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    if not died():
        os.kill(server.pid, signal.SIGKILL)
    eventually(died, "the server has died")


def gone(server: EmbeddedServer, children: set[int]) -> None:
    eventually(lambda: not running(server.pid), "the private server has ended")
    eventually(lambda: not any(map(running, children)), "the forked child has ended")
    assert not os.path.exists(server.folder)


def test_closing_in_the_middle(xray_of: Any) -> None:
    xray = xray_of(LOCAL)
    xray.step()
    server, children = server_of(xray), children_of(server_of(xray).pid)
    assert len(children) == 1
    xray.close()
    gone(server, children)
    assert [stop.line for stop in xray.stops] == [1, 2], "what was read remains"
    assert xray.step() is xray.stops[-1], "and nothing more is run"
    xray.close()


def test_an_x_ray_that_cannot_open_leaves_nothing(xray_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Engine] = []

    def noting(queue: str, base: bytes) -> Engine:
        made.append(private_engine(queue, base))
        return made[-1]

    def fails(*_: Any) -> None:
        raise KeyError("a defect of ours")

    monkeypatch.setattr(of_xray, "private_engine", noting)
    monkeypatch.setattr(of_xray, "seen_by", fails)
    with pytest.raises(KeyError):
        xray_of(LOCAL)
    assert isinstance(made[0], EmbeddedEngine)
    gone(made[0].server, set())


@pytest.mark.parametrize("at_end", [False, True])
def test_the_server_dies_in_the_middle(xray_of: Any, at_end: bool) -> None:
    """The forked child goes on alone, and still its last words are not taken for more than they are."""
    xray = xray_of(LOCAL)
    server, children = server_of(xray), children_of(server_of(xray).pid)
    if at_end:
        xray.step()
        xray.step()
    stops = list(xray.stops)
    kill(server)
    for _ in range(2):
        with pytest.raises(DebuggerError, match="the private server is gone"):
            xray.to_end()
    assert xray.stops == stops, "what was read remains"
    xray.close()
    gone(server, children)


def test_the_server_dies_while_the_script_is_run_whole(xray_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    xray = xray_of(LOCAL)
    run_whole = xray._run_whole

    def dies(*given: Any) -> None:
        kill(server_of(xray))
        run_whole(*given)

    monkeypatch.setattr(xray, "_run_whole", dies)
    with pytest.raises(DebuggerError, match=r"^the private server is gone$"):
        xray.to_end()
    assert xray.trace is None


def test_the_forked_child_dies_in_the_middle(xray_of: Any) -> None:
    xray = xray_of(LOCAL)
    (child,) = children_of(server_of(xray).pid)
    os.kill(child, signal.SIGKILL)
    with pytest.raises(DebuggerError, match="the private server is gone"):
        xray.step()


def test_the_server_dies_while_the_copy_is_made(valkey: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """At whatever moment of it, a sentence says so."""
    player = player_on(valkey, ENQUEUE, CLAIM)
    player.step()
    for moment in ("_lay_out", "_find_call", "_look_for", "_note"):
        with monkeypatch.context() as patched:
            rest = getattr(Xray, moment)
            servers: list[EmbeddedServer] = []

            def dies(xray: Xray, *given: Any, rest: Any = rest, servers: Any = servers) -> Any:
                servers.append(server_of(xray))
                kill(servers[0])
                return rest(xray, *given)

            patched.setattr(Xray, moment, dies)
            with pytest.raises(NoXrayError) as told:
                Xray(source_of(player, None))
        assert str(told.value) == "The preview could not be made: the private server is gone. The lesson is untouched."
        gone(servers[0], set())


def test_an_endless_script_is_not_run_without_end(xray_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_xray, "MOST_STOPS", 12)
    xray = xray_of(ENDLESS)
    for run in (xray.to_end, xray.to_write, lambda: xray.to_line([99])):
        with pytest.raises(DebuggerError, match=r"^more than 12 lines ran, so the preview ends here$"):
            run()
    assert len(xray.stops) == 12
    server, children = server_of(xray), children_of(server_of(xray).pid)
    xray.close()
    gone(server, children)


def test_a_script_of_exactly_as_many_lines_runs_to_its_end(xray_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_xray, "MOST_STOPS", 4)
    assert xray_of(LOCAL).to_end().ended


def test_a_line_that_never_ends_is_ended_with_the_x_ray(xray_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("visualizer.debugger.ANSWER_SECONDS", 0.3)
    xray = xray_of(HANGING)
    xray.step()
    server, children = server_of(xray), children_of(server_of(xray).pid)
    with pytest.raises(DebuggerError, match="the private server gave no answer"):
        xray.step()
    assert all(map(running, children)), "nothing but its end stops that line"
    xray.close()
    gone(server, children)


KILLED = """
import sys, time
from tests.xray.looking import LOCAL, children_of, own_script, source_for
from visualizer import xray
script = own_script(LOCAL)
xray.load = lambda _: script
looking = xray.Xray(source_for(script))
looking.step()
server = looking._engine.server
print(server.pid, *children_of(server.pid), server.folder, flush=True)
time.sleep(600)
"""


def test_our_process_is_killed_in_the_middle() -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, child, folder = parent.stdout.readline().split()
        try:
            assert running(int(pid))
            assert running(int(child))
        finally:
            parent.kill()
    eventually(lambda: not running(int(pid)), "the private server has ended")
    eventually(lambda: not running(int(child)), "the forked child has ended")
    eventually(lambda: not os.path.exists(folder), "its folder is gone")


def test_the_lesson_goes_on_after_a_copy_has_died(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE, CLAIM)
    xray = Xray(source_of(player, None))
    kill(server_of(xray))
    with pytest.raises(DebuggerError):
        xray.to_end()
    xray.close()
    assert taken(player).outcome.name == "claimed"
    again = Xray(source_of(player, player.walk.frames[-1]))
    assert again.to_end().ended
    again.close()
