"""Packed arguments unpack alike on Valkey and on fakeredis, whose `cmsgpack` is ours, and as msgpack packed them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from visualizer.engine import Engine, open_engine
from visualizer.engine.fake import LUA_MODULES

# A value as text: tables by sorted keys, strings in hexadecimal, numbers as doubles.
DESCRIBE = """
local function describe(value)
  if type(value) == 'table' then
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    local parts = {}
    for n, key in ipairs(keys) do parts[n] = describe(key) .. '=' .. describe(value[key]) end
    table.sort(parts)
    return '{' .. table.concat(parts, ' ') .. '}'
  end
  if type(value) == 'string' then
    return 's' .. string.gsub(value, '.', function(char) return string.format('%02x', string.byte(char)) end)
  end
  if type(value) ~= 'number' then return tostring(value) end
  if value ~= value then return 'nan' end
  return string.format('%.17g', value)
end
return describe(cmsgpack.unpack(ARGV[1]))
"""


def described(value: Any) -> str:
    """What `DESCRIBE` says of a value once it is a Lua value: arrays count from 1, and nothing is stored as nil."""
    if isinstance(value, list):
        value = dict(enumerate(value, start=1))
    if isinstance(value, dict):
        fields = (f"{described(key)}={described(field)}" for key, field in value.items() if field is not None)
        return "{" + " ".join(sorted(fields)) + "}"
    if isinstance(value, str):
        return f"s{value.encode().hex()}"
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, int) and value >= 2**63:
        value -= 2**64
    return "nan" if value != value else f"{float(value):.17g}"


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=40)
KEYS = st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=20) | st.dictionaries(KEYS, inner, max_size=20), max_leaves=30
)

# Every form that a length or a number can have, and the numbers at their ends.
EDGES: list[Any] = [
    *(sign * (2**bits + step) for bits in (5, 7, 8, 15, 16, 31, 32, 53, 62) for step in (-1, 0, 1) for sign in (1, -1)),
    *(2**64 - 1, 2**63, 2**63 - 1, -(2**63), 2**53 + 3, -(2**53) - 3),
    *(
        0.0,
        -0.0,
        0.1,
        5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        float("inf"),
        float("-inf"),
        float("nan"),
    ),
    *("x" * length for length in (0, 31, 32, 255, 256, 65_535, 65_536)),
    *([7] * length for length in (0, 15, 16, 65_535, 65_536)),
    *({str(key): key for key in range(length)} for length in (0, 15, 16, 65_536)),
    [None, 1, None, 2],
    {"a": None, "b": {"c": [True, {}]}},
]


@pytest.fixture(scope="module", params=["valkey", "fakeredis"])
def unpacking(request: pytest.FixtureRequest, valkey_session: Engine) -> Any:
    """A function that unpacks on the engine and tells what came out."""
    engine = valkey_session if request.param == "valkey" else open_engine("fakeredis", queue="cm")
    yield lambda packed: engine.client.eval(DESCRIBE, 0, packed).decode()
    if engine is not valkey_session:
        engine.close()


@given(value=VALUES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_unpacks_as_it_was_packed(unpacking: Any, value: Any) -> None:
    assert unpacking(msgpack.packb(value)) == described(value)


@pytest.mark.parametrize("value", EDGES, ids=lambda value: f"{type(value).__name__} {str(value)[:20]}")
def test_a_value_at_an_edge_unpacks_as_it_was_packed(unpacking: Any, value: Any) -> None:
    assert unpacking(msgpack.packb(value)) == described(value)


@given(number=st.floats(width=32))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_single_float_is_widened(unpacking: Any, number: float) -> None:
    assert unpacking(msgpack.packb(number, use_single_float=True)) == described(number)


@pytest.mark.parametrize("packed", [b"\xa5abc", b"\x92\x01", b"\xcd\x01", b"\xd9", b"\xca\x00\x00", b"\x81\x01"])
def test_a_value_that_breaks_off_is_refused(unpacking: Any, packed: bytes) -> None:
    with pytest.raises(Exception, match="Missing bytes in input"):
        unpacking(packed)


@pytest.mark.parametrize("packed", [b"\xc1", b"\xc4\x01x", b"\xd4\x01\x00", b"\xc7\x01\x01\x00"])
def test_binary_data_and_extensions_are_refused(unpacking: Any, packed: bytes) -> None:
    with pytest.raises(Exception, match="Bad data format in input"):
        unpacking(packed)


def test_what_lies_in_the_users_folder_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "cmsgpack.lua").write_text("error('loaded from the wrong folder')")
    program = (
        "import os; from visualizer.engine import open_engine; engine = open_engine('fakeredis', queue='cm'); "
        "print(engine.client.eval('return cmsgpack.unpack(ARGV[1])', 0, b'\\x07'), os.environ.get('LUA_PATH'))"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["7", "None"]


def test_the_wheel_brings_the_module(tmp_path: Path) -> None:
    root = LUA_MODULES.parents[2]
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(root)]
    subprocess.run(command, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert "visualizer/engine/emulated/cmsgpack.lua" in archive.namelist()
