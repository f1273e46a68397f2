-- Ends a job, well or not; with fetch the worker gets the next one too.
-- MOVES   active -> completed, failed, gone | wait, prioritized -> active
-- KEYS 1  wait — jobs that may run, served from the right (list)
-- KEYS 2  active — jobs that workers have, the newest left (list)
-- KEYS 3  prioritized — jobs that may run, by priority (zset)
-- KEYS 4  events (unused) — what happened (stream)
-- KEYS 5  stalled — the marks of the sweep (set)
-- KEYS 6  limiter (unused) — counts against a rate limit (string)
-- KEYS 7  delayed — jobs that wait for a time (zset, 4096 slots a ms)
-- KEYS 8  paused — the same as wait while the queue is paused (list)
-- KEYS 9  meta — the queue's settings (hash)
-- KEYS 10 pc — priority counter: the order within a priority (string)
-- KEYS 11 finished — completed or failed, by when they ended (zset, ms)
-- KEYS 12 row — the job's fields (hash)
-- KEYS 13 metrics (unused) — counts a minute (hash)
-- KEYS 14 marker (unused) — wakes a worker (zset)
-- ARGV 1  id — the job (text)
-- ARGV 2  now_ms — what time it is (integer, ms)
-- ARGV 3  field — "returnvalue" or "failedReason" (text)
-- ARGV 4  value — what that field says (text)
-- ARGV 5  ending — "completed" or "failed" (text)
-- ARGV 6  fetch — "1" asks for the next job (text)
-- ARGV 7  base — every key of the queue begins with this (text)
-- ARGV 8  opts — token, lockDuration, keepJobs.count (msgpack map)
-- ARGV 9  fields? — name, value, … for the row (msgpack array)
-- RETURNS 0 — ended, and none fetched
-- RETURNS [fields, id, 0, 0] — ended, and this is the next job
-- RETURNS [0, 0, 0, due_ms] — ended, the next is due then
-- RETURNS [0, 0, 0, 0] — ended, and none may be handed out
-- RETURNS -1 — no such row, nothing written
-- RETURNS -4 — completed with children pending, nothing written
-- RETURNS -9 — completed with a failed child, nothing written
-- RETURNS -2 — no lock, nothing written
-- RETURNS -6 — another's lock, nothing written
-- RETURNS -3 — not active: lock and mark gone, fields written
-- CLOCK   the argument; the lock runs on the server's

local wait, active, prioritized = KEYS[1], KEYS[2], KEYS[3]
local stalled, delayed, paused = KEYS[5], KEYS[7], KEYS[8]
local meta, pc, finished, row = KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local id, now_ms, field, value = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ending, fetch, base = ARGV[5], ARGV[6], ARGV[7]
local opts, fields = ARGV[8], ARGV[9]

local options = cmsgpack.unpack(opts)
local token, lock_ms = options.token, options.lockDuration
local kept = options.keepJobs.count ~= 0
local lock = row .. ':lock'
local waiting_children = base .. 'waiting-children'

if redis.call('EXISTS', row) == 0 then return -1 end
if ending == 'completed' then
  if redis.call('SCARD', row .. ':dependencies') > 0 then return -4 end
  if redis.call('ZCARD', row .. ':unsuccessful') > 0 then return -9 end
end

-- use unlock

-- use write_fields

-- Tested only now: a job that is not active has lost its lock already.
if redis.call('LREM', active, -1, id) == 0 then return -3 end

-- use target

-- use blocked

-- use prio

-- use line_up

-- use promote_due

-- use pickup

-- use release_parent

-- use fail_parent

-- use tell_parent

if kept then
  -- atm: attempts made. defa: deferred failure, which has now come.
  redis.call('HINCRBY', row, 'atm', 1)
  redis.call('ZADD', finished, now_ms, id)
  redis.call('HSET', row, field, value, 'finishedOn', now_ms)
  if ending == 'failed' then redis.call('HDEL', row, 'defa') end
else
  redis.call('DEL', row, row .. ':logs', row .. ':dependencies',
    row .. ':processed', row .. ':failed', row .. ':unsuccessful')
end

if fetch ~= '1' then return 0 end

promote_due()

-- use next_job

return 0
