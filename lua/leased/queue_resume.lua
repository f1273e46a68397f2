-- Ends the queue's pause.
-- MOVES   none
-- KEYS 1  meta — the queue's settings (hash)
-- RETURNS 1 — not paused any more
-- CLOCK   none

local meta = KEYS[1]

redis.call('HDEL', meta, 'paused')
return 1
