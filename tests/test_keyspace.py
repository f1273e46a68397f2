"""Keys of a queue: the grammar, both gates, and the slot vectors of the contract."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile import HOSTILE, NAMES
from visualizer.ids import IdError
from visualizer.keyspace import Keyspace, QueueNameError, slot

JOB = b"JOB0KHTOWnGLuC"
GROUP = b"PLR0NgWEfAEJfs"

SLOTS = [
    (b"123456789", 12739),
    (b"q1", 7450),
    (b"emq:{q1}:pending", 7450),
    (b"q7", 15836),
    (b"emq:{q7}:job:", 15836),
    (b"orders", 105),
    (b"emails", 3728),
    (b"cm", 9074),
    (b"emq:{cm}:wake", 9074),
    (b"{emq}:version", 9051),
    (b"emq:{}:pending", 7387),
    (b"foo{bar}{zap}", 5061),
    (b"foo{{bar}}zap", 4015),
    (b"", 0),
]


@pytest.fixture
def space() -> Keyspace:
    return Keyspace("cm", "job:")


# Keys ---------------------------------------------------------------------------------------------------------------


def test_keys_follow_the_grammar(space: Keyspace) -> None:
    assert space.queue == "cm"
    assert space.base == space.key("") == b"emq:{cm}:"
    assert space.key("pending") == b"emq:{cm}:pending"
    assert space.key("metrics:completed") == b"emq:{cm}:metrics:completed"
    assert space.job(JOB) == space.job(JOB.decode()) == b"emq:{cm}:job:JOB0KHTOWnGLuC"
    assert space.lane(GROUP) == space.lane(GROUP.decode()) == b"emq:{cm}:g:PLR0NgWEfAEJfs:pending"


def test_the_row_prefix_is_the_machines_own() -> None:
    assert Keyspace("cm", "").job(JOB) == b"emq:{cm}:JOB0KHTOWnGLuC"


def test_a_row_may_be_asked_for_by_an_id_of_another_namespace(space: Keyspace) -> None:
    assert space.job(b"ORD0KHTOWnGLuC") == b"emq:{cm}:job:ORD0KHTOWnGLuC"


@pytest.mark.parametrize(
    "id", [b"order:42", b"a:lock", b":", b"", b"JOB0KHTOWnGLuC:lock", b"JOBzzzzzzzzzzz", JOB.lower()]
)
def test_an_ill_formed_id_builds_no_key(space: Keyspace, id: bytes) -> None:
    with pytest.raises(IdError, match=r"^job_key requires a valid branded id: .* is no branded id: .*; a right id is"):
        space.job(id)
    with pytest.raises(
        IdError, match=r"^a lane is named by a valid branded id: .* is no branded id: .*; a right id is"
    ):
        space.lane(id)


@pytest.mark.parametrize(("name", "data"), HOSTILE, ids=NAMES)
def test_hostile_bytes_build_no_key(space: Keyspace, name: str, data: bytes) -> None:
    for gate in (space.job, space.lane):
        with pytest.raises(IdError) as refusal:
            gate(data)
        assert str(refusal.value).isprintable(), name


# The queue's name ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queue", "reason"),
    [
        ("", "cannot be empty"),
        ("a}b", "'a}b' holds a brace: .* changes the hash tag and so the cluster slot"),
        ("a{b", "'a{b' holds a brace"),
        ("{cm}", "'{cm}' holds a brace"),
        ("a\nb", r"'a\\nb' holds a control character"),
        ("\x1b[2J", r"'\\x1b\[2J' holds a control character"),
        ("a\x00", r"'a\\x00' holds a control character"),
        ("a\x7f", r"'a\\x7f' holds a control character"),
        ("\x9b31m", r"'\\x9b31m' holds a control character"),
        ("ab\udc83", r"'ab\\x83' is not valid text: its character 3 has no UTF-8 form"),
    ],
)
def test_a_queue_name_is_refused_with_the_reason(queue: str, reason: str) -> None:
    with pytest.raises(QueueNameError, match=reason):
        Keyspace(queue, "job:")


@pytest.mark.parametrize("queue", ["cm", "a:b", "[/]", "[red]x", "日本", "a b", "0", "\u202e"])
def test_other_names_stand_in_the_braces_as_they_are(queue: str) -> None:
    space = Keyspace(queue, "job:")
    assert space.key("pending") == b"emq:{" + queue.encode() + b"}:pending"
    assert slot(space.base) == slot(queue.encode())


def refusal_of(queue: str) -> str:
    """Why a queue name is refused; empty where it is not."""
    try:
        Keyspace(queue, "job:")
    except QueueNameError as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize(("name", "data"), HOSTILE, ids=NAMES)
def test_a_hostile_queue_name_is_used_whole_or_refused_safely(name: str, data: bytes) -> None:
    queue = data.decode("utf-8", "surrogateescape")
    reason = refusal_of(queue)
    assert reason.isprintable(), name
    assert len(reason) < 300
    assert reason or Keyspace(queue, "job:").base == b"emq:{" + data + b"}:"


# Slots --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "expected"), SLOTS)
def test_slots_are_those_of_the_contract(key: bytes, expected: int) -> None:
    assert slot(key) == expected


@pytest.mark.parametrize("key", [b"a{b", b"a}b{c", b"a{}b{c}"])
def test_without_a_whole_tag_the_whole_key_counts(key: bytes) -> None:
    assert slot(key) != slot(b"b")
    assert slot(key) != slot(b"c")
    assert slot(key) == slot(b"{" + key + b"}") or b"}" in key


def test_all_families_of_a_queue_share_one_slot(space: Keyspace) -> None:
    types = ["pending", "active", "schedule", "dead", "meta", "ring", "metrics:completed"]
    keys = [space.base, space.job(JOB), space.lane(GROUP), *map(space.key, types)]
    assert {slot(key) for key in keys} == {9074}


@given(st.binary())
def test_every_key_has_a_slot(key: bytes) -> None:
    assert 0 <= slot(key) < 16384
