-- Pauses the whole queue: callers look here before they claim.
-- MOVES   none
-- KEYS 1  meta — the queue's settings (hash)
-- RETURNS 1 — paused
-- CLOCK   none

local meta = KEYS[1]

redis.call('HSET', meta, 'paused', 1)
return 1
