-- A worker puts its job off; how long it waits the worker computed.
-- MOVES   active -> delayed
-- KEYS 1  marker (unused) — wakes a worker (zset)
-- KEYS 2  active — jobs that workers have, the newest left (list)
-- KEYS 3  prioritized (unused) — jobs that may run, by priority (zset)
-- KEYS 4  delayed — jobs that wait for a time (zset, 4096 slots a ms)
-- KEYS 5  row — the job's fields (hash)
-- KEYS 6  events (unused) — what happened (stream)
-- KEYS 7  meta (unused) — the queue's settings (hash)
-- KEYS 8  stalled — the marks of the sweep (set)
-- ARGV 1  base (unused) — every key of the queue begins with this (text)
-- ARGV 2  now_ms — what time it is (integer, ms)
-- ARGV 3  id — the job (text)
-- ARGV 4  token — what the lock must hold (text)
-- ARGV 5  delay_ms — how long from now (integer, ms)
-- ARGV 6  skip_attempt — "1" does not count this attempt (text)
-- ARGV 7  fields? — name, value, … for the row (msgpack array)
-- RETURNS 0 — put off
-- RETURNS -1 — no such row, nothing written
-- RETURNS -2 — no lock, nothing written
-- RETURNS -6 — another's lock, nothing written
-- RETURNS -3 — not active: lock and mark gone, fields written
-- CLOCK   the argument

local active, delayed, row, stalled = KEYS[2], KEYS[4], KEYS[5], KEYS[8]
local now_ms, id, token = ARGV[2], ARGV[3], ARGV[4]
local delay_ms, skip_attempt, fields = ARGV[5], ARGV[6], ARGV[7]

local lock = row .. ':lock'

-- use slot

if redis.call('EXISTS', row) == 0 then return -1 end

-- use unlock

-- use write_fields

-- Tested only now: a job that is not active has lost its lock already.
if redis.call('LREM', active, -1, id) == 0 then return -3 end

local score = due_score(now_ms + math.max(tonumber(delay_ms), 0))
-- atm: attempts made.
if skip_attempt ~= '1' then redis.call('HINCRBY', row, 'atm', 1) end
redis.call('HSET', row, 'delay', delay_ms)
redis.call('ZADD', delayed, score, id)
return 0
