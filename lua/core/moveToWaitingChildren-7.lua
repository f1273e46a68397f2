-- A worker parks its job until the children it has added have ended.
-- MOVES   active -> waiting-children
-- KEYS 1  active — jobs that workers have, the newest left (list)
-- KEYS 2  waiting_children — parents, scored by since when (zset, ms)
-- KEYS 3  row — the job's fields (hash)
-- KEYS 4  dependencies — the rows of children still to end (set)
-- KEYS 5  unsuccessful — the rows of children whose failure counts (zset)
-- KEYS 6  stalled — the marks of the sweep (set)
-- KEYS 7  events (unused) — what happened (stream)
-- ARGV 1  token — what the lock must hold (text)
-- ARGV 2  child — the row to wait for, or "" for any (text)
-- ARGV 3  now_ms — what time it is (integer, ms)
-- ARGV 4  id — the job (text)
-- ARGV 5  base (unused) — every key of the queue begins with this (text)
-- RETURNS 0 — parked
-- RETURNS 1 — no child to wait for: go on. Nothing written
-- RETURNS -1 — no such row, nothing written
-- RETURNS -9 — a child has failed, nothing written
-- RETURNS -2 — no lock, nothing written
-- RETURNS -6 — another's lock, nothing written
-- RETURNS -3 — not active: lock and mark gone
-- CLOCK   the argument

local active, waiting_children = KEYS[1], KEYS[2]
local row, dependencies, unsuccessful = KEYS[3], KEYS[4], KEYS[5]
local stalled = KEYS[6]
local token, child, now_ms, id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local lock = row .. ':lock'

if redis.call('EXISTS', row) == 0 then return -1 end
if redis.call('ZCARD', unsuccessful) > 0 then return -9 end

-- Asked before the lock: to go on needs none.
local pending
if child == '' then
  pending = redis.call('SCARD', dependencies)
else
  pending = redis.call('SISMEMBER', dependencies, child)
end
if pending == 0 then return 1 end

-- use unlock

-- Tested only now: a job that is not active has lost its lock already.
if redis.call('LREM', active, -1, id) == 0 then return -3 end

redis.call('ZADD', waiting_children, now_ms, id)
return 0
