-- Takes jobs back from workers whose lease has ended.
-- MOVES   active -> pending | active -> g:<group>:pending
-- KEYS 1  active — leases, scored by when they end (zset, ms)
-- KEYS 2  pending — jobs that wait, every score 0 (zset)
-- ARGV 1  base — every key of the queue begins with this (text)
-- RETURNS n — how many were taken back, at most 100 a call
-- CLOCK   server TIME

local active, pending = KEYS[1], KEYS[2]
local base = ARGV[1]

-- use now

-- use lane_keys

-- use lane_of

-- use release

-- use rering

-- use line_up

-- A lease that ends now has ended. `attempts` stays: the old token
-- goes stale at the next claim.
local lapsed = redis.call('ZRANGEBYSCORE', active,
  '-inf', now_ms(), 'LIMIT', 0, 100)
for _, id in ipairs(lapsed) do
  redis.call('ZREM', active, id)
  local group = redis.call('HGET', base .. 'job:' .. id, 'group')
  line_up(id, group, group and release(group))
end
return #lapsed
