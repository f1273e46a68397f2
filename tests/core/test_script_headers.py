"""Every script keeps its header's contract, and a header or body with a fault is refused, fault by fault."""

from __future__ import annotations

import hashlib

import pytest

from tests.core.lua_contract import faults
from visualizer.resources import lua_folder
from visualizer.script import ScriptError, all_names, arrange, load, parse_header

GOOD = """-- Moves a job.
-- MOVES   pending -> active
-- KEYS 1  pending — jobs that wait (zset)
-- KEYS 2  marker (unused) — sent, not bound (string)
-- KEYS 3  key… — more of them (any type)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  lease_ms — how long (integer, ms)
-- ARGV 3  pair… — id and token (text)
-- RETURNS 1 — moved
-- RETURNS 0 — not there, nothing written
-- RETURNS "later" — not now
-- RETURNS [] — none
-- RETURNS [id, …] — those that moved
-- RETURNS error "EMQKIND no job" — nothing written
-- CLOCK   none

local pending = KEYS[1]
local id, lease_ms = ARGV[1], tonumber(ARGV[2])

local function moved(key)
  if key == 'return 7 end' then return 5 end
  return false
end

-- return 9 is only said here
for index = 3, #KEYS do moved(KEYS[index]) end
for n = 3, #ARGV, 2 do
  local job, token = ARGV[n], ARGV[n + 1]
  while job do repeat job = nil until true end
end
if id == '' then
  return redis.error_reply('EMQKIND no job')
elseif lease_ms == 0 then
  return 0
elseif lease_ms == 1 then
  return 'later'
elseif lease_ms == 2 then
  return {}
elseif lease_ms == 3 then
  return { id, pending }
end
return 1
"""


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, f"{old!r} stands {GOOD.count(old)} times in the example"
    return GOOD.replace(old, new)


@pytest.mark.parametrize("name", all_names())
def test_a_script_keeps_its_headers_contract(name: str) -> None:
    assert faults(name, load(name).source) == []


