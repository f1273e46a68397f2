"""Each kind of failure as a sentence: the cause, the way out, and nothing that harms the terminal or tells a secret."""

from __future__ import annotations

import pytest
from redis import exceptions
from redis._parsers.base import BaseParser

from visualizer.engine import Engine, EngineError, EngineGone
from visualizer.engine.failure import failure

CALLED = "the server at redis://u:***@h:6379"
BASE = b"emq:{cm}:"
SECRET = "s3cret"


def as_raised(reply: str) -> Exception:
    """The exception that redis-py makes of a server's error."""
    error = BaseParser.parse_error(reply)  # type: ignore[no-untyped-call]  # redis-py gives it no types
    assert isinstance(error, Exception)
    return error


def told(reply: str) -> str:
    """The sentence for an error as a server words it."""
    return str(failure(as_raised(reply), CALLED, BASE, (SECRET,)))


@pytest.mark.parametrize(
    ("reply", "cause", "way_out"),
    [
        ("NOAUTH Authentication required.", "wants a password", "redis://:PASSWORD@HOST"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "refuses the user name", "in the URL"),
        ("ERR invalid password", "refuses the user name", "in the URL"),
        (
            "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
            "configuration is correct?",
            "has no password",
            "Leave it out",
        ),
        ("NOPERM User u has no permissions to run the 'evalsha' command", "'evalsha'", "run scripts on emq:{cm}:*"),
        ("READONLY You can't write against a read only replica.", "read-only replica", "primary"),
        ("MASTERDOWN Link with MASTER is down", "lost its primary", "primary"),
        ("LOADING Valkey is loading the dataset in memory", "still loading", "Try again"),
        ("MOVED 1234 10.0.0.7:7001", "does not hold this queue", "10.0.0.7:7001"),
        ("ASK 1234 10.0.0.7:7001", "does not hold this queue", "10.0.0.7:7001"),
        ("CLUSTERDOWN Hash slot not served", "Hash slot not served", "Try again"),
        ("TRYAGAIN Multiple keys request during rehashing of slot", "moving", "Try again"),
        ("MISCONF Errors writing to the AOF file: No space left", "cannot save to disk", "log"),
        ("OOM command not allowed when used memory > 'maxmemory'.", "memory is full", "free memory"),
        ("NOREPLICAS Not enough good replicas to write.", "too few of its replicas", ""),
        ("BUSY Valkey is busy running a script.", "busy with a script", "Try again"),
        ("DENIED Running in protected mode.", "no connections from other machines", ""),
        ("ERR max number of clients reached", "no more clients", "Try again"),
        ("WRONGTYPE Operation against a key", "answered with an error: WRONGTYPE", ""),
    ],
)
def test_an_error_reply_is_told(reply: str, cause: str, way_out: str) -> None:
    sentence = told(reply)
    assert CALLED[1:] in sentence
    assert cause in sentence
    assert way_out in sentence
    assert sentence.endswith(".")
    assert not sentence.endswith("..")


def test_an_error_reply_is_no_lost_connection() -> None:
    """redis-py counts some of them as connection errors; the connection is there."""
    for reply in ("LOADING x", "NOAUTH x", "ERR max number of clients reached"):
        error = as_raised(reply)
        assert isinstance(error, exceptions.ConnectionError)
        assert not isinstance(failure(error, CALLED, BASE), EngineGone)


def test_what_a_server_says_is_made_visible_and_holds_no_secret() -> None:
    sentence = told(f"ERR unknown command 'AUTH', with args beginning with: '{SECRET}' \x1b[2J{{x}}\u202e")
    assert SECRET not in sentence
    assert "***" in sentence
    assert "\x1b" not in sentence
    assert "\u202e" not in sentence
    assert "{x}" in sentence


def test_an_endless_error_is_cut() -> None:
    assert len(told("ERR " + "x" * 100_000)) < 500


def test_other_exceptions_keep_their_name() -> None:
    assert str(failure(ValueError("odd {thing}"), CALLED, BASE)).endswith("failed: ValueError: odd {thing}.")


def test_an_engine_error_stays_what_it_is(engine: Engine) -> None:
    error = EngineError("a sentence")
    assert engine.failure(error) is error
    assert str(engine.failure(error)) == "a sentence"


def test_a_script_error_is_told_on_every_engine(engine: Engine) -> None:
    with pytest.raises(exceptions.ResponseError) as caught:
        engine.client.eval("return redis.error_reply('EMQSTALE complete token mismatch')", 0)
    assert "answered with an error: EMQSTALE complete token mismatch" in str(engine.failure(caught.value))


# A reading before a step ----------------------------------------------------------------------------------------------

LOST = exceptions.ConnectionError("Connection closed by server.")


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (LOST, True),
        (exceptions.TimeoutError("Timeout reading from socket"), True),
        (exceptions.TimeoutError("Timeout connecting to server"), True),
        (exceptions.InvalidResponse("HTTP/1.1"), True),
        (exceptions.ReadOnlyError("x"), False),
        (exceptions.ResponseError("odd"), False),
    ],
)
def test_when_only_a_reading_fails_the_step_was_not_sent(error: Exception, gone: bool) -> None:
    told = failure(error, CALLED, BASE, reading=True)
    assert str(told).endswith("The queue was only being read: the step was not sent.")
    assert "may have run" not in str(told)
    assert isinstance(told, EngineGone) == gone
    assert not (isinstance(told, EngineGone) and told.may_have_run)


def test_when_a_call_fails_it_may_have_run() -> None:
    told = failure(LOST, CALLED, BASE)
    assert isinstance(told, EngineGone)
    assert told.may_have_run
    assert "may have run the call" in str(told)
    assert "step" not in str(told)


def test_a_reading_that_fails_is_told_on_every_engine(engine: Engine) -> None:
    told = engine.failure(LOST, reading=True)
    assert isinstance(told, EngineGone)
    assert "the step was not sent" in str(told)
    assert not told.may_have_run
