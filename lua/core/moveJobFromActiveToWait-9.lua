-- A worker gives its job back, to be served next; no attempt is counted.
-- MOVES   active -> wait, paused, prioritized
-- KEYS 1  active — jobs that workers have, the newest left (list)
-- KEYS 2  wait — jobs that may run, served from the right (list)
-- KEYS 3  stalled — the marks of the sweep (set)
-- KEYS 4  paused — the same as wait while the queue is paused (list)
-- KEYS 5  meta — the queue's settings (hash)
-- KEYS 6  limiter (unused) — counts against a rate limit (string)
-- KEYS 7  prioritized — jobs that may run, by priority (zset)
-- KEYS 8  marker (unused) — wakes a worker (zset)
-- KEYS 9  events (unused) — what happened (stream)
-- ARGV 1  id — the job (text)
-- ARGV 2  token — what the lock must hold (text)
-- ARGV 3  row — the key of the job's fields (text)
-- RETURNS 0 — given back, or not active: lock and mark gone
-- RETURNS -1 — no such row, nothing written
-- RETURNS -2 — no lock, nothing written
-- RETURNS -6 — another's lock, nothing written
-- CLOCK   none

local active, wait, stalled, paused = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local meta, prioritized = KEYS[5], KEYS[7]
local id, token, row = ARGV[1], ARGV[2], ARGV[3]

local lock = row .. ':lock'

-- use target

if redis.call('EXISTS', row) == 0 then return -1 end

-- use unlock

if redis.call('LREM', active, 1, id) == 1 then
  local priority = redis.call('HGET', row, 'priority') or 0
  if tonumber(priority) > 0 then
    -- Counter 0: before all others of its priority.
    redis.call('ZADD', prioritized, priority * 4294967296, id)
  else
    redis.call('RPUSH', waiting_list(), id)
  end
end
return 0