def test_the_example_is_without_fault() -> None:
    assert faults("good", GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("-- Moves a job.\n", "", "the first line is one sentence"),
        ("-- Moves a job.\n", "-- KEYS 1  a — b (zset)\n", "the first line is one sentence"),
        ("-- MOVES   pending -> active\n", "", "no MOVES line"),
        ("-- CLOCK   none\n", "", "no CLOCK line"),
        ("-- KEYS 2  marker", "-- KEYS 4  marker", "KEYS are not numbered 1, 2, 3"),
        ("-- KEYS 1  pending", "-- KEYS 0  pending", "KEYS are not numbered 1, 2, 3"),
        ("-- ARGV 1  id", "-- ARGV 2  id", "ARGV are not numbered 1, 2, 3"),
        ("-- CLOCK   none\n", "-- CLOCK   none\n-- SINCE 3\n", "none of MOVES, KEYS, ARGV, RETURNS, CLOCK: 'SINCE 3'"),
        ("(branded id)", "(branded id)\n-- and more", "none of MOVES, KEYS, ARGV, RETURNS, CLOCK: 'and more'"),
        ("-- ARGV 1  id — the job", "-- ARGV 1  id - the job", "none of MOVES, KEYS, ARGV, RETURNS, CLOCK"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(ScriptError, match=reason):
        parse_header("broken", changed(old, new))


def test_a_header_without_replies_is_refused() -> None:
    lines = [line for line in GOOD.splitlines() if not line.startswith("-- RETURNS")]
    with pytest.raises(ScriptError, match="no RETURNS line"):
        parse_header("broken", "\n".join(lines))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "-- MOVES   pending -> active\n-- KEYS 1  pending — jobs that wait (zset)\n",
            "-- KEYS 1  pending — jobs that wait (zset)\n-- MOVES   pending -> active\n",
            "the header's order is MOVES, KEYS, ARGV, RETURNS, CLOCK",
        ),
        ("-- CLOCK   none\n", "-- CLOCK   none\n-- CLOCK   server TIME\n", "the header has CLOCK twice"),
        ("local pending = KEYS[1]\n", "", "KEYS 1 pending is declared and not bound"),
        ("local pending = KEYS[1]", "local waiting = KEYS[1]", "KEYS 1 pending is bound to a local called waiting"),
        ("local pending = KEYS[1]", "local pending, again = KEYS[1], KEYS[1]", "KEYS 1 pending is bound twice"),
        (
            "local pending = KEYS[1]",
            "local pending, marker = KEYS[1], KEYS[2]",
            "KEYS 2 marker is unused, yet it is bound",
        ),
        ("local pending = KEYS[1]", "local pending, key = KEYS[1], KEYS[3]", "KEYS 3 key is repeated, yet it is bound"),
        ("local pending = KEYS[1]", "local pending, other = KEYS[1], KEYS[4]", "KEYS 4 is bound and not declared"),
        (
            "local id, lease_ms = ARGV[1]",
            "local lease_ms, id = ARGV[1]",
            "ARGV 1 id is bound to a local called lease_ms",
        ),
        ("{ id, pending }", "{ ARGV[1], pending }", "ARGV is used again after its positions were bound"),
        ("{ id, pending }", "{ id, KEYS[1] }", "KEYS is used again after its positions were bound"),
        ("{ id, pending }", "{ id, #ARGV }", "ARGV is used again after its positions were bound"),
        ("for index = 3, #KEYS", "for index = 2, #KEYS", "KEYS 3 key is not read in one loop that starts there"),
        (
            "-- ARGV 3  pair… —",
            "-- ARGV 3  pair (unused) —",
            "ARGV is read in a loop, and nothing is declared to repeat",
        ),
        ("  return 0\n", "  return -1\n", "it returns -1, which RETURNS does not declare"),
        ("  return 0\n", "  return -1\n", "RETURNS declares 0, which is never returned"),
        (
            "'EMQKIND no job'",
            "'EMQKIND not a job'",
            'it returns error "EMQKIND not a job", which RETURNS does not declare',
        ),
        ("'later'", "'never'", 'RETURNS declares "later", which is never returned'),
        ("-- RETURNS [id, …] — those that moved\n", "", "it returns what it computed, which RETURNS does not declare"),
        ("  return { id, pending }", "  return 1", "RETURNS declares [id, …], which is never returned"),
        ("-- RETURNS 1 — moved", "-- RETURNS 1", "RETURNS 1 does not say what it means"),
    ],
)
def test_a_script_that_breaks_its_contract_is_told(old: str, new: str, fault: str) -> None:
    assert fault in faults("broken", changed(old, new))


def test_what_is_sent_has_its_shared_steps_in_place() -> None:
    script = load("leased/claim")
    assert "-- use" not in script.source
    assert [step for _, _, step in script.shared] == ["now", "grant"]
    for first, last, step in script.shared:
        text = (lua_folder() / "leased" / "steps" / f"{step}.lua").read_text(encoding="utf-8")
        assert "\n".join(script.lines[first - 1 : last]) == text.rstrip("\n")
    assert script.sha1 == hashlib.sha1(script.source.encode()).hexdigest()
    assert script.lines[script.body_line - 1] == ""


def test_a_script_that_is_not_there_is_named() -> None:
    with pytest.raises(ScriptError, match="there is no script leased/levitate"):
        load("leased/levitate")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"pending": b"p", "marker": b"m"}, None),
        ({"pending": b"p", "marker": b"m", "key": [b"a", b"b"]}, None),
        ({"pending": b"p"}, "KEYS 2 marker was not given; nothing was sent"),
        ({"pending": b"p", "marker": b"m", "other": b"o"}, "it declares no KEYS named other; nothing was sent"),
        ({"pending": [b"p"], "marker": b"m"}, "KEYS 1 pending takes one value; nothing was sent"),
    ],
)
def test_a_missing_or_extra_name_is_an_error_before_anything_is_sent(
    given: dict[str, bytes | list[bytes]], reason: str | None
) -> None:
    slots = parse_header("good", GOOD).keys
    if reason is None:
        assert arrange("good", "KEYS", slots, given)[:2] == (b"p", b"m")
    else:
        with pytest.raises(ScriptError, match=reason):
            arrange("good", "KEYS", slots, given)
