-- Lets jobs whose time has come wait for a worker.
-- MOVES   schedule -> pending | schedule -> g:<group>:pending
-- KEYS 1  schedule — jobs that wait for a time (zset, due time, ms)
-- KEYS 2  pending — jobs that wait, every score 0 (zset)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  batch — how many jobs at most (integer)
-- RETURNS n — how many were due and moved
-- CLOCK   server TIME

local schedule, pending = KEYS[1], KEYS[2]
local base, batch = ARGV[1], ARGV[2]

-- use now

-- use lane_keys

-- use lane_of

-- use in_flight

-- use rering

-- use line_up

local due = redis.call('ZRANGEBYSCORE', schedule,
  '-inf', now_ms(), 'LIMIT', 0, batch)
for _, id in ipairs(due) do
  redis.call('ZREM', schedule, id)
  local group = redis.call('HGET', base .. 'job:' .. id, 'group')
  line_up(id, group, group and in_flight(group))
end
return #due
