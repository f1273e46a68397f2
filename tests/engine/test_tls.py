"""Servers behind TLS, and TLS asked of the wrong ones."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.refusing import PASSWORD, refusal, silent, web
from tests.engine.serving import Relay, needs_server, stand_in
from visualizer.engine import open_engine

pytestmark = needs_server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / "key"), "-out", str(folder / "cert")),
        ],
        check=True,
        capture_output=True,
    )
    return folder / "cert", folder / "key"


@pytest.fixture
def tls_port(locked: int, certificate: tuple[Path, Path]) -> Iterator[int]:
    """The server behind TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    relay = Relay(locked)

    def serve(wire: socket.socket) -> None:
        with contextlib.suppress(ssl.SSLError), context.wrap_socket(wire, server_side=True) as wrapped:
            relay.serve(wrapped)

    with stand_in(serve) as port:
        yield port


def test_tls_with_a_certificate_that_is_named(tls_port: int, certificate: tuple[Path, Path]) -> None:
    engine = open_engine(f"valkeys://:{PASSWORD}@127.0.0.1:{tls_port}?ssl_ca_certs={certificate[0]}", queue="cm")
    assert engine.label.startswith("Valkey 9.")
    assert engine.close() is None


def test_tls_with_a_certificate_that_nobody_knows(tls_port: int) -> None:
    refusal(f"rediss://:{PASSWORD}@127.0.0.1:{tls_port}", "not trusted here", "?ssl_ca_certs=FILE")


def test_a_certificate_file_that_does_not_exist(tls_port: int, tmp_path: Path) -> None:
    refusal(f"rediss://:{PASSWORD}@127.0.0.1:{tls_port}?ssl_ca_certs={tmp_path}/none", "does not exist")


@pytest.mark.usefixtures("brief_greeting")
def test_tls_asked_of_a_server_without_it(locked: int) -> None:
    with stand_in(silent) as port:
        refusal(f"rediss://127.0.0.1:{port}?socket_timeout=0.05", "did not answer in TLS", "redis://")
    with stand_in(web) as port:
        refusal(f"rediss://127.0.0.1:{port}", "does not answer in TLS", "redis://")
    refusal(f"rediss://:{PASSWORD}@127.0.0.1:{locked}?socket_timeout=0.5", "answer in TLS", "redis://")


@pytest.mark.usefixtures("brief_greeting")
def test_a_server_with_tls_asked_without_it(tls_port: int) -> None:
    refusal(f"redis://:{PASSWORD}@127.0.0.1:{tls_port}", "rediss://")
