-- Adds a job that may run now: it waits behind all that wait already.
-- MOVES   nothing -> wait, paused
-- KEYS 1  wait — jobs that may run, served from the right (list)
-- KEYS 2  paused — the same while the queue is paused (list)
-- KEYS 3  meta — the queue's settings (hash)
-- KEYS 4  id — counts the jobs, numbers those without an id (string)
-- KEYS 5  completed (unused) — jobs that ended well (zset)
-- KEYS 6  delayed (unused) — jobs that wait for a time (zset)
-- KEYS 7  active (unused) — jobs that workers have (list)
-- KEYS 8  events (unused) — what happened (stream)
-- KEYS 9  marker (unused) — wakes a worker (zset)
-- ARGV 1  job — base, id, name, time, parent: nine slots (msgpack array)
-- ARGV 2  data — what the worker gets (JSON text)
-- ARGV 3  opts — delay, priority, lifo; the row keeps all (msgpack map)
-- ARGV 4  timestamp? (unused) — the job's time again (integer, ms)
-- RETURNS id — added, or there already and left as it is
-- RETURNS -5 — the parent's row is missing, nothing written
-- RETURNS -7 — it has another parent; only the counter moved
-- CLOCK   the time in the array

local wait, paused, meta, id = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local job, data, opts = ARGV[1], ARGV[2], ARGV[3]

-- use job_slots

-- use target

-- use admit

-- lifo, last in first out: it is served next.
redis.call(options.lifo and 'RPUSH' or 'LPUSH', waiting_list(), job_id)

-- use pending_child

return job_id
