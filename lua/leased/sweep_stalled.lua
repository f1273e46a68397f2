-- Takes lapsed jobs back and counts it; at the limit a job is dead.
-- MOVES   active -> pending | active -> g:<group>:pending | active -> dead
-- KEYS 1  active — leases, scored by when they end (zset, ms)
-- KEYS 2  pending — jobs that wait, every score 0 (zset)
-- KEYS 3  dead — jobs given up, every score 0 (zset)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  max_stalled — at this many stalls a job is dead (integer)
-- ARGV 3  limit — how many jobs at most (integer)
-- RETURNS [recovered ids, dead ids] — either may be empty
-- CLOCK   server TIME

local active, pending, dead = KEYS[1], KEYS[2], KEYS[3]
local base, max_stalled, limit = ARGV[1], ARGV[2], ARGV[3]

-- use now

-- use lane_keys

-- use lane_of

-- use in_flight

-- use release

-- use rering

-- use line_up

local recovered, buried = {}, {}
local lapsed = redis.call('ZRANGEBYSCORE', active,
  '-inf', now_ms(), 'LIMIT', 0, limit)
for _, id in ipairs(lapsed) do
  local row = base .. 'job:' .. id
  redis.call('ZREM', active, id)
  local group = redis.call('HGET', row, 'group')
  local stalled = redis.call('HINCRBY', row, 'stalled', 1)
  if group then release(group) end

  if stalled >= tonumber(max_stalled) then
    redis.call('HSET', row, 'state', 'dead', 'last_error', 'stalled')
    redis.call('ZADD', dead, 0, id)
    redis.call('HINCRBY', base .. 'metrics:failed', 'count', 1)
    table.insert(buried, id)
  else
    line_up(id, group, group and in_flight(group))
    table.insert(recovered, id)
  end
end
return {recovered, buried}
