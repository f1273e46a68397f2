"""One script in the server's own debugger: where it stands, what ran, what came back, and what is never sent."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.serving import calls_of, eventually, needs_server
from tests.xray.looking import LOCAL, children_of, ended, session
from visualizer.caller import ErrorReply
from visualizer.debugger import (
    COMMAND_BYTES,
    START_BYTES,
    DebuggerError,
    Session,
    TooLargeError,
    packed,
    starting,
)
from visualizer.engine import EmbeddedServer

pytestmark = needs_server
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def admin_of(server: EmbeddedServer) -> redis.Redis:
    return redis.Redis(unix_socket_path=server.socket_path, protocol=2)


# Where it stands ------------------------------------------------------------------------------------------------------


def lines_of(made: Session) -> list[int]:
    """The lines at which a script stops, to its end."""
    found = [made.at.line]
    while not made.at.ended:
        found.append(made.step().line)
    return found


@pytest.mark.parametrize(
    ("source", "stops"),
    [
        (LOCAL, [1, 2, 3, 0]),
        ("-- a comment\n\nlocal a = 1\nreturn a", [3, 4, 0]),
        ("for i = 1, 3 do local a = i end\nreturn 1", [1, 1, 1, 1, 2, 0]),
        ("for i = 1, 2 do\n  local a = i\nend\nreturn 1", [1, 2, 1, 2, 1, 4, 0]),
        ("local t = {1,\n  2,\n  3}\nreturn t", [1, 2, 3, 4, 0]),
        ("local function f(x)\n  return x\nend\nreturn {f(1), f(2)}", [3, 4, 2, 2, 0]),
        ("while true do return 7 end", [1, 0]),
    ],
)
def test_it_stops_at_each_line_that_runs(bare: EmbeddedServer, source: str, stops: list[int]) -> None:
    with session(bare.socket_path, source) as made:
        assert lines_of(made) == stops
        assert made.over
        assert made.step().ended, "at the end a step does nothing"


def test_a_line_tells_all_its_commands_at_one_stop(bare: EmbeddedServer) -> None:
    source = (
        "redis.call('DEL', KEYS[1])\n"
        "local n = redis.call('RPUSH', KEYS[1], 'a') + redis.call('LLEN', KEYS[1])\n"
        "return n"
    )
    with session(bare.socket_path, source, keys=(b"l",)) as made:
        assert made.at.ran == ()
        assert [ran.name for ran in made.step().ran] == ["DEL"]
        assert [(ran.name, ran.reply) for ran in made.step().ran] == [("RPUSH", 1), ("LLEN", 1)]
        assert ended(made) == 2


# Values ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.binary(max_size=300) | st.lists(st.sampled_from(b'\n\r\t\a\b"\\x0a\x00\xff')).map(bytes))
def test_any_bytes_come_back_exactly(bare: EmbeddedServer, value: bytes) -> None:
    source = "redis.call('SET', KEYS[1], ARGV[1])\nlocal held = redis.call('GET', KEYS[1])\nreturn {held, ARGV[1]}"
    with session(bare.socket_path, source, value, keys=(b"k",)) as made:
        made.step()
        assert [ran.reply for ran in made.step().ran] == [value]
        assert made.look("GET", "k") == value
        asked = value[:200] + b"."
        made.look("SET", b"seen", asked)
        assert made.look("GET", "seen") == asked, "what is asked is exact too"
        assert ended(made) == [value, value]


def test_a_long_reply_is_not_cut(bare: EmbeddedServer) -> None:
    source = (
        "local a = redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[1])\n"
        "local b = redis.call('LRANGE', KEYS[1], 0, -1)\n"
        "return b"
    )
    long = bytes(range(256)) * 20
    with session(bare.socket_path, source, long, keys=(b"long",)) as made:
        made.step()
        assert made.step().ran[0].reply == [long, long]
        assert ended(made) == [long, long]


def test_an_error_is_told_from_a_string_that_looks_like_one(bare: EmbeddedServer) -> None:
    source = (
        "local a = redis.call('SET', KEYS[1], '-ERR no')\n"
        "local b = redis.call('GET', KEYS[1])\n"
        "local c = redis.pcall('LPUSH', KEYS[1], 'x')\n"
        "local d = redis.pcall('GET', KEYS[1])\n"
        "return d"
    )
    with session(bare.socket_path, source, keys=(b"s",)) as made:
        replies = [made.step().ran[0].reply for _ in range(4)]
        wrong = ErrorReply("WRONGTYPE Operation against a key holding the wrong kind of value")
        assert replies == [b"+OK", b"-ERR no", wrong, b"-ERR no"]
        assert made.look("LPUSH", "s", "x") == wrong
        assert made.look("GET", "s") == b"-ERR no"


@pytest.mark.parametrize(
    ("source", "reply"),
    [
        ("return redis.status_reply('FINE')", b"FINE"),
        ("return redis.error_reply('EMQSTALE token mismatch')", ErrorReply("EMQSTALE token mismatch")),
        (
            "return {1, '-ERR x', false, {}, {redis.error_reply('EMQX y')}}",
            [1, b"-ERR x", None, [], [ErrorReply("EMQX y")]],
        ),
        ("return {}", []),
        ("return false", None),
        ("return 3.99", 3),
    ],
)
def test_the_reply_at_the_end_is_the_servers_own(bare: EmbeddedServer, source: str, reply: object) -> None:
    with session(bare.socket_path, source) as made:
        assert ended(made) == reply


@pytest.mark.parametrize("source", ["local a = 1\nerror('boom')\nreturn a", "local a = 1\nlocal b = a.b.c\nreturn b"])
def test_a_run_time_error_names_its_line(bare: EmbeddedServer, source: str) -> None:
    with session(bare.socket_path, source) as made:
        assert made.step().line == 2
        at = made.step()
        assert (at.ended, at.ran) == (True, ())
        assert isinstance(at.reply, ErrorReply)
        assert "user_script:2: " in at.reply.text


def test_a_commands_error_ends_the_script_and_stands_as_what_ran(bare: EmbeddedServer) -> None:
    with session(bare.socket_path, "redis.call('SET', 'k', '1')\nredis.call('LPUSH', 'k', 'x')\nreturn 1") as made:
        made.step()
        at = made.step()
        assert [ran.name for ran in at.ran] == ["LPUSH"]
        for told in (at.reply, at.ran[0].reply):
            assert isinstance(told, ErrorReply)
            assert told.code == "WRONGTYPE"


def test_a_script_that_does_not_compile_has_ended_at_once(bare: EmbeddedServer) -> None:
    with session(bare.socket_path, "local a = = 1") as made:
        assert made.over
        assert made.at.ended
        assert isinstance(made.at.reply, ErrorReply)
        assert "user_script:1: " in made.at.reply.text


def test_locals_are_the_scripts_own_variables(bare: EmbeddedServer) -> None:
    source = (
        "local function f(x) return x end\n"
        "local a, b, c = ARGV[1], nil, {1, 'two'}\n"
        "for i = 5, 5 do\n"
        "  local a = i\n"
        "end\n"
        "return a"
    )
    with session(bare.socket_path, source, b"x = y\r\nz\xff") as made:
        made.step()
        assert made.locals() == (), "a function is not shown"
        while made.at.line != 4:
            made.step()
        assert [(local.name, local.text) for local in made.locals()] == [
            ("a", b"x = y  z\xff"),
            ("b", b"nil"),
            ("c", b"{1; two; }"),
            ("i", b"5"),
        ]


# What is never sent ---------------------------------------------------------------------------------------------------


def test_arming_and_the_script_go_in_one_write() -> None:
    armed = starting("return 1", [b"k"], [b"a"])
    assert armed == packed(("SCRIPT", "DEBUG", "YES"), ("EVAL", "return 1", 1, b"k", b"a"))
    room = START_BYTES - len(starting("return 1", [], [b"x" * 10_000]))
    assert len(starting("return 1", [], [b"x" * (10_000 + room)])) == START_BYTES
    with pytest.raises(TooLargeError, match=r"^the call is 16,001 bytes long, and the debugger takes 16,000$"):
        starting("return 1", [], [b"x" * (10_001 + room)])


def test_a_call_that_is_too_large_never_reaches_the_server() -> None:
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = str(Path(folder, "s"))
        listener.bind(path)
        listener.listen()
        listener.settimeout(0.05)
        with pytest.raises(TooLargeError):
            Session(path, LOCAL, [], [b"x" * START_BYTES])
        with pytest.raises(TimeoutError):
            listener.accept()


def test_a_command_that_is_too_long_is_not_sent_and_the_session_goes_on(bare: EmbeddedServer) -> None:
    room = COMMAND_BYTES - len(packed(("redis", "EXISTS", b"k" * 900)))
    with session(bare.socket_path, LOCAL) as made:
        assert made.look("EXISTS", b"k" * (900 + room)) == 0, "the longest that goes"
        with pytest.raises(TooLargeError, match="a command of 1,024 bytes"):
            made.look("EXISTS", b"k" * (901 + room))
        assert ended(made) == [1, 2]


@pytest.mark.parametrize("word", ["", b""])
def test_an_empty_word_is_not_sent_and_the_session_goes_on(bare: EmbeddedServer, word: bytes | str) -> None:
    with session(bare.socket_path, LOCAL) as made:
        with pytest.raises(DebuggerError, match="an empty word would end the session"):
            made.look("GET", word)
        assert ended(made) == [1, 2]


def test_the_server_itself_has_counted_nothing(bare: EmbeddedServer) -> None:
    with admin_of(bare) as admin:
        admin.config_resetstat()
        with pytest.raises(TooLargeError):
            Session(bare.socket_path, LOCAL, [], [b"x" * 20_000])
        assert (calls_of(admin, "eval"), calls_of(admin, "script|debug")) == (0, 0)


# Nobody else ----------------------------------------------------------------------------------------------------------


def test_what_the_script_writes_is_gone_with_the_session(bare: EmbeddedServer) -> None:
    with admin_of(bare) as admin:
        admin.delete("w")
        with session(bare.socket_path, "redis.call('SET', 'w', '1')\nreturn redis.call('GET', 'w')") as made:
            made.step()
            assert made.look("GET", "w") == b"1"
            assert admin.get("w") is None
            assert ended(made) == b"1"
        assert admin.get("w") is None
        assert admin.eval("return 7", 0) == 7, "nobody else is in the debugger"


def test_one_session_after_the_other_and_two_at_once(bare: EmbeddedServer) -> None:
    with session(bare.socket_path, LOCAL) as one, session(bare.socket_path, "return 'other'") as other:
        one.step()
        assert ended(other) == b"other"
        assert ended(one) == [1, 2]


@linux
@pytest.mark.parametrize("to_the_end", [True, False])
def test_the_forked_child_is_gone_when_the_session_is(bare: EmbeddedServer, to_the_end: bool) -> None:
    with session(bare.socket_path, LOCAL) as made:
        assert len(children_of(bare.pid)) == 1
        if to_the_end:
            ended(made)
    eventually(lambda: not children_of(bare.pid), "the forked child has ended")
    with admin_of(bare) as admin:
        assert admin.ping()
