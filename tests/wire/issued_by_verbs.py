"""What each verb's script issues where all goes well, and a walk in which each verb runs once."""

from __future__ import annotations

from collections.abc import Iterator

from tests.core.walking import GROUP, GUESS, HOUR_MS, LANE, THIRD, take
from visualizer.model import Frame
from visualizer.walk import Walker

ROW = "job:" + GUESS.decode()
LANE_ROW = "job:" + THIRD.decode()
IN_THE_RING = [f"HGET gactive {GROUP.decode()}", f"HGET glimit {GROUP.decode()}", f"SISMEMBER paused {GROUP.decode()}"]
RINGS = [f"RPUSH ring {GROUP.decode()}", "LPUSH wake 1", "LTRIM wake 0 63"]

# What each verb's script issues where all goes well, written from the Lua. T is an instant in ms; the queue's prefix
# is left out.
EXPECTED: dict[str, list[str]] = {
    "enqueue": [
        f"EXISTS {ROW}",
        f"HSET {ROW} state pending attempts 0 payload payload",
        f"ZADD pending 0 {GUESS.decode()}",
    ],
    "claim": [
        "ZPOPMIN pending",
        "TIME",
        f"HINCRBY {ROW} attempts 1",
        f"HSET {ROW} state active",
        f"ZADD active T {GUESS.decode()}",
        f"HGET {ROW} payload",
    ],
    "extend_lock": [f"HGET {ROW} attempts", "TIME", f"ZADD active T {GUESS.decode()}"],
    "extend_locks": ["TIME", f"HGET {ROW} attempts", f"ZADD active T {GUESS.decode()}"],
    "update_data": [f"EXISTS {ROW}", f"HSET {ROW} payload new"],
    "update_progress": [f"EXISTS {ROW}", f"HSET {ROW} progress 50", "PUBLISH events EVENT"],
    "delay": [
        f"HGET {ROW} attempts",
        f"ZREM active {GUESS.decode()}",
        f"HSET {ROW} state scheduled",
        "TIME",
        f"ZADD schedule T {GUESS.decode()}",
    ],
    "promote": [
        "TIME",
        "ZRANGEBYSCORE schedule -inf T LIMIT 0 100",
        f"ZREM schedule {GUESS.decode()}",
        f"HGET {ROW} group",
        f"ZADD pending 0 {GUESS.decode()}",
        f"HSET {ROW} state pending",
    ],
    "claim_batch": [
        "TIME",
        "ZCARD pending",
        "ZPOPMIN pending",
        f"HINCRBY {ROW} attempts 1",
        f"HSET {ROW} state active",
        f"ZADD active T {GUESS.decode()}",
        f"HGET {ROW} payload",
    ],
    "reap": [
        "TIME",
        "ZRANGEBYSCORE active -inf T LIMIT 0 100",
        f"ZREM active {GUESS.decode()}",
        f"HGET {ROW} group",
        f"ZADD pending 0 {GUESS.decode()}",
        f"HSET {ROW} state pending",
    ],
    "sweep_stalled": [
        "TIME",
        "ZRANGEBYSCORE active -inf T LIMIT 0 100",
        f"ZREM active {GUESS.decode()}",
        f"HGET {ROW} group",
        f"HINCRBY {ROW} stalled 1",
        f"HSET {ROW} state dead last_error stalled",
        f"ZADD dead 0 {GUESS.decode()}",
        "HINCRBY metrics:failed count 1",
    ],
    "retry": [
        f"HGET {ROW} attempts",
        f"HGET {ROW} group",
        f"ZREM active {GUESS.decode()}",
        f"HSET {ROW} last_error error",
        f"HSET {ROW} state dead",
        f"ZADD dead 0 {GUESS.decode()}",
        "HINCRBY metrics:failed count 1",
    ],
    "reprocess": [
        f"EXISTS {ROW}",
        f"ZREM dead {GUESS.decode()}",
        f"HDEL {ROW} last_error",
        f"HSET {ROW} state pending",
        f"ZADD pending 0 {GUESS.decode()}",
    ],
    "complete": [
        f"HGET {ROW} attempts",
        f"HGET {ROW} group",
        f"ZREM active {GUESS.decode()}",
        f"DEL {ROW}",
        "HINCRBY metrics:completed count 1",
    ],
    "schedule": [
        f"EXISTS {ROW}",
        "TIME",
        f"HSET {ROW} state scheduled attempts 0 payload payload",
        f"ZADD schedule T {GUESS.decode()}",
    ],
    "remove_job": [
        f"EXISTS {ROW}",
        f"EXISTS {ROW}:lock",
        f"HEXISTS {ROW} lock",
        *(f"ZREM {place} {GUESS.decode()}" for place in ("pending", "active", "schedule", "dead")),
        f"DEL {ROW} {ROW}:logs",
    ],
    "queue_pause": ["HSET meta paused 1"],
    "queue_resume": ["HDEL meta paused"],
    "lane_enqueue": [
        f"EXISTS {LANE_ROW}",
        f"HSET {LANE_ROW} state pending attempts 0 payload payload group {GROUP.decode()}",
        f"ZADD {LANE} 0 {THIRD.decode()}",
        *IN_THE_RING,
        f"LPOS ring {GROUP.decode()}",
        *RINGS,
    ],
    "lane_limit": [
        f"HSET glimit {GROUP.decode()} 1",
        f"HGET gactive {GROUP.decode()}",
        f"ZCARD {LANE}",
        *IN_THE_RING[1:],
        f"LPOS ring {GROUP.decode()}",
    ],
    "lane_pause": [f"SADD paused {GROUP.decode()}", f"LREM ring 0 {GROUP.decode()}"],
    "lane_resume": [
        f"SREM paused {GROUP.decode()}",
        f"ZCARD {LANE}",
        *IN_THE_RING,
        f"LPOS ring {GROUP.decode()}",
        *RINGS,
    ],
    "lane_claim": [
        "LMOVE ring ring LEFT RIGHT",
        f"ZPOPMIN {LANE}",
        "TIME",
        f"HINCRBY {LANE_ROW} attempts 1",
        f"HSET {LANE_ROW} state active",
        f"ZADD active T {THIRD.decode()}",
        f"HGET {LANE_ROW} payload",
        f"HINCRBY gactive {GROUP.decode()} 1",
        f"HGET glimit {GROUP.decode()}",
        f"LREM ring 0 {GROUP.decode()}",
    ],
}


