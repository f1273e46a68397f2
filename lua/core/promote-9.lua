-- An operator lets a delayed job run now, before it is due.
-- MOVES   delayed -> wait, paused, prioritized
-- KEYS 1  delayed — jobs that wait for a time (zset, 4096 slots a ms)
-- KEYS 2  wait — jobs that may run, served from the right (list)
-- KEYS 3  paused — the same while the queue is paused (list)
-- KEYS 4  meta — the queue's settings (hash)
-- KEYS 5  prioritized — jobs that may run, by priority (zset)
-- KEYS 6  active (unused) — jobs that workers have (list)
-- KEYS 7  pc — priority counter: the order within a priority (string)
-- KEYS 8  events (unused) — what happened (stream)
-- KEYS 9  marker (unused) — wakes a worker (zset)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  id — the job (text)
-- RETURNS 0 — it waits for a worker
-- RETURNS -3 — it is not delayed, nothing written
-- CLOCK   none

local delayed, wait, paused, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prioritized, pc = KEYS[5], KEYS[7]
local base, id = ARGV[1], ARGV[2]

-- use target

-- use prio

-- use line_up

if redis.call('ZREM', delayed, id) == 0 then return -3 end

line_up(id, 'LPUSH')
redis.call('HSET', base .. id, 'delay', 0)
return 0
