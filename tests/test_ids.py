"""Branded ids: every vector of the contract, the gate, minting by its rules, and what people are told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile import HOSTILE, NAMES
from visualizer import ids
from visualizer.ids import EPOCH_MS, LARGEST_VALUE, BrandedId, IdError, Minter

NOW_MS = 1_769_554_297_641

values = st.integers(0, LARGEST_VALUE)
namespaces = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=3, max_size=3)

SPELLINGS = [
    (274557032793636864, "0KHTOWnGLuC"),
    (320636799581945856, "0NgWEfAEJfs"),
    (0, "00000000000"),
    (1, "00000000001"),
    (61, "0000000000z"),
    (62, "00000000010"),
    (3844, "00000000100"),
    (2**53 - 1, "00fFgnDxSe7"),
    (2**63 - 1, "AzL8n0Y58m7"),
]

REFUSED = [
    "USRzzzzzzzzzzz",
    "usr0KHTOWnGLuC",
    "zzzzzzzzzzz",
    "invalid!",
    "too_long_string",
    "USRAzL8n0Y58m8",
    "",
    "USR0KHTOWnGLu",
    "USR0KHTOWnGLuC0",
    "USR0KHTOWnGLuC\n",
    "USR0KHTOWnGL-C",
    "US10KHTOWnGLuC",
    "ÜSR0KHTOWnGLu",
    "USR0KHTOWnGLu\u0663",
    "\ud800SR0KHTOWnGLuC",
]


class Clock:
    """A clock that answers what it was told, in ms since the Unix epoch, and then stands still."""

    def __init__(self, *readings_ms: int) -> None:
        self.readings_ms = list(readings_ms)

    def __call__(self) -> int:
        return self.readings_ms.pop(0) if len(self.readings_ms) > 1 else self.readings_ms[0]


# Codec and gate -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "payload"), SPELLINGS)
def test_values_are_spelled_as_the_contract_says(value: int, payload: str) -> None:
    assert ids.encode("USR", value) == "USR" + payload
    assert ids.decode("USR" + payload) == ids.decode(b"USR" + payload.encode()) == BrandedId("USR", value)
    assert str(ids.parse("USR" + payload)) == "USR" + payload


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_id_is_refused(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    assert ids.decode(text) is None
    assert ids.decode(raw) is None
    assert not ids.is_branded(raw)
    with pytest.raises(IdError):
        ids.parse(text)


@pytest.mark.parametrize(("name", "data"), HOSTILE, ids=NAMES)
def test_hostile_bytes_are_refused_in_printable_ascii(name: str, data: bytes) -> None:
    assert ids.decode(data) is None, name
    with pytest.raises(IdError) as refusal:
        ids.parse(data)
    assert str(refusal.value).isascii()
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("namespace", ["", "JO", "JOBS", "job", "J0B", "JÖB", "JOB\n"])
def test_a_bad_namespace_is_refused(namespace: str) -> None:
    with pytest.raises(IdError, match="is no namespace: a namespace is three capitals A-Z, like JOB"):
        ids.encode(namespace, 1)


@pytest.mark.parametrize("value", [-1, 2**63])
def test_a_value_out_of_range_is_refused(value: int) -> None:
    for attempt in (lambda: ids.encode("JOB", value), lambda: ids.placement(value)):
        with pytest.raises(IdError, match=r"a value is a number from 0 to 2\^63-1"):
            attempt()


@given(namespaces, values)
def test_an_id_reads_back_as_it_was_written(namespace: str, value: int) -> None:
    written = ids.encode(namespace, value)
    assert len(written.encode()) == 14
    assert ids.parse(written) == BrandedId(namespace, value)
    assert ids.is_branded(written.encode())
    assert ids.is_job_id(written.encode()) == (namespace == "JOB")


@given(namespaces, values, values)
def test_byte_order_is_the_order_of_the_numbers(namespace: str, one: int, other: int) -> None:
    written = ids.encode(namespace, one).encode(), ids.encode(namespace, other).encode()
    assert (written[0] < written[1]) == (one < other)


@given(st.one_of(st.binary(max_size=16), st.from_regex(rb"[A-Z]{3}[0-9A-Za-z]{11}", fullmatch=True)))
def test_whatever_is_decoded_is_spelled_one_way_only(member: bytes) -> None:
    decoded = ids.decode(member)
    assert ids.is_branded(member) == (decoded is not None)
    assert decoded is None or str(decoded).encode() == member


@pytest.mark.parametrize(
    ("member", "branded", "job"),
    [(b"JOB0KHTOWnGLuC", True, True), (b"ORD0KHTOWnGLuC", True, False), (b"JOBzzzzzzzzzzz", False, False)],
)
def test_the_gate_tells_jobs_from_other_ids(member: bytes, branded: bool, job: bool) -> None:
    assert (ids.is_branded(member), ids.is_job_id(member)) == (branded, job)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "'' is no branded id: it has 0 bytes, not 14"),
        ("x", "'x' is no branded id: it has 1 byte, not 14"),
        ("order:42", "'order:42' is no branded id: it has 8 bytes, not 14"),
        ("usr0KHTOWnGLuC", "its namespace 'usr' is not three capitals A-Z"),
        ("USR0KHTOWnGL-C", "its byte 13, '-', is none of 0-9 A-Z a-z"),
        ("USR0KHT\x1bWnGLuC", r"its byte 8, '\x1b', is none of 0-9 A-Z a-z"),
        ("JОB0KHTOWnGLu", r"'J\xd0\x9eB0KHTOWnGLu' is no branded id: its namespace 'J\xd0\x9e' is not three capitals"),
        ("USRAzL8n0Y58m8", "it is beyond the largest value 2^63-1, which is written AzL8n0Y58m7"),
        ("a" * 99, f"'{'a' * 32}'... is no branded id: it has 99 bytes, not 14"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_is_right(text: str, fault: str) -> None:
    with pytest.raises(IdError) as refusal:
        ids.parse(text)
    assert fault in str(refusal.value)
    assert str(refusal.value).endswith(
        "a right id is three capitals A-Z and eleven of 0-9 A-Z a-z, like USR0KHTOWnGLuC"
    )


# What an id holds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "hashed"),
    [(0, 0), (1, 2466077478), (320636799581945856, 3694611501), (274557032793636864, 234878118)],
)
def test_placement_hashes_the_value(value: int, hashed: int) -> None:
    spelled = ids.encode("USR", value)
    assert ids.placement(value) == ids.placement(spelled) == ids.placement(spelled.encode()) == hashed
    assert BrandedId("ORD", value).placement == hashed


def test_placement_refuses_what_is_no_id() -> None:
    with pytest.raises(IdError):
        ids.placement("USRzzzzzzzzzzz")


@pytest.mark.parametrize(
    ("text", "minted_at", "minted_at_ms"),
    [
        ("USR0KHTOWnGLuC", "2026-01-27T15:11:37.641Z", 1769526697641),
        ("USR0NgWEfAEJfs", "2026-06-03T18:56:10.164Z", 1780512970164),
        ("USR00000000000", "2024-01-01T00:00:00.000Z", EPOCH_MS),
        ("USRAzL8n0Y58m7", "2093-09-06T15:47:35.551Z", EPOCH_MS + 2**41 - 1),
    ],
)
def test_an_id_tells_when_it_was_minted(text: str, minted_at: str, minted_at_ms: int) -> None:
    assert ids.parse(text).minted_at_ms == minted_at_ms
    assert dict(ids.explain(text))["minted"] == minted_at


def test_an_id_is_explained_in_order() -> None:
    assert ids.explain("USR0KHTOWnGLuC") == [
        ("namespace", "USR"),
        ("minted", "2026-01-27T15:11:37.641Z"),
        ("node", "0"),
        ("sequence", "0"),
        ("placement", "234878118"),
        ("value", "274557032793636864"),
    ]
    assert ids.explain(ids.encode("JOB", 42 << 12 | 123))[2:4] == [("node", "42"), ("sequence", "123")]
    with pytest.raises(IdError):
        ids.explain("order:42")


def test_the_self_check_holds() -> None:
    assert [holds for _, holds in ids.self_check()] == [True, True, True]


def test_the_self_check_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "_LARGEST_PAYLOAD", b"zzzzzzzzzzz")
    assert [holds for _, holds in ids.self_check()] == [True, True, False]
    monkeypatch.setattr(ids, "_LARGEST_PAYLOAD", b"00000000000")
    assert [holds for _, holds in ids.self_check()] == [False, False, True]


# Minting ------------------------------------------------------------------------------------------------------------


def placed(minter: Minter, count: int) -> list[tuple[int, int]]:
    """The next ids as (ms since the clock's start at NOW_MS, sequence)."""
    minted = [BrandedId("JOB", minter.next()) for _ in range(count)]
    return [(branded.minted_at_ms - NOW_MS, branded.sequence) for branded in minted]


def test_the_first_id_of_the_starting_millisecond_has_sequence_1() -> None:
    assert placed(Minter(0, Clock(NOW_MS)), 3) == [(0, 1), (0, 2), (0, 3)]


def test_a_new_millisecond_starts_at_sequence_0() -> None:
    clock = Clock(NOW_MS, NOW_MS, NOW_MS + 1, NOW_MS + 1, NOW_MS + 5)
    assert placed(Minter(0, clock), 4) == [(0, 1), (1, 0), (1, 1), (5, 0)]


def test_more_than_4096_in_a_millisecond_carry_into_the_next() -> None:
    minted = placed(Minter(7, Clock(NOW_MS)), 4099)
    assert minted[4094:] == [(0, 4095), (1, 0), (1, 1), (1, 2), (1, 3)]
    assert minted == sorted(set(minted))


def test_a_clock_that_goes_back_is_counted_on() -> None:
    clock = Clock(NOW_MS, NOW_MS + 1, NOW_MS - 60_000, NOW_MS, 0, NOW_MS + 2)
    assert placed(Minter(0, clock), 5) == [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0)]


