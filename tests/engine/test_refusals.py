"""Servers that cannot be used: each is told in one sentence with the cause and a way out, and nothing is written."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import redis

from tests.engine.refusing import PASSWORD, refusal, silent, web
from tests.engine.serving import calls_of, everything, free_port, needs_server, stand_in, tcp_server
from visualizer.engine import open_engine
from visualizer.engine.access import NEEDED
from visualizer.resources import lua_folder

pytestmark = needs_server

KEYS = "~emq:{cm}:*"


# Not reached ----------------------------------------------------------------------------------------------------------


def test_a_host_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    refusal(
        f"redis://:{PASSWORD}@nowhere.invalid", "redis://:***@nowhere.invalid:6379", "cannot be found", "host's name"
    )


def test_a_port_where_nothing_listens() -> None:
    refusal(f"redis://:{PASSWORD}@127.0.0.1:{free_port()}", "nothing listens there", "Start the server")


def test_a_socket_that_does_not_exist(tmp_path: Path) -> None:
    refusal(f"unix://{tmp_path}/none", "does not exist")


def unwilling(wire: socket.socket) -> None:
    wire.sendall(b"-DENIED Running in protected mode because no password is set.\r\n")


def test_a_server_that_never_answers() -> None:
    with stand_in(silent) as port:
        refusal(f"redis://127.0.0.1:{port}?socket_timeout=0.05", "did not answer in time")


@pytest.mark.usefixtures("brief_greeting")
def test_something_else_than_a_server_of_this_kind() -> None:
    with stand_in(web) as port:
        refusal(f"redis://127.0.0.1:{port}", "rediss://")


def test_a_server_that_takes_no_strangers() -> None:
    with stand_in(unwilling) as port:
        refusal(f"redis://127.0.0.1:{port}", "no connections from other machines", "protected mode")


# Not let in -----------------------------------------------------------------------------------------------------------


def test_a_password_that_is_missing(locked: int) -> None:
    refusal(f"redis://127.0.0.1:{locked}", "wants a password", "redis://:PASSWORD@HOST")


@pytest.mark.parametrize("who", [f":{PASSWORD}x", f"nobody:{PASSWORD}"])
def test_a_password_that_is_wrong(who: str, locked: int) -> None:
    refusal(f"redis://{who}@127.0.0.1:{locked}", "refuses the user name or password", ":***@127.0.0.1")


def test_a_password_that_is_right(locked: int) -> None:
    engine = open_engine(f"redis://:{PASSWORD}@127.0.0.1:{locked}", queue="cm")
    assert PASSWORD not in f"{engine.shown_url} {engine.called} {engine.label} {engine!r} {engine.client!r}"
    assert engine.client.ping()
    engine.close()


def test_a_password_where_none_is_set() -> None:
    with tcp_server() as port:
        refusal(f"redis://:{PASSWORD}@127.0.0.1:{port}", "has no password", "Leave it out")


def test_no_room_for_another_client() -> None:
    with tcp_server("--maxclients", "1") as port, redis.Redis(port=port) as first:
        first.ping()
        refusal(f"redis://127.0.0.1:{port}", "takes no more clients")


# Not allowed ----------------------------------------------------------------------------------------------------------

Grant = Callable[..., str]


@pytest.fixture
def grant(locked: int) -> Iterator[Grant]:
    """Makes the user ``learner`` with these rules on an empty server; answers the user's URL."""
    with redis.Redis(port=locked, password=PASSWORD) as admin:
        admin.flushall()
        admin.set("other", "1")

        def make(*rules: str) -> str:
            admin.execute_command("ACL", "SETUSER", "learner", "reset", "on", f">{PASSWORD}", *rules)
            return f"redis://learner:{PASSWORD}@127.0.0.1:{locked}"

        before = everything(admin)
        admin.config_resetstat()
        yield make
        assert everything(admin) == before
        assert calls_of(admin, "hset") == calls_of(admin, "lpush") == calls_of(admin, "restore") == 0


@pytest.mark.parametrize(
    ("rules", "parts"),
    [
        ([KEYS, "+@all", "-evalsha"], ["the user learner run EVALSHA on emq:{cm}:*"]),
        ([KEYS, "+@all", "-script"], ["run SCRIPT LOAD on"]),
        ([KEYS, "+@all", "-@scripting"], ["run EVALSHA, SCRIPT LOAD on"]),
        ([KEYS, "+@all", "-zadd", "-hset"], ["run HSET, ZADD on"]),
        ([KEYS, "+@all", "-@write"], ["DEL", "more on emq:{cm}:*"]),
        ([KEYS, "+@all", "-scan"], ["'scan'"]),
        ([KEYS, "+@all", "-multi"], ["run MULTI on"]),
        ([KEYS, "+@all", "-watch"], ["run WATCH on"]),
        (["~other:*", "+@all"], ["does not let this user"]),
        (["%R~emq:{cm}:*", "+@all"], ["run EVALSHA", "more on emq:{cm}:*"]),
        ([KEYS], ["does not let this user"]),
    ],
)
def test_a_user_who_may_not(rules: Sequence[str], parts: Sequence[str], grant: Grant) -> None:
    refusal(grant(*rules), *parts, "ser in the URL that may")


