-- Admits a new job that may not run before its due time.
-- MOVES   nothing -> schedule
-- KEYS 1  row — the job's fields (hash)
-- KEYS 2  schedule — jobs that wait for a time (zset, due time, ms)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  payload — what the worker gets (bytes)
-- ARGV 3  mode — "in" counts from now, "at" names the instant (text)
-- ARGV 4  ms — the delay, or the instant since 1970 (integer, ms)
-- RETURNS 1 — admitted
-- RETURNS 0 — the row exists already, nothing written
-- RETURNS error "EMQKIND job id must be JOB-namespaced" — nothing written
-- CLOCK   server TIME with "in"; with "at" the argument

local row, schedule = KEYS[1], KEYS[2]
local id, payload = ARGV[1], ARGV[2]
local mode, ms = ARGV[3], ARGV[4]

-- use kind

-- use now

-- use due

if redis.call('EXISTS', row) == 1 then return 0 end

local due = due_at_ms()
redis.call('HSET', row,
  'state', 'scheduled', 'attempts', 0, 'payload', payload)
redis.call('ZADD', schedule, due, id)
return 1
