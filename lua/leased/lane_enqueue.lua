-- Admits a new job of a group: it waits in the group's lane.
-- MOVES   nothing -> g:<group>:pending
-- KEYS 1  row — the job's fields (hash)
-- KEYS 2  lane — the group's jobs that wait, every score 0 (zset)
-- KEYS 3  ring — groups that can be served now, in turn (list)
-- KEYS 4  paused — groups that are paused (set)
-- KEYS 5  glimit — how many leases a group may have at once (hash)
-- KEYS 6  gactive — how many it has (hash)
-- KEYS 7  wake — one token for each group put on the ring (list)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  payload — what the worker gets (bytes)
-- ARGV 3  group — whose lane it is (branded id)
-- RETURNS 1 — admitted
-- RETURNS 0 — the row exists already, nothing written
-- RETURNS error "EMQKIND job id must be JOB-namespaced" — nothing written
-- CLOCK   none

local row, lane, ring = KEYS[1], KEYS[2], KEYS[3]
local paused, glimit, gactive = KEYS[4], KEYS[5], KEYS[6]
local wake = KEYS[7]
local id, payload, group = ARGV[1], ARGV[2], ARGV[3]

-- use kind

-- use in_flight

-- use rering

if redis.call('EXISTS', row) == 1 then return 0 end

redis.call('HSET', row, 'state', 'pending', 'attempts', 0,
  'payload', payload, 'group', group)
redis.call('ZADD', lane, 0, id)
rering(group, in_flight(group))
return 1
