-- Limits how many jobs of a group may be out on a lease at once.
-- MOVES   none
-- KEYS 1  glimit — how many leases a group may have at once (hash)
-- KEYS 2  gactive — how many it has (hash)
-- KEYS 3  ring — groups that can be served now, in turn (list)
-- KEYS 4  paused — groups that are paused (set)
-- KEYS 5  wake — one token for each group put on the ring (list)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  group — whose lane it is (branded id)
-- ARGV 3  limit — how many at most (integer)
-- RETURNS 1 — set
-- CLOCK   none

local glimit, gactive, ring = KEYS[1], KEYS[2], KEYS[3]
local paused, wake = KEYS[4], KEYS[5]
local base, group, limit = ARGV[1], ARGV[2], ARGV[3]

-- use lane_of

-- use in_flight

-- use rering

redis.call('HSET', glimit, group, limit)
local act = in_flight(group)
if act >= tonumber(limit) then
  -- Leases that run go on; the next one waits for an end.
  redis.call('LREM', ring, 0, group)
elseif redis.call('ZCARD', lane_of(group)) > 0 then
  rering(group, act)
end
return 1
