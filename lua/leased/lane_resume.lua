-- Ends a group's pause: it gets turns again if anything waits.
-- MOVES   none
-- KEYS 1  paused — groups that are paused (set)
-- KEYS 2  ring — groups that can be served now, in turn (list)
-- KEYS 3  glimit — how many leases a group may have at once (hash)
-- KEYS 4  gactive — how many it has (hash)
-- KEYS 5  wake — one token for each group put on the ring (list)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  group — whose lane it is (branded id)
-- RETURNS 1 — not paused any more
-- CLOCK   none

local paused, ring, glimit = KEYS[1], KEYS[2], KEYS[3]
local gactive, wake = KEYS[4], KEYS[5]
local base, group = ARGV[1], ARGV[2]

-- use lane_of

-- use in_flight

-- use rering

redis.call('SREM', paused, group)
if redis.call('ZCARD', lane_of(group)) > 0 then
  rering(group, in_flight(group))
end
return 1
