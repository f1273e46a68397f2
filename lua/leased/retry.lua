-- Ends a failed attempt: the job runs again later, or is dead.
-- MOVES   active -> schedule | active -> dead
-- KEYS 1  active — leases, scored by when they end (zset, ms)
-- KEYS 2  schedule — jobs that wait for a time (zset, due time, ms)
-- KEYS 3  dead — jobs given up, every score 0 (zset)
-- KEYS 4  row — the job's fields (hash)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  token — the attempts that the worker's claim gave it (text)
-- ARGV 3  delay_ms — how long until it may run again (integer, ms)
-- ARGV 4  max_attempts — at this many attempts it is dead (integer)
-- ARGV 5  error_text — why this attempt failed (text)
-- ARGV 6  base — every key of the queue begins with this (text)
-- RETURNS "scheduled" — it will run again
-- RETURNS "dead" — the attempts are used up
-- RETURNS error "EMQSTALE job gone" — no attempts, nothing written
-- RETURNS error "EMQSTALE retry token mismatch" — nothing written
-- CLOCK   server TIME, only when it is scheduled

local active, schedule, dead = KEYS[1], KEYS[2], KEYS[3]
local row = KEYS[4]
local id, token, delay_ms = ARGV[1], ARGV[2], ARGV[3]
local max_attempts, error_text = ARGV[4], ARGV[5]
local base = ARGV[6]

-- use now

-- use lane_keys

-- use lane_of

-- use release

-- use rering

local attempts = redis.call('HGET', row, 'attempts')
if not attempts then
  return redis.error_reply('EMQSTALE job gone')
end
if attempts ~= token then
  return redis.error_reply('EMQSTALE retry token mismatch')
end

-- use settle

redis.call('HSET', row, 'last_error', error_text)

if tonumber(attempts) >= tonumber(max_attempts) then
  redis.call('HSET', row, 'state', 'dead')
  redis.call('ZADD', dead, 0, id)
  redis.call('HINCRBY', base .. 'metrics:failed', 'count', 1)
  return 'dead'
end

redis.call('HSET', row, 'state', 'scheduled')
redis.call('ZADD', schedule, now_ms() + delay_ms, id)
return 'scheduled'
