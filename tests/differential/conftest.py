"""The two sides: the reference's scripts in one database of a private Valkey, ours in the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from redis.exceptions import ResponseError

from tests.differential import cases, flow_cases
from tests.differential.ours import our_sources
from tests.differential.record import Case, Taken, record_cases
from tests.differential.reference import DownloadError, lua_sources
from tests.differential.side import Exchange, Side
from tests.differential.walks import PROFILES, record_walk
from visualizer.engine import EmbeddedServer, open_engine
from visualizer.engine.client import exchange, unix_client

ANSWER_SECONDS = 60.0
SEEDS_FOR_MUTATIONS = 4


@pytest.fixture(scope="session")
def reference_sources(request: pytest.FixtureRequest) -> Mapping[str, str]:
    folder: Path = request.config.cache.mkdir("reference")
    try:
        return lua_sources(folder)
    except DownloadError as error:
        if os.environ.get("CI"):
            pytest.fail(f"Nothing could be compared with the reference. {error}")
        pytest.skip(f"Nothing is compared with the reference: {error}")


@pytest.fixture(scope="session")
def databases() -> Iterator[tuple[Exchange, Exchange]]:
    """Two databases of one server that nobody else uses."""
    server = EmbeddedServer.spawn()
    server.wait()
    clients = [unix_client(server.socket_path, ANSWER_SECONDS) for _ in range(2)]
    wires = [client.connection_pool.get_connection() for client in clients]
    for database, wire in enumerate(wires):
        exchange(wire, ("SELECT", database))
    first, second = wires
    yield lambda *commands: exchange(first, *commands), lambda *commands: exchange(second, *commands)
    server.close()


@pytest.fixture(scope="session")
def reference(databases: tuple[Exchange, Exchange], reference_sources: Mapping[str, str]) -> Side:
    return Side(databases[0], reference_sources)


@pytest.fixture(scope="session")
def ours(databases: tuple[Exchange, Exchange]) -> Side:
    return Side(databases[1], our_sources())


@pytest.fixture(scope="session")
def ours_emulated() -> Iterator[Side]:
    """Our scripts on fakeredis, with its own JSON and our MessagePack."""
    engine = open_engine("fakeredis", queue="cm")

    def answer(words: tuple[bytes | str | int, ...]) -> object:
        try:
            return engine.send(*words)
        except ResponseError as error:
            return error

    yield Side(lambda *commands: list(map(answer, commands)), our_sources())
    engine.close()


@pytest.fixture(scope="session")
def recorded_cases(reference: Side) -> list[Case]:
    return list(record_cases(reference, cases.all_paths() + flow_cases.all_paths()))


@pytest.fixture(scope="session")
def recorded_walks(reference: Side) -> list[list[Taken]]:
    """A few walks, recorded once for all mutations."""
    return [record_walk(reference, profile, seed) for seed in range(SEEDS_FOR_MUTATIONS) for profile in PROFILES]