def test_a_user_who_may_just_enough(grant: Grant) -> None:
    commands = {command.split(" ")[0].lower() for command in NEEDED}
    rules = [f"+{name}" for name in ("watch", "unwatch", "multi", "exec", "discard", *sorted(commands))]
    engine = open_engine(grant(KEYS, *rules), queue="cm")
    assert engine.label == "a server that does not tell its version"
    engine.hold([b"emq:{cm}:pending"])
    engine.client.zadd(b"emq:{cm}:pending", {b"x": 0})
    assert engine.close() is None


def test_every_command_of_a_script_is_tried_beforehand() -> None:
    import re

    called = {
        name
        for path in lua_folder().rglob("*.lua")
        for name in re.findall(r"redis\.p?call\(\s*['\"](\w+)", path.read_text(encoding="utf-8"))
    }
    assert called
    assert called - {command.split(" ")[0] for command in NEEDED} <= {"PUBLISH"}


def test_the_trial_runs_nothing(locked: int) -> None:
    with redis.Redis(port=locked, password=PASSWORD) as admin:
        admin.flushall()
        admin.config_resetstat()
        engine = open_engine(f"redis://:{PASSWORD}@127.0.0.1:{locked}", queue="cm")
        ran = {name.removeprefix("cmdstat_") for name in admin.info("commandstats")}
        assert not ran & {"evalsha", "script|load", "del", "restore", "zadd", "hset", "lpush", "sadd"}
        assert {"multi", "discard", "set"} <= ran
        engine.close()


# Not the right kind of server -----------------------------------------------------------------------------------------


def test_a_replica_and_its_primary() -> None:
    primary = free_port()
    with tcp_server("--replicaof", f"127.0.0.1 {primary}", "--requirepass", PASSWORD) as port:
        refusal(f"redis://:{PASSWORD}@127.0.0.1:{port}", "is a replica", f"in the URL: 127.0.0.1:{primary}")
        with redis.Redis(port=port, password=PASSWORD) as admin:
            admin.execute_command("ACL", "SETUSER", "learner", "on", f">{PASSWORD}", KEYS, "+@all", "-info")
        refusal(f"redis://learner:{PASSWORD}@127.0.0.1:{port}", "read-only replica", "primary")


def test_a_server_that_is_still_loading() -> None:
    with tcp_server() as port, redis.Redis(port=port) as client:
        for number in range(200):
            client.set(f"key{number}", "x" * 1000)
        client.config_set("rdbcompression", "no")
        client.save()
        data = Path(client.config_get("dir")["dir"], "dump.rdb").read_bytes()
    slow = ("--key-load-delay", "50000", "--loading-process-events-interval-bytes", "1024")
    with tcp_server(*slow, files={"dump.rdb": data}) as port:
        refusal(f"redis://127.0.0.1:{port}", "still loading its data", "Try again")


def test_a_server_whose_memory_is_full() -> None:
    with tcp_server("--maxmemory", "100kb", "--maxmemory-policy", "noeviction") as port:
        refusal(f"redis://127.0.0.1:{port}", "memory is full", "free memory")


def test_a_server_that_does_not_know_a_command() -> None:
    with tcp_server("--rename-command", "PEXPIRETIME", "") as port:
        refusal(f"redis://127.0.0.1:{port}", "does not know PEXPIRETIME.", "Valkey 7.2 or Redis 7.0")


NODES = """\
{me} 127.0.0.1:1@10001 myself,master - 0 0 1 connected
{other} 127.0.0.1:7001@17001 master - 0 0 2 connected 0-16383
vars currentEpoch 2 lastVoteEpoch 0
"""


def cluster_options() -> Sequence[str]:
    return ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))


def test_a_cluster_node_that_does_not_hold_the_queue() -> None:
    nodes = NODES.format(me="a" * 40, other="b" * 40)
    with tcp_server(*cluster_options(), "--cluster-allow-reads-when-down", "yes", files={"nodes.conf": nodes}) as port:
        refusal(f"redis://127.0.0.1:{port}", "does not hold this queue", "127.0.0.1:7001")


def test_a_cluster_that_is_not_whole() -> None:
    with tcp_server(*cluster_options()) as port:
        refusal(f"redis://127.0.0.1:{port}", "belongs to a cluster that does not answer now", "Try again")