def happy_cases(walker: Walker) -> Iterator[Frame]:
    """Each verb of the leased machine once where it does what it is for, and what lies between."""
    yield take(walker, "enqueue")
    yield take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    yield take(walker, "extend_lock", token="w1", lease_ms=HOUR_MS)
    yield take(walker, "extend_locks", pairs=({"job": GUESS, "token": "w1"},), lease_ms=HOUR_MS)
    yield take(walker, "update_data", payload=b"new")
    yield take(walker, "update_progress", progress="50")
    yield take(walker, "delay", token="w1", delay_ms=0)
    yield take(walker, "promote")
    yield take(walker, "claim_batch", worker="w1", lease_ms=1, size=3)
    take(walker, "wait_until_lapsed")
    yield take(walker, "reap")
    take(walker, "claim", worker="w1", lease_ms=1)
    take(walker, "wait_until_lapsed")
    yield take(walker, "sweep_stalled")
    take(walker, "reprocess")
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    yield take(walker, "retry", token="w1", max_attempts=1)
    yield take(walker, "reprocess")
    take(walker, "claim", worker="w1", lease_ms=HOUR_MS)
    yield take(walker, "complete", token="w1")
    yield take(walker, "schedule", delay_ms=HOUR_MS)
    yield take(walker, "remove_job")
    yield take(walker, "queue_pause")
    yield take(walker, "queue_resume")
    yield take(walker, "lane_enqueue", THIRD, group=GROUP)
    yield take(walker, "lane_limit", group=GROUP, limit=1)
    yield take(walker, "lane_pause", group=GROUP)
    yield take(walker, "lane_resume", group=GROUP)
    yield take(walker, "lane_claim", THIRD, worker="w1", lease_ms=HOUR_MS)
