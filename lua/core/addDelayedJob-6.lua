-- Adds a job that may not run before its time and delay have passed.
-- MOVES   nothing -> delayed
-- KEYS 1  marker (unused) — wakes a worker (zset)
-- KEYS 2  meta (unused) — the queue's settings (hash)
-- KEYS 3  id — counts the jobs, numbers those without an id (string)
-- KEYS 4  delayed — jobs that wait for a time (zset, 4096 slots a ms)
-- KEYS 5  completed (unused) — jobs that ended well (zset)
-- KEYS 6  events (unused) — what happened (stream)
-- ARGV 1  job — base, id, name, time, parent: nine slots (msgpack array)
-- ARGV 2  data — what the worker gets (JSON text)
-- ARGV 3  opts — delay, priority, lifo; the row keeps all (msgpack map)
-- ARGV 4  delay? (unused) — the delay again (integer, ms)
-- RETURNS id — added, or there already and left as it is
-- RETURNS -5 — the parent's row is missing, nothing written
-- RETURNS -7 — it has another parent; only the counter moved
-- CLOCK   the time in the array

local id, delayed = KEYS[3], KEYS[4]
local job, data, opts = ARGV[1], ARGV[2], ARGV[3]

-- use job_slots

-- use slot

-- use admit

local due_ms = timestamp_ms + math.max(options.delay or 0, 0)
redis.call('ZADD', delayed, due_score(due_ms), job_id)

-- use pending_child

return job_id
