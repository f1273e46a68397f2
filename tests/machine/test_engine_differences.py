"""Where the two engines differ: everything else that these tests do is the same on both."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec import Struct
from redis.exceptions import ResponseError

from visualizer.engine import Engine
from visualizer.script import all_names, load

STRING = "emq:{cm}:string"
CLOCK = """
local first = redis.call('TIME')[2]
for _ = 1, 3000 do
  if redis.call('TIME')[2] ~= first then return 'moves' end
end
return 'stands still'
"""


class Difference(Struct, frozen=True):
    """One call, and the pattern of its answer, as text, on each engine."""

    of: str
    words: tuple[str | int, ...]
    valkey: str
    fakeredis: str


DIFFERENCES = (
    Difference(
        "a script that is not known",
        ("EVALSHA", "0" * 40, 0),
        r"No matching script\.",
        r"No matching script\. Please use EVAL\.",
    ),
    Difference(
        "a wrong type, inside a script",
        ("EVAL", "return redis.call('ZADD', KEYS[1], 0, 'x')", 1, STRING),
        r"WRONGTYPE Operation against a key holding the wrong kind of value script: on @user_script:1\.",
        r"WRONGTYPE Operation against a key holding the wrong kind of value",
    ),
    Difference("a run-time error", ("EVAL", "error('boom')", 0), r"user_script:1: boom.*", r"Error running script.*"),
    Difference("a name that does not exist", ("EVAL", "return tostring(nobody)", 0), r"user_script:1: .*", r"nil"),
    Difference("the clock inside a script", ("EVAL", CLOCK, 0), r"stands still", r"moves"),
    Difference(
        "a score of 0.1 read by a script",
        ("EVAL", "redis.call('ZADD', KEYS[1], 0.1, 'x') return redis.call('ZSCORE', KEYS[1], 'x')", 1, "emq:{cm}:s"),
        r"0\.1",
        r"0\.10000000000000001",
    ),
    Difference("packing with cmsgpack", ("EVAL", "return type(cmsgpack.pack)", 0), r"function", r"nil"),
    Difference("a slash in JSON", ("EVAL", "return cjson.encode('/')", 0), r'"\\/"', r'"/"'),
    Difference("an empty table in JSON", ("EVAL", "return cjson.encode({})", 0), r"\{\}", r"\[\]"),
    Difference("a way out of the sandbox", ("EVAL", "return type(rawget(_G, 'io'))", 0), r"nil", r"table"),
    Difference("EVAL_RO", ("EVAL_RO", "return 'ran'", 0), r"ran", r"unknown command 'eval_ro'.*"),
    Difference("how a value is kept", ("OBJECT", "ENCODING", STRING), r"embstr", r"unknown command 'object'.*"),
)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.of)
def test_this_is_answered_differently(engine: Engine, difference: Difference) -> None:
    client: Any = engine.client
    client.set(STRING, "text")
    try:
        answer = client.execute_command(*difference.words).decode()
    except ResponseError as error:
        answer = str(error)
    matched = {kind for kind in ("valkey", "fakeredis") if re.fullmatch(getattr(difference, kind), answer, re.DOTALL)}
    assert matched == {engine.kind}


def test_only_a_real_server_can_be_restarted(engine: Engine) -> None:
    refused = {
        "valkey": None,
        "fakeredis": "fakeredis lives in this process and cannot be restarted; use --engine valkey.",
    }
    assert engine.may("restart") == refused[engine.kind]


def test_the_scripts_use_nothing_that_differs() -> None:
    missing = re.compile(r"\bcmsgpack\.(?!unpack\b)|\b(struct|bit|io|os)\.|\bsha1hex\b|\brequire\b|(?<!\.)\berror\(")
    assert [name for name in all_names() if missing.search(load(name).source)] == []
