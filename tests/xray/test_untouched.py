"""Looking into a step changes nothing of the lesson, and what the x-ray saw is what the step did: for every step of
every lesson, and for every transition of both machines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.walking import GROUP, GUESS, HOUR_MS, RIVAL
from tests.engine.serving import needs_server
from tests.lessons.writing import read
from tests.xray.conftest import Lasting
from tests.xray.looking import BASE, player_on
from visualizer import xray as of_xray
from visualizer.called import NoXrayError
from visualizer.cli.playing import failures
from visualizer.debugger import At
from visualizer.engine import Engine
from visualizer.inside import Gaze, Seen, seen_by
from visualizer.lesson import all_lessons
from visualizer.look_inside import source_of
from visualizer.machine import MACHINES
from visualizer.model import Dump, Frame, Step
from visualizer.perform import NAMED_STEPS
from visualizer.player import Player
from visualizer.trace import args_of, call_of, went_another_way
from visualizer.xray import Stop, Xray

pytestmark = needs_server

PACE = 0.02
LESSONS = {file.stem: read(file, PACE) for file in all_lessons()}
PATHS = [(slug, path.name) for slug, lesson in LESSONS.items() for path in lesson.paths]

# What is a verb of a machine and in no transition that it shows.
ENQUEUE, CLAIM = Step("enqueue"), Step("claim", given={"worker": "w1", "lease_ms": HOUR_MS})
OF_GROUP = {"group": GROUP}
LANE_ENQUEUE, LANE_PAUSE = Step("lane_enqueue", given=OF_GROUP), Step("lane_pause", given=OF_GROUP)
LANE_CLAIM = Step("lane_claim", given={"worker": "w2", "lease_ms": HOUR_MS})
PAIRS = {"pairs": ({"job": GUESS, "token": "w1"}, {"job": RIVAL, "token": 7})}
ADD, PICK_UP = Step("addStandardJob"), Step("moveToActive", given={"worker": "w1"})
MORE: dict[str, dict[str, tuple[Step, ...]]] = {
    "leased": {
        "claim_batch": (ENQUEUE, Step("enqueue", RIVAL), Step("claim_batch", given={"size": 2, "lease_ms": HOUR_MS})),
        "lane_claim": (LANE_ENQUEUE, LANE_CLAIM),
        "lane_claim, nothing there": (LANE_CLAIM,),
        "extend_locks": (ENQUEUE, CLAIM, Step("extend_locks", given={**PAIRS, "lease_ms": 2 * HOUR_MS})),
        "update_data": (ENQUEUE, Step("update_data", given={"payload": b"\x00\xffnew\n"})),
        "update_progress": (ENQUEUE, Step("update_progress", given={"progress": "50 \x1b[31m%"})),
        "queue_pause": (ENQUEUE, Step("queue_pause")),
        "queue_resume": (ENQUEUE, Step("queue_pause"), Step("queue_resume")),
        "lane_enqueue": (LANE_ENQUEUE, Step("lane_enqueue", RIVAL, OF_GROUP)),
        "lane_pause": (LANE_ENQUEUE, LANE_PAUSE),
        "lane_resume": (LANE_ENQUEUE, LANE_PAUSE, Step("lane_resume", given=OF_GROUP)),
        "lane_limit": (LANE_ENQUEUE, LANE_CLAIM, Step("lane_limit", given={**OF_GROUP, "limit": 1})),
        "retry in a lane": (LANE_ENQUEUE, LANE_CLAIM, Step("retry", given={"token": "w2", "delay_ms": HOUR_MS})),
        "complete in a lane": (LANE_ENQUEUE, LANE_CLAIM, Step("complete", given={"token": "w2"})),
    },
    "core": {
        "moveToWaitingChildren": (ADD, PICK_UP, Step("moveToWaitingChildren", given={"token": "w1"})),
        "extendLocks": (ADD, PICK_UP, Step("extendLocks", given=PAIRS)),
        "getState": (ADD, Step("getState")),
    },
}
SHOWN = {
    (name, told): (*before, step)
    for name, machine in MACHINES.items()
    for told, (before, step) in machine.shows.items()
} | {(name, told): steps for name, more in MORE.items() for told, steps in more.items()}


EVERYTHING = """
local found, cursor = {}, '0'
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    found[#found + 1] = {key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key)}
  end
until cursor == '0'
return found
"""


def everything_of(player: Player) -> tuple[Any, ...]:
    """All that the lesson's server holds, what is known of its scripts, and the walk."""
    client: Any = player.engine.client
    known, walk = sorted(player.engine.loaded), player.walk
    held = client.script_exists(*known) if known else []
    return sorted(client.eval(EVERYTHING, 0)), known, held, walk, repr(walk.frames[-1:])


def opened(player: Player, frame: Frame | None) -> Xray | None:
    """The x-ray of a frame, or of the coming step, at its first line; None where nothing runs there."""
    try:
        xray = Xray(source_of(player, frame))
    except NoXrayError:
        return None
    first = xray.stops[0]
    assert first.inside == first.outside, "nothing has run yet"
    return xray


def look_at(player: Player, frame: Frame | None, *, whole: bool) -> Xray | None:
    """Opens the x-ray, runs it to its end where ``whole``, closes it: the lesson is what it was, byte for byte."""
    before = everything_of(player)
    xray = opened(player, frame)
    if xray is not None:
        if whole:
            assert xray.to_end().ended
        assert everything_of(player) == before, "looking changed the lesson"
        xray.close()
    assert everything_of(player) == before, "ending the look changed the lesson"
    return xray


def agrees(xray: Xray, frame: Frame) -> None:
    """What was called is what the frame's step sent, and what it did, where it was run, is what the step did."""
    call = call_of(frame)
    assert call is not None
    assert (xray.called.script.sha1, xray.called.keys, xray.called.args) == (call.sha1, call.keys, args_of(call))
    if xray.trace is not None:
        assert went_another_way(xray.trace, frame) == ""


def take_and_look(player: Player, alike: set[Any], *, whole: bool) -> list[Frame]:
    """Looks into the coming step, takes it, and looks into every frame that came of it; those frames.

    ``alike`` keeps calls that were seen on the very same keys; they are not run once more. ``whole``: the coming step
    is looked through to its end too.
    """
    coming = look_at(player, None, whole=whole)
    known = set(map(id, player.walk.frames))
    player.step()
    frames = [frame for frame in player.walk.frames if id(frame) not in known]
    step = frames[-1].step if frames[-1].of_path else None
    for frame in frames:
        assert failures(frame) == []
        call = call_of(frame)
        situation = call and (call.sha1, call.keys, call.args, sorted((frame.before.dumps or {}).items(), key=_by_key))
        ran = look_at(player, frame, whole=repr(situation) not in alike)
        alike.add(repr(situation))
        assert (call is None) == (ran is None)
        if ran is not None:
            agrees(ran, frame)
        if step is not None and frame.step is step:
            # Some named steps run a script too; what they will send is known once they have.
            if step.do in player.machine.verbs:
                assert (call is None) == (coming is None)
            else:
                assert coming is None
                assert call is None or NAMED_STEPS[step.do].calls_scripts
            if coming is not None:
                agrees(coming, frame)
    return frames


def _by_key(item: tuple[bytes, Dump]) -> bytes:
    return item[0]


@pytest.fixture(scope="module")
def alike() -> set[Any]:
    return set()


@pytest.fixture
def sparing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads both sides only where a command has run: the transitions below are read at every stop, as a learner's are.

    A lesson walks thousands of lines, and most of them send nothing.
    """
    kept: dict[str, Seen] = {}
    note, fresh = Xray._note, True

    def noted(xray: Xray, at: At, ran_line: int) -> Stop:
        nonlocal fresh
        fresh = not xray.stops or bool(at.ran) or at.ended
        return note(xray, at, ran_line)

    def seen(look: Any, gaze: Gaze, shifted_ms: int = 0) -> Seen:
        side: str = look.__name__
        if fresh or side not in kept:
            kept[side] = seen_by(look, gaze, shifted_ms)
        return kept[side]

    monkeypatch.setattr(Xray, "_note", noted)
    monkeypatch.setattr(of_xray, "seen_by", seen)


@pytest.mark.usefixtures("one_copy", "sparing")
@pytest.mark.parametrize(("slug", "path"), PATHS)
def test_every_step_of_every_lesson(slug: str, path: str, valkey: Engine, on_core: Engine, alike: set[Any]) -> None:
    lesson = LESSONS[slug]
    player = Player(lesson, valkey if lesson.machine == "leased" else on_core)
    player.choose(path)
    while player.coming is not None:
        assert take_and_look(player, alike, whole=False)


@pytest.mark.usefixtures("one_copy")
@pytest.mark.parametrize(("machine", "told"), SHOWN)
def test_every_transition(machine: str, told: str, valkey: Engine, on_core: Engine) -> None:
    steps = SHOWN[machine, told]
    player = player_on(valkey if machine == "leased" else on_core, *steps, machine=machine)
    while player.taken < len(steps) - 1:
        player.step()
    (frame,) = [frame for frame in take_and_look(player, set(), whole=True) if frame.of_path]
    assert frame.outcome.sent


def test_no_verb_is_left_out() -> None:
    """Those of the transitions above, so that a lesson may go without a gap here."""
    for name, machine in MACHINES.items():
        assert {steps[-1].do for (of, _), steps in SHOWN.items() if of == name} == set(machine.verbs)


def test_the_copy_holds_what_the_lesson_held_and_nothing_else(valkey: Engine, one_copy: Lasting) -> None:
    """What another x-ray left in this test's copy is gone."""
    one_copy.client.set(BASE + b"stray", "1")
    player = player_on(valkey, ENQUEUE, CLAIM)
    player.step()
    xray = Xray(source_of(player, None))
    names = sorted(one_copy.client.scan_iter(count=1000))
    xray.close()
    assert names == sorted(valkey.client.scan_iter(count=1000))


@pytest.mark.usefixtures("one_copy")
def test_a_key_that_only_the_call_names_is_in_the_copy_too(valkey: Engine) -> None:
    player = player_on(valkey, ENQUEUE, Step("remove_job", given={"dedup_id": "x"}))
    player.step()
    dedup = player.space.key("de:x")
    valkey.client.set(dedup, GUESS)
    for frame in (None, "the step's"):
        if frame:
            player.step()
        xray = Xray(source_of(player, player.walk.frames[-1] if frame else None))
        xray.to_end()
        xray.close()
        assert b"DEL " + dedup in [ran.text for stop in xray.stops for ran in stop.ran]
    assert not valkey.client.exists(dedup)
