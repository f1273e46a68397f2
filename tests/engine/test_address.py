"""A server's URL: what it sets, how it is shown, and that no password comes out of it anywhere."""

from __future__ import annotations

import traceback

import pytest

from visualizer.engine import EngineError
from visualizer.engine.address import read_address

SECRET = "s3cr/et@pw"
ENCODED = "s3cr%2Fet%40pw"


@pytest.mark.parametrize(
    ("url", "shown", "wanted"),
    [
        ("redis://h", "redis://h:6379", {"host": "h", "port": 6379, "db": 0, "username": None, "password": None}),
        ("valkey://h:7000/3", "valkey://h:7000/3", {"host": "h", "port": 7000, "db": 3}),
        ("redis://h?db=4", "redis://h:6379/4", {"db": 4}),
        ("REDIS://h/", "redis://h:6379", {"db": 0}),
        ("rediss://h", "rediss://h:6379", {"host": "h"}),
        ("valkeys://[::1]:7000", "valkeys://[::1]:7000", {"host": "::1", "port": 7000}),
        (f"redis://:{ENCODED}@h", "redis://:***@h:6379", {"username": None, "password": SECRET}),
        (f"redis://u%20x:{ENCODED}@h/1", "redis://u%20x:***@h:6379/1", {"username": "u x", "password": SECRET}),
        (f"redis://u@h?password={ENCODED.replace('@', '%40')}", "redis://u:***@h:6379", {"password": SECRET}),
        ("redis://u@h", "redis://u@h:6379", {"username": "u", "password": None}),
        ("unix:///run/a%20b/s.sock", "unix:///run/a b/s.sock", {"path": "/run/a b/s.sock"}),
        ("unix:///s?db=2&password=pw", "unix://:***@/s", {"path": "/s", "db": 2, "password": "pw"}),
        ("unix://u:pw@/s", "unix://u:***@/s", {"path": "/s", "username": "u", "password": "pw"}),
        ("unix://here/s", "unix:here/s", {"path": "here/s"}),
        ("rediss://h?ssl_cert_reqs=none&ssl_check_hostname=no", "rediss://h:6379", {"ssl_check_hostname": False}),
        ("redis://h?socket_timeout=2.5", "redis://h:6379", {"socket_timeout": 2.5}),
        ("redis://u\x1b@h", "redis://u%1B@h:6379", {"username": "u\x1b"}),
        ("unix:///s\x1b[2J", "unix:///s\\x1b[2J", {"path": "/s\x1b[2J"}),
    ],
)
def test_a_url_is_read_and_shown(url: str, shown: str, wanted: dict[str, object]) -> None:
    address = read_address(url)
    assert address.shown == shown
    assert {name: address.settings[name] for name in wanted} == wanted
    assert SECRET not in repr(address)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis://h:port", "host or port is wrong"),
        ("redis://h:99999", "host or port is wrong"),
        ("redis://[::1", "host or port is wrong"),
        ("redis://a..b", "host or port is wrong"),
        (f"redis://{'a' * 70}.b", "host or port is wrong"),
        ("redis://:\udcff@h", "cannot be read"),
        ("unix:///a%00b", "names no socket"),
        ("redis://h/zero", "number of a database"),
        ("redis://h?db=-1", "option db"),
        ("redis://h?socket_timeout=0", "option socket_timeout"),
        ("redis://h?socket_timeout=soon", "option socket_timeout"),
        ("rediss://h?ssl_check_hostname=maybe", "option ssl_check_hostname"),
        ("rediss://h?ssl_cert_reqs=never", "required, optional, none"),
        ("redis://h?ssl_ca_certs=x", "needs TLS"),
        ("unix://", "names no socket"),
        # What would make redis-py send calls again or by itself, or read text.
        ("redis://h?retry_on_timeout=yes", "not known here"),
        ("redis://h?retry_on_error=x", "not known here"),
        ("redis://h?health_check_interval=1", "not known here"),
        ("redis://h?decode_responses=1", "not known here"),
        ("redis://h?protocol=3", "not known here"),
    ],
)
def test_a_faulty_url_is_told(url: str, told: str) -> None:
    with pytest.raises(EngineError, match=told):
        read_address(url)


@pytest.mark.parametrize("mark", ["/", "#", "?", "["])
@pytest.mark.parametrize("url", ["redis://:pa{}ssw0rd@h", "redis://u:12{}ssw0rd@h", "redis://u:12{}ssw0rd@h:1/2"])
def test_a_password_that_is_not_encoded_is_not_told_but_how_to_encode_it(url: str, mark: str) -> None:
    with pytest.raises(EngineError, match="percent-encoded") as caught:
        read_address(url.format(mark))
    assert "ssw0rd" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:ssw0rd@h:port",
        "redis://:ssw0rd@h/zero",
        "redis://:ssw0rd@h?unknown=ssw0rd",
        "redis://:ssw0rd@h#",
        "redis://h?ssw0rd",
        "redis://h?db=ssw0rd",
        "unix://:ssw0rd@",
    ],
)
def test_a_faulty_url_never_tells_its_password(url: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_address(url)
    assert "ssw0rd" not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__cause__ is None
