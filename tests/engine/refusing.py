"""How tests ask for a refusal, and servers that speak something else."""

from __future__ import annotations

import socket
import traceback

import pytest

from visualizer.engine import EngineError, open_engine

PASSWORD = "s3cret-pass"


def refusal(spec: str, *parts: str) -> str:
    """The sentence with which a URL is refused; it holds the parts and, like its whole traceback, no password."""
    with pytest.raises(EngineError) as caught:
        open_engine(spec, queue="cm").close()
    sentence = str(caught.value)
    for part in parts:
        assert part in sentence
    assert PASSWORD not in sentence
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))
    assert "\n" not in sentence
    return sentence


def silent(wire: socket.socket) -> None:
    while wire.recv(100):
        pass


def web(wire: socket.socket) -> None:
    wire.recv(100)
    wire.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
