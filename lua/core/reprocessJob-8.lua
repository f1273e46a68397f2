-- An operator lets a job that has ended run again.
-- MOVES   failed, completed -> wait, paused
-- KEYS 1  row — the job's fields (hash)
-- KEYS 2  events (unused) — what happened (stream)
-- KEYS 3  finished — completed or failed, by when they ended (zset, ms)
-- KEYS 4  wait — jobs that may run, served from the right (list)
-- KEYS 5  meta — the queue's settings (hash)
-- KEYS 6  paused — the same as wait while the queue is paused (list)
-- KEYS 7  active (unused) — jobs that workers have (list)
-- KEYS 8  marker (unused) — wakes a worker (zset)
-- ARGV 1  id — the job (text)
-- ARGV 2  push — "LPUSH" is served last, "RPUSH" next (text)
-- ARGV 3  field — "failedReason" or "returnvalue", dropped (text)
-- ARGV 4  ending (unused) — "failed" or "completed" (text)
-- ARGV 5  reset_made — "1" forgets the attempts made (text)
-- ARGV 6  reset_started — "1" forgets the attempts started (text)
-- RETURNS 1 — it waits for a worker, whatever its priority
-- RETURNS -1 — no such row, nothing written
-- RETURNS -3 — it has not ended so, nothing written
-- CLOCK   none

local row, finished, wait = KEYS[1], KEYS[3], KEYS[4]
local meta, paused = KEYS[5], KEYS[6]
local id, push, field = ARGV[1], ARGV[2], ARGV[3]
local reset_made, reset_started = ARGV[5], ARGV[6]

-- use target

if redis.call('EXISTS', row) == 0 then return -1 end
if redis.call('ZREM', finished, id) == 0 then return -3 end

redis.call('HDEL', row, 'finishedOn', 'processedOn', field)
-- atm: attempts made. ats: attempts started.
if reset_made == '1' then redis.call('HDEL', row, 'atm') end
if reset_started == '1' then redis.call('HDEL', row, 'ats') end
redis.call(push, waiting_list(), id)
return 1
