"""What a scan of the queue adds to a scene: ids in keys that are no places, and keys that are not ours."""

from __future__ import annotations

from visualizer.player import Player
from visualizer.survey import survey
from visualizer.tui.scene import Surveyed


def survey_of(player: Player) -> Surveyed | None:
    """A survey of the queue as the walk left it, on an engine of our own; None elsewhere, where others may write."""
    engine = player.engine
    if not engine.own or not player.walk.at_end:
        return None
    found = survey(engine, player.machine, player.space, player.walk.shown)
    base = len(player.space.base)
    keys: dict[bytes, tuple[str, ...]] = {}
    for foreign in found.foreign:
        for job in foreign.holds:
            keys[job] = (*keys.get(job, ()), foreign.key[base:].decode("utf-8", "backslashreplace"))
    return Surveyed(keys, "" if found.clean else found.sentence())
