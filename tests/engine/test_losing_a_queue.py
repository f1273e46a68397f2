"""A queue on a server that is not ours: how the hold on it is kept, lost, and given up."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import redis

from tests.engine.serving import calls_of, eventually, everything, needs_server
from tests.engine.their_server import BASE, FOREIGN, KEYS, OWNER, Opener, put
from visualizer.engine import Engine, EngineError, EngineGone, QueueLostError, ownership

pytestmark = needs_server


# Keeping and losing it ------------------------------------------------------------------------------------------------


def test_the_hold_is_renewed_while_open(opened: Opener, admin: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "RENEW_SECONDS", 0.01)
    engine = opened()
    for _ in range(3):
        admin.pexpire(OWNER, 20_000)
        eventually(lambda: admin.pttl(OWNER) > 50_000, "the owner key is renewed")
    engine.check()
    engine.close()
    assert not admin.exists(OWNER)


@pytest.mark.parametrize("taker", [b"another", None])
def test_the_renewing_thread_notices_a_lost_queue_and_leaves_it_alone(
    taker: bytes | None, opened: Opener, admin: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "RENEW_SECONDS", 0.01)
    engine = opened()
    put(engine, b"pending")
    if taker:
        admin.set(OWNER, taker, px=60_000)
    else:
        admin.delete(OWNER)
    eventually(lambda: refuses(engine), "the engine refuses to go on")
    assert set(everything(admin)) == {*FOREIGN, BASE + b"pending", KEYS, *([OWNER] if taker else [])}


def refuses(engine: Engine) -> bool:
    try:
        engine.check()
    except EngineError:
        return True
    return False


@pytest.mark.parametrize(("seen", "what"), [(b"another", "names another visualizer"), (None, "is gone")])
def test_after_a_reading_without_our_token_nothing_is_sent_or_deleted(
    seen: bytes | None, what: str, opened: Opener, admin: redis.Redis
) -> None:
    engine = opened()
    put(engine, b"pending")
    assert engine.owner_lost(engine.owner_token) is None
    if seen:
        admin.set(OWNER, seen, px=60_000)
    else:
        admin.delete(OWNER)
    sentence = engine.owner_lost(seen)
    assert sentence is not None
    assert what in sentence
    assert engine.owner_lost(engine.owner_token) == sentence, "lost stays lost"
    before = everything(admin)
    for attempt in (
        engine.check,
        engine.clear_queue,
        lambda: engine.hold([BASE + b"pending"]),
        lambda: engine.hold([BASE + b"new"]),
        lambda: engine.client.delete(BASE + b"pending"),
        lambda: engine.client.pipeline(transaction=False),
        lambda: engine.put_back({}, [BASE + b"pending"]),
    ):
        with pytest.raises(QueueLostError, match="no longer ours"):
            attempt()
    before_leaving = calls_of(admin, "get") + calls_of(admin, "watch")
    assert "--take-over" in (engine.close() or "")
    assert calls_of(admin, "get") + calls_of(admin, "watch") == before_leaving, "it does not even ask again"
    assert everything(admin) == before


def test_a_lost_queue_is_an_engine_that_is_gone_and_ran_nothing(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    put(engine, b"pending")
    admin.set(OWNER, b"another", px=60_000)
    for attempt in (engine.clear_queue, engine.check):
        with pytest.raises(EngineGone) as caught:
            attempt()
        assert not caught.value.may_have_run
        assert "Start again" in str(caught.value)


def test_what_is_left_on_a_lost_queue_is_not_claimed_to_be_known(opened: Opener, admin: redis.Redis) -> None:
    engine = opened()
    put(engine, b"pending")
    admin.flushall()
    assert (engine.close() or "").startswith("Keys may have been left in the queue cm on the server at ")


def test_a_queue_lost_unnoticed_is_not_deleted_from(opened: Opener, admin: redis.Redis) -> None:
    for leave in (Engine.clear_queue, Engine.close):
        engine = opened()
        put(engine, b"pending")
        admin.set(OWNER, b"another", px=60_000)
        before = everything(admin)
        if leave is Engine.clear_queue:
            with pytest.raises(QueueLostError, match="names another visualizer"):
                engine.clear_queue()
        assert "--take-over" in (engine.close() or "")
        assert everything(admin) == before
        admin.delete(OWNER, KEYS, BASE + b"pending")


# How we end -----------------------------------------------------------------------------------------------------------

PARENT = """
import os, sys
from visualizer.engine import open_engine
engine = open_engine({url!r}, queue="cm")
engine.hold([b"emq:{{cm}}:pending"])
engine.client.set(b"emq:{{cm}}:pending", 1)
{ending}
"""


@pytest.mark.parametrize(
    ("ending", "left"),
    [
        ("", set()),
        ("1 / 0", set()),
        ("sys.exit(3)", set()),
        ("os._exit(3)", {OWNER, KEYS, BASE + b"pending"}),
        ("if not os.fork(): sys.exit(0)\nos.wait(); os._exit(0)", {OWNER, KEYS, BASE + b"pending"}),
    ],
    ids=["normal exit", "uncaught error", "sys.exit", "os._exit", "a forked child's exit"],
)
def test_what_is_left_on_their_server_when_we_end(
    ending: str, left: set[bytes], their_url: str, admin: redis.Redis
) -> None:
    code = PARENT.format(url=their_url, ending=ending)
    subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False, env=dict(os.environ))
    assert set(everything(admin)) == {*FOREIGN, *left}
