"""Looks into one script line by line, on a throw-away copy of the queue.

The copy is a private server of our own that is given the queue's keys; neither the lesson's engine nor a server by URL
ever sees the debugger. The session is forked, so a second connection to the copy shows what other clients see while the
script runs: nothing of it yet. When the script has ended, the copy runs it once more, whole, and is read before and
after: by that its trace can be compared with a step's frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from visualizer.called import Called, NoXrayError, Source, caught_call, function_of
from visualizer.caller import ErrorReply, ReplyLostError, error_text
from visualizer.debugger import At, DebuggerError, Local, Ran, Session, TooLargeError
from visualizer.engine import Engine, EngineError, EngineGone, private_engine
from visualizer.engine.embedded import EmbeddedEngine, EmbeddedServer
from visualizer.inside import Gaze, Seen, seen_by, sides_given
from visualizer.model import Dump, Machine
from visualizer.move import moves_between
from visualizer.observe import Observer
from visualizer.script import load
from visualizer.trace import Trace, args_of

# A script that runs more lines than this is not read line by line to its end: nobody would look at them.
MOST_STOPS = 4_000

# How long a key with a time to live is kept in the copy, beyond that time.
_LOOKING_MS = 3_600_000

_GONE = "the private server is gone"
_ERROR_LINE = re.compile(r"user_script:(\d+)")


class Stop(Struct, frozen=True):
    """One stop of the debugger: before ``line``, or after the script's end (``line`` 0).

    ``ran_line`` is the line that ran to come here (0 at the first stop), ``ran`` are its commands, ``wrote`` tells
    whether one of them writes. ``changed`` names the locals that are new or other than at the stop before. ``inside``
    is None at the end. Instants are ``shifted_ms`` later than they were for the lesson, in all but the two views.
    """

    number: int
    line: int
    ran_line: int
    ran: tuple[Ran, ...]
    wrote: bool
    locals: tuple[Local, ...]
    changed: frozenset[str]
    inside: Seen | None
    outside: Seen
    shifted_ms: int = 0

    @property
    def ended(self) -> bool:
        return self.line == 0


class Xray:
    """A script in the debugger. ``stops`` are those so far; close it, whatever happens.

    NoXrayError where it cannot be had. DebuggerError once the copy is gone: then only what was read remains.
    """

    def __init__(self, source: Source) -> None:
        from redis.exceptions import RedisError  # imported late: only who opens an engine needs it

        self._source = source
        self._writes: dict[str, bool] = {}
        self.stops: list[Stop] = []
        self.trace: Trace | None = None
        self._session: Session | None = None
        self._engine = self._open()
        try:
            self._lay_out(source.dumps)
            self.called = self._find_call()
            self._late: Mapping[bytes, Dump] = source.late(self.called.keys) if source.late else {}
            self._gaze = self._look_for()
            self.shifted_ms = self._lay_out({**source.dumps, **self._late})
            self._session = Session(
                self._server.socket_path, self.called.script.source, self.called.keys, self.called.args
            )
            self._note(self._session.at, 0)
        except TooLargeError as why:
            self.close()
            raise NoXrayError(f"This call cannot be looked into: {why}. The lesson is untouched.") from why
        except (DebuggerError, EngineError, RedisError, ReplyLostError) as why:
            self.close()
            raise NoXrayError(f"The preview could not be made: {_told(why)}. The lesson is untouched.") from why
        except BaseException:
            self.close()
            raise

    @property
    def ended(self) -> bool:
        return self.stops[-1].ended

    def step(self) -> Stop:
        """Runs one line; at the end nothing happens."""
        return self.run(lambda _: True)

    def run(self, until: Callable[[Stop], bool]) -> Stop:
        """Runs lines until one brings a stop that is wanted, or to the script's end."""
        session = self._session
        while session is not None and not self.ended:
            if len(self.stops) >= MOST_STOPS:
                raise DebuggerError(f"more than {MOST_STOPS:,} lines ran, so the preview ends here")
            self._check()
            line = self.stops[-1].line
            stop = self._note(session.step(), line)
            if until(stop):
                break
        return self.stops[-1]

    def to_end(self) -> Stop:
        return self.run(lambda _: False)

    def to_write(self) -> Stop:
        """Runs until a line has written."""
        return self.run(lambda stop: stop.wrote)

    def to_line(self, lines: Collection[int]) -> Stop:
        """Runs to the next of these lines."""
        return self.run(lambda stop: stop.line in lines)

    def close(self) -> None:
        """Ends the session and the private server with everything that runs there."""
        if self._session is not None:
            self._session.close()
            self._session = None
        self._engine.close()

    # The copy ---------------------------------------------------------------------------------------------------------

    def _open(self) -> Engine:
        space = self._source.space
        try:
            engine = private_engine(space.queue, space.base)
        except EngineError as why:
            raise NoXrayError(str(why)) from why
        refused = engine.may("debug")
        if refused:
            engine.close()
            raise NoXrayError(refused)
        return engine

    @property
    def _server(self) -> EmbeddedServer:
        assert isinstance(self._engine, EmbeddedEngine)  # no other may debug
        return self._engine.server

    def _check(self) -> None:
        # A session outlives its server and keeps the server's connections open: nothing would ever be answered.
        if not self._server.alive():
            raise DebuggerError(_GONE)

    def _lay_out(self, dumps: Mapping[bytes, Dump]) -> int:
        """Makes the copy what the queue was. Answers by how many ms its instants lie later than they did there.

        The scripts of a machine without a clock of its own read the server's: what was due or had lapsed at that
        moment has to be so now, and nothing else.
        """
        source, engine = self._source, self._engine
        engine.clear_queue()
        shifted_ms = self._now_ms() - source.moment_ms if source.moment_ms else 0
        # What lives at that moment lives as long as anyone looks.
        later_ms = shifted_ms + _LOOKING_MS
        held = {
            key: (dump.data, dump.expires_at_ms + (later_ms if dump.expires_at_ms > source.moment_ms else shifted_ms))
            if dump.expires_at_ms
            else (dump.data, 0)
            for key, dump in dumps.items()
        }
        engine.put_back(held, ())
        if shifted_ms and not source.machine.own_clock:
            for place in source.machine.places:
                if place.scored in ("deadline", "due"):
                    self._shift(source.space.key(place.name), shifted_ms)
        return shifted_ms

    def _shift(self, key: bytes, shifted_ms: int) -> None:
        flat = self._ask("ZRANGE", key, 0, -1, "WITHSCORES")
        if flat and not isinstance(flat, ErrorReply):  # a key of another type has no scores
            later = [(repr(float(raw) + shifted_ms), job) for job, raw in zip(flat[::2], flat[1::2], strict=True)]
            self._engine.send("ZADD", key, "XX", *(word for pair in later for word in pair))

    def _now_ms(self) -> int:
        seconds, micros = self._engine.send("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def _find_call(self) -> Called:
        source = self._source
        call = source.call
        if call is None:
            return caught_call(source, self._engine)
        assert call.script is not None
        return Called(load(call.script), call.keys, args_of(call), source.step.id)

    def _look_for(self) -> Gaze:
        source, called = self._source, self.called
        ids = tuple(dict.fromkeys((*((called.job,) if called.job else ()), *source.ids)))
        job = called.job or (ids[0] if ids else None)
        sides = sides_given(source.machine, source.space, (*called.keys, *called.args))
        return Gaze(source.machine, source.space, job, ids, source.lanes, sides, frozenset(called.keys))

    # Stops ------------------------------------------------------------------------------------------------------------

    @property
    def server_pid(self) -> int:
        """The process of the private server."""
        return self._server.pid

    @property
    def machine(self) -> Machine:
        return self._source.machine

    @property
    def job(self) -> bytes | None:
        """The job whose row is shown."""
        return self._gaze.job

    def _note(self, at: At, ran_line: int) -> Stop:
        session = self._session
        assert session is not None
        found: tuple[Local, ...] = ()
        inside = None
        wrote = any(self._is_write(ran.name) for ran in at.ran)
        if at.ended:
            self._run_whole(at, ran_line, {ran_line} if wrote else set())
        else:
            found = session.locals()
            inside = seen_by(session.look, self._gaze, self.shifted_ms)
        known = self._known_before(at.line)
        stop = Stop(
            len(self.stops) + 1,
            at.line,
            ran_line,
            at.ran,
            wrote,
            found,
            frozenset(local.name for local in found if known.get(local.name) != local.text),
            inside,
            seen_by(self._ask, self._gaze, self.shifted_ms),
            0 if self._source.machine.own_clock else self.shifted_ms,
        )
        self.stops.append(stop)
        return stop

    def _known_before(self, line: int) -> Mapping[str, bytes]:
        """The locals as they last were in the function that a line stands in; none where it has just been called."""
        lines = self.called.script.lines
        if line and lines[line - 1].startswith("end") and self.stops:
            # A function ends here, or it has just been made: who stood in it before still does.
            function = function_of(lines, self.stops[-1].line)
        else:
            function = function_of(lines, line)
        for stop in reversed(self.stops):
            if function_of(lines, stop.line) == function:
                again = function and line <= stop.line and stop is not self.stops[-1]
                return {} if again else {local.name: local.text for local in stop.locals}
        return {}

    def _ask(self, *words: Any) -> Any:
        """What another client is answered."""
        self._check()
        try:
            return self._engine.send(*words)
        except Exception as failure:
            text = error_text(failure)
            if text is None:
                raise DebuggerError(_GONE) from failure
            return ErrorReply(text)

    def _is_write(self, name: str) -> bool:
        """Whether a command writes, as the server itself describes it."""
        known = self._writes.get(name)
        if known is None:
            described = self._ask("COMMAND", "INFO", name)
            flags = described[0][2] if isinstance(described, list) and described and described[0] else ()
            known = self._writes[name] = b"write" in flags
        return known

    def _run_whole(self, at: At, last_line: int, wrote: set[int]) -> None:
        """Lets the copy run the script as any server does, and reads it before and after.

        Where the session's reply did not arrive whole, that run's stands for it.
        """
        from redis.exceptions import RedisError  # imported late: see above

        source, called = self._source, self.called
        try:
            self.shifted_ms = self._lay_out({**source.dumps, **self._late})
            observer = Observer(self._engine, source.machine, source.space, source.ids)
            before = observer.read()
            whole = self._ask("EVAL", called.script.source, len(called.keys), *called.keys, *called.args)
            after = observer.read()
        except (EngineError, RedisError) as why:
            raise DebuggerError(_told(why)) from why
        reply = whole if at.cut else at.reply
        lines = {stop.line for stop in self.stops if not stop.ended}
        failed = _ERROR_LINE.search(reply.text) if isinstance(reply, ErrorReply) else None
        self.trace = Trace(
            called.script.name,
            called.script.sha1,
            frozenset(lines | {last_line} - {0}),
            reply,
            whole,
            moves_between(before, after),
            int(failed[1]) if failed else 0,
            frozenset(wrote | {stop.ran_line for stop in self.stops if stop.wrote}),
        )


def _told(why: Exception) -> str:
    """What stopped an x-ray, as a part of a sentence."""
    if isinstance(why, DebuggerError | ReplyLostError):
        return str(why) if isinstance(why, DebuggerError) else _GONE
    from visualizer.engine.failure import failure as told_of  # imported late: it needs redis

    failure = told_of(why, "the private server", b"")
    text = str(failure).rstrip(".")
    return _GONE if isinstance(failure, EngineGone) else text[:1].lower() + text[1:]
