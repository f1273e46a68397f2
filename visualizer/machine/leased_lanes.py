"""The leased machine's verbs for groups of jobs, each group in a lane of its own; claiming from lanes is a claim."""

from __future__ import annotations

from visualizer.machine.bench import Bench
from visualizer.machine.host import Replies, verb
from visualizer.model import Parameter, Performed, Verb

GROUP = Parameter("group", "group", "whose lane it is", required=True)
_LIMIT = Parameter("limit", "count", "how many leases the group may have at once", required=True, minimum=1)

_ADMITTED = Replies({1: "enqueued", 0: "duplicate"}, errors={"EMQKIND": "kind"})
_PAUSED = Replies({1: "paused"})
_RESUMED = Replies({1: "resumed"})
_LIMITED = Replies({1: "limited"})


def _lane_enqueue(at: Bench) -> Performed:
    group = at.take(GROUP)
    keys = {"row": at.row(), "lane": at.space.lane(group), **at.keys("ring", "paused", "glimit", "gactive", "wake")}
    args = {"id": at.id, "payload": at.step.payload, "group": group}
    return _ADMITTED.read(at.call("leased/lane_enqueue", keys, args))


def _lane_pause(at: Bench) -> Performed:
    return _PAUSED.read(at.call("leased/lane_pause", at.keys("paused", "ring"), {"group": at.take(GROUP)}))


def _lane_resume(at: Bench) -> Performed:
    keys = at.keys("paused", "ring", "glimit", "gactive", "wake")
    return _RESUMED.read(at.call("leased/lane_resume", keys, {"base": at.space.base, "group": at.take(GROUP)}))


def _lane_limit(at: Bench) -> Performed:
    keys = at.keys("glimit", "gactive", "ring", "paused", "wake")
    args = {"base": at.space.base, "group": at.take(GROUP), "limit": at.take(_LIMIT)}
    return _LIMITED.read(at.call("leased/lane_limit", keys, args))


LANE_VERBS: tuple[Verb, ...] = (
    verb(
        "leased/lane_enqueue",
        "Admits a new job of a group: it waits in the group's lane.",
        ((None, "g:<group>:pending"),),
        _lane_enqueue,
        _ADMITTED.names,
        (GROUP,),
    ),
    verb(
        "leased/lane_pause",
        "Pauses one group: it gets no turn; what it has waits or goes on.",
        (),
        _lane_pause,
        _PAUSED.names,
        (GROUP,),
        needs_job=False,
    ),
    verb(
        "leased/lane_resume",
        "Ends a group's pause: it gets turns again if anything waits.",
        (),
        _lane_resume,
        _RESUMED.names,
        (GROUP,),
        needs_job=False,
    ),
    verb(
        "leased/lane_limit",
        "Limits how many jobs of a group may be out on a lease at once.",
        (),
        _lane_limit,
        _LIMITED.names,
        (GROUP, _LIMIT),
        needs_job=False,
    ),
)
