-- Sweeps: takes back the jobs marked by the last sweep that have no lock.
-- MOVES   active -> wait, paused
-- KEYS 1  stalled — the marks: jobs that the last sweep saw active (set)
-- KEYS 2  wait — jobs that may run, served from the right (list)
-- KEYS 3  active — jobs that workers have, the newest left (list)
-- KEYS 4  stalled_check — there until the next sweep may run (string)
-- KEYS 5  meta — the queue's settings (hash)
-- KEYS 6  paused — the same as wait while the queue is paused (list)
-- KEYS 7  marker (unused) — wakes a worker (zset)
-- KEYS 8  events (unused) — what happened (stream)
-- ARGV 1  max_stalled — with more stalls than this a job is to fail
-- ARGV 2  base — every key of the queue begins with this (text)
-- ARGV 3  now_ms — what time it is (integer, ms)
-- ARGV 4  interval_ms — how long until the next sweep (integer, ms)
-- RETURNS [id, …] — the jobs taken back, they are served next
-- RETURNS [] — too early, nothing written
-- CLOCK   the argument; the interval runs on the server's

local stalled, wait, active = KEYS[1], KEYS[2], KEYS[3]
local stalled_check, meta, paused = KEYS[4], KEYS[5], KEYS[6]
local max_stalled, base = ARGV[1], ARGV[2]
local now_ms, interval_ms = ARGV[3], ARGV[4]

-- use target

if redis.call('EXISTS', stalled_check) == 1 then return {} end
redis.call('SET', stalled_check, now_ms, 'PX', interval_ms)

local marked = redis.call('SMEMBERS', stalled)
redis.call('DEL', stalled)

local taken_back = {}
for _, id in ipairs(marked) do
  local row = base .. id
  -- A lock is a worker that lives. Who is not active has been settled.
  if redis.call('EXISTS', row .. ':lock') == 0
    and redis.call('LREM', active, 1, id) == 1 then
    -- stc: stalled count. defa: deferred failure, which the worker that
    -- picks the job up carries out; the sweep fails no job.
    local stalls = redis.call('HINCRBY', row, 'stc', 1)
    if stalls > tonumber(max_stalled) then
      redis.call('HSET', row,
        'defa', 'job stalled more than allowable limit')
    end
    redis.call('RPUSH', waiting_list(), id)
    table.insert(taken_back, id)
  end
end

-- Locked or not: a heartbeat or an end takes the mark away in time.
for _, id in ipairs(redis.call('LRANGE', active, 0, -1)) do
  redis.call('SADD', stalled, id)
end
return taken_back
