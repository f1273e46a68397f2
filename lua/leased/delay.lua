-- A worker puts its job off: it may not run before its due time.
-- MOVES   active -> schedule
-- KEYS 1  row — the job's fields (hash)
-- KEYS 2  active — leases, scored by when they end (zset, ms)
-- KEYS 3  schedule — jobs that wait for a time (zset, due time, ms)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  token — the attempts that the worker's claim gave it (text)
-- ARGV 3  mode — "in" counts from now, "at" names the instant (text)
-- ARGV 4  ms — the delay, or the instant since 1970 (integer, ms)
-- RETURNS 1 — put off
-- RETURNS error "EMQKIND job id must be JOB-namespaced" — nothing written
-- RETURNS error "EMQSTALE job gone" — no attempts, nothing written
-- RETURNS error "EMQSTALE delay token mismatch" — nothing written
-- CLOCK   server TIME with "in"; with "at" the argument

local row, active, schedule = KEYS[1], KEYS[2], KEYS[3]
local id, token = ARGV[1], ARGV[2]
local mode, ms = ARGV[3], ARGV[4]

-- use kind

-- use now

-- use due

local attempts = redis.call('HGET', row, 'attempts')
if not attempts then
  return redis.error_reply('EMQSTALE job gone')
end
if attempts ~= token then
  return redis.error_reply('EMQSTALE delay token mismatch')
end

redis.call('ZREM', active, id)
redis.call('HSET', row, 'state', 'scheduled')
redis.call('ZADD', schedule, due_at_ms(), id)
return 1
