-- A worker's attempt has failed and the job may run again at once.
-- MOVES   active -> wait, paused, prioritized
-- KEYS 1  active — jobs that workers have, the newest left (list)
-- KEYS 2  wait — jobs that may run, served from the right (list)
-- KEYS 3  paused — the same while the queue is paused (list)
-- KEYS 4  row — the job's fields (hash)
-- KEYS 5  meta — the queue's settings (hash)
-- KEYS 6  events (unused) — what happened (stream)
-- KEYS 7  delayed — jobs that wait for a time (zset, 4096 slots a ms)
-- KEYS 8  prioritized — jobs that may run, by priority (zset)
-- KEYS 9  pc — priority counter: the order within a priority (string)
-- KEYS 10 marker (unused) — wakes a worker (zset)
-- KEYS 11 stalled — the marks of the sweep (set)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  now_ms — what time it is (integer, ms)
-- ARGV 3  push — "LPUSH" is served last, "RPUSH" next (text)
-- ARGV 4  id — the job (text)
-- ARGV 5  token — what the lock must hold (text)
-- ARGV 6  fields? — name, value, … for the row (msgpack array)
-- RETURNS 0 — it waits for a worker
-- RETURNS -1 — no such row; jobs that are due wait now
-- RETURNS -2 — no lock; jobs that are due wait now
-- RETURNS -6 — another's lock; jobs that are due wait now
-- RETURNS -3 — not active: lock and mark gone, fields written
-- CLOCK   the argument

local active, wait, paused, row = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local meta, delayed, prioritized = KEYS[5], KEYS[7], KEYS[8]
local pc, stalled = KEYS[9], KEYS[11]
local base, now_ms, push = ARGV[1], ARGV[2], ARGV[3]
local id, token, fields = ARGV[4], ARGV[5], ARGV[6]

local lock = row .. ':lock'

-- use target

-- use prio

-- use line_up

-- use promote_due

-- Before any check: a refusal does not undo it.
promote_due()

if redis.call('EXISTS', row) == 0 then return -1 end

-- use unlock

-- use write_fields

-- Tested only now: a job that is not active has lost its lock already.
if redis.call('LREM', active, -1, id) == 0 then return -3 end

line_up(id, push)
-- atm: attempts made.
redis.call('HINCRBY', row, 'atm', 1)
return 0
