-- Serves the group whose turn it is: its first job goes to a worker.
-- MOVES   g:<group>:pending -> active
-- KEYS 1  ring — groups that can be served now, in turn (list)
-- KEYS 2  active — leases, scored by when they end (zset, ms)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  lease_ms — how long the worker may take (integer, ms)
-- RETURNS [id, payload, attempts, group] — attempts is the token
-- RETURNS [] — no group is on the ring, nothing written
-- RETURNS [] — nothing waits in its lane: the group left the ring
-- CLOCK   server TIME

local ring, active = KEYS[1], KEYS[2]
local base, lease_ms = ARGV[1], ARGV[2]
local row_prefix = base .. 'job:'

-- use now

-- use lane_of

-- use grant

-- Head to tail: each group gets one job, then it is another's turn.
local group = redis.call('LMOVE', ring, ring, 'LEFT', 'RIGHT')
if not group then return {} end

local lane = lane_of(group)
local id = redis.call('ZPOPMIN', lane)[1]
if not id then
  redis.call('LREM', ring, 0, group)
  return {}
end

local claimed = grant(id, now_ms() + lease_ms)
claimed[4] = group

-- No further turn at the limit, or when nothing more waits.
local act = redis.call('HINCRBY', base .. 'gactive', group, 1)
local limit = redis.call('HGET', base .. 'glimit', group)
if (limit and act >= tonumber(limit))
  or redis.call('ZCARD', lane) == 0 then
  redis.call('LREM', ring, 0, group)
end
return claimed
