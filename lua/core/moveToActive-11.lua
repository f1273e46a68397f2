-- Hands the next job to a worker, after the jobs that are due.
-- MOVES  wait, prioritized -> active | delayed -> wait, paused, prioritized
-- KEYS 1  wait — jobs that may run, served from the right (list)
-- KEYS 2  active — jobs that workers have, the newest left (list)
-- KEYS 3  prioritized — jobs that may run, by priority (zset)
-- KEYS 4  events (unused) — what happened (stream)
-- KEYS 5  stalled (unused) — the marks of the sweep (set)
-- KEYS 6  limiter (unused) — counts against a rate limit (string)
-- KEYS 7  delayed — jobs that wait for a time (zset, 4096 slots a ms)
-- KEYS 8  paused — the same as wait while the queue is paused (list)
-- KEYS 9  meta — the queue's settings (hash)
-- KEYS 10 pc — priority counter: the order within a priority (string)
-- KEYS 11 marker (unused) — wakes a worker (zset)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  now_ms — what time it is (integer, ms)
-- ARGV 3  opts — token, lockDuration; limiter, name unread (msgpack map)
-- RETURNS [fields, id, 0, 0] — the job, all its row's fields first
-- RETURNS [0, 0, 0, due_ms] — nothing waits, the next is due then
-- RETURNS [0, 0, 0, 0] — nothing waits, or none may be handed out
-- CLOCK   the argument; the lock runs on the server's

local wait, active, prioritized = KEYS[1], KEYS[2], KEYS[3]
local delayed, paused, meta, pc = KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local base, now_ms, opts = ARGV[1], ARGV[2], ARGV[3]

local options = cmsgpack.unpack(opts)
local token, lock_ms = options.token, options.lockDuration

-- use target

-- use blocked

-- use prio

-- use line_up

-- use promote_due

-- use pickup

promote_due()

-- use next_job

return {0, 0, 0, 0}