@given(st.lists(st.integers(EPOCH_MS, EPOCH_MS + 2**40), min_size=1, max_size=50), st.integers(0, 1023))
def test_minted_ids_are_sorted_and_unique_whatever_the_clock_does(readings_ms: list[int], node: int) -> None:
    minter = Minter(node, Clock(*readings_ms))
    minted = [minter.mint("JOB").encode() for _ in range(60)]
    assert minted == sorted(set(minted))
    assert {ids.parse(member).node for member in minted} == {node}


def test_a_thousand_values_are_sorted_and_unique() -> None:
    minter = Minter(1023, Clock(NOW_MS))
    minted = [minter.next() for _ in range(1000)]
    assert minted == sorted(set(minted))


def test_within_a_millisecond_nodes_sort_before_time() -> None:
    low, high = Minter(1, Clock(NOW_MS)), Minter(2, Clock(NOW_MS))
    earlier, later = high.next(), low.next()
    assert later < earlier


def test_the_node_and_the_sequence_read_back() -> None:
    minter = Minter(42, Clock(NOW_MS))
    branded = [ids.parse(minter.mint("JOB")) for _ in range(123)][-1]
    assert (branded.node, branded.sequence, branded.minted_at_ms) == (42, 123, NOW_MS)


@pytest.mark.parametrize("node", [-1, 1024])
def test_a_node_out_of_range_is_refused(node: int) -> None:
    with pytest.raises(ValueError, match=f"the node {node} cannot mint ids: a node is a number from 0 to 1023"):
        Minter(node, Clock(NOW_MS))


@pytest.mark.parametrize("node", [0, 1023])
def test_the_nodes_at_the_ends_mint(node: int) -> None:
    assert ids.parse(Minter(node, Clock(NOW_MS)).mint("JOB")).node == node


def test_a_clock_before_the_epoch_is_refused() -> None:
    with pytest.raises(ValueError, match="the clock reads 1000 ms, before the ids' epoch"):
        Minter(0, Clock(1000))
    assert Minter(0, Clock(EPOCH_MS)).next() == 1


def test_a_clock_past_the_last_instant_mints_no_id() -> None:
    with pytest.raises(IdError, match="is no id's value"):
        Minter(0, Clock(EPOCH_MS + 2**41)).mint("JOB")


def test_a_bad_namespace_uses_up_no_number() -> None:
    minter = Minter(0, Clock(NOW_MS))
    with pytest.raises(IdError):
        minter.mint("job")
    assert placed(minter, 1) == [(0, 1)]
