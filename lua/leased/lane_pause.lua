-- Pauses one group: it gets no turn; what it has waits or goes on.
-- MOVES   none
-- KEYS 1  paused — groups that are paused (set)
-- KEYS 2  ring — groups that can be served now, in turn (list)
-- ARGV 1  group — whose lane it is (branded id)
-- RETURNS 1 — paused
-- CLOCK   none

local paused, ring = KEYS[1], KEYS[2]
local group = ARGV[1]

redis.call('SADD', paused, group)
redis.call('LREM', ring, 0, group)
return 1
