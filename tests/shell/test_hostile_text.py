"""Whatever data holds, what reaches a terminal is printable: every text output over the corpus of hostile bytes."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from tests.hostile import CONTROL, HOSTILE, MARKUP, UNSTEADY
from tests.shell.conftest import ENQUEUE, HEAD, PATH, Ended, Shell, step
from visualizer.ids import encode, parse
from visualizer.lesson_table import unsafe

Written = Callable[[str], str]
FIRST = parse("JOB0KHTOWnGLuC").value
PAYLOADS = [data for _, data in HOSTILE]
RETRY = 'leaves = ["active"]\nenters = ["schedule"]\noutcome = "scheduled"'
CLAIM = step("claim", 'leaves = ["pending"]\nenters = ["active"]\noutcome = "claimed"', 'worker = "w1"')
# Error texts are part of a lesson, which refuses control characters: these are what it lets through.
ERRORS = [
    (name, data.decode()) for name, data in (*MARKUP, *UNSTEADY) if not unsafe(data.decode()) and len(data) < 1_000
]


def payload_lesson(payloads: list[bytes]) -> str:
    """One path that enqueues one job for each payload."""
    lesson = HEAD
    steps = ""
    for at, data in enumerate(payloads):
        job = encode("JOB", FIRST + (at + 1 << 22))  # each minted a millisecond after the one before
        lesson += f'\n[jobs.job{at}]\nid = "{job}"\npayload_hex = "{data.hex()}"\n'
        steps += ENQUEUE.replace("[paths.steps.expect]", f'job = "job{at}"\n[paths.steps.expect]')
    return lesson + PATH.format(name="payloads") + steps


def error_lesson() -> str:
    """One path for each error text: a job fails with it."""
    lesson = HEAD
    for at, (_, text) in enumerate(ERRORS):
        given = f'token = "w1", delay_ms = 60000, max_attempts = 3, error = {json.dumps(text, ensure_ascii=False)}'
        lesson += PATH.format(name=f"error{at}") + ENQUEUE + CLAIM + step("retry", RETRY, given)
    return lesson


def assert_printable(written: bytes) -> None:
    """No byte that a terminal obeys, and no character that hides, turns or joins what stands beside it."""
    text = written.decode()
    marks = set(text) - {"\n"}
    assert [ascii(mark) for mark in marks if not mark.isprintable()] == []
    assert [ascii(mark) for mark in marks if unicodedata.category(mark).startswith("M")] == []


@pytest.fixture
def walked(shell: Shell, lesson_file: Written) -> Callable[..., Ended]:
    def walk(text: str, *more: str, engine: str = "fakeredis") -> Ended:
        ended = shell("walk", lesson_file(text), "--engine", engine, *more)
        assert ended.code == 0, ended.complaint
        assert_printable(ended.out)
        assert_printable(ended.err)
        return ended

    return walk


def test_payloads_in_text(walked: Callable[..., Ended]) -> None:
    short = [data for data in PAYLOADS if len(data) < 10_000]
    ended = walked(payload_lesson(short))
    assert len([line for line in ended.lines if line.startswith("row ")]) == len(short)


def test_payloads_in_json_come_back_exactly(walked: Callable[..., Ended]) -> None:
    ended = walked(payload_lesson(PAYLOADS), "--json", engine="valkey")
    frames = [json.loads(line) for line in ended.out.splitlines()]
    assert len(frames) == len(PAYLOADS)
    for frame, data in zip(frames, PAYLOADS, strict=True):
        assert bytes_of(frame["row"]["after"]["payload"]) == data
        assert bytes_of(frame["calls"][0]["args"][1]) == data


def bytes_of(value: Any) -> bytes:
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value.encode()


def test_error_texts(walked: Callable[..., Ended]) -> None:
    ended = walked(error_lesson())
    for name, text in MARKUP:
        assert text.decode()[:20] in ended.out.decode(), name


@pytest.mark.parametrize("queue", [data.decode() for _, data in MARKUP if b"{" not in data])
def test_a_queue_name_is_literal(walked: Callable[..., Ended], queue: str) -> None:
    ended = walked(HEAD + PATH.format(name="only") + ENQUEUE, "--queue", queue)
    assert f"emq:{{{queue}}}:" in ended.lines[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ("walk", "{}"),
        ("walk", "states-as-locations", "--path", "{}"),
        ("walk", "states-as-locations", "--engine", "{}"),
        ("walk", "states-as-locations", "--pace", "{}"),
        ("walk", "--{}"),
        ("script", "{}"),
        ("verbs", "{}"),
        ("check", "{}"),
        ("id", "{}"),
        ("id", "--mint", "{}"),
        ("show", "state", "{}"),
        ("show", "{}"),
        ("{}",),
    ],
    ids=" ".join,
)
def test_what_is_typed_is_shown_safely(shell: Shell, arguments: tuple[str, ...]) -> None:
    # An argument is text of the system's own; what is not UTF-8 arrives as lone surrogates.
    typed = " ".join(data.decode("utf-8", "surrogateescape") for _, data in (*CONTROL, *UNSTEADY))
    ended = shell(*(argument.replace("{}", typed) for argument in arguments))
    assert ended.code == 2
    assert ended.err
    assert_printable(ended.out)
    assert_printable(ended.err)
    assert "Traceback" not in ended.complaint
