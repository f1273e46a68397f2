-- Adds a job that waits until its children, added after it, have ended.
-- MOVES   nothing -> waiting-children
-- KEYS 1  meta (unused) — the queue's settings (hash)
-- KEYS 2  id — counts the jobs, numbers those without an id (string)
-- KEYS 3  delayed (unused) — jobs that wait for a time (zset)
-- KEYS 4  waiting_children — parents, scored by since when (zset, ms)
-- KEYS 5  completed (unused) — jobs that ended well (zset)
-- KEYS 6  events (unused) — what happened (stream)
-- ARGV 1  job — base, id, name, time, parent: nine slots (msgpack array)
-- ARGV 2  data — what the worker gets (JSON text)
-- ARGV 3  opts — delay, priority, lifo; the row keeps all (msgpack map)
-- RETURNS id — added, or there already and left as it is
-- RETURNS -5 — the parent's row is missing, nothing written
-- RETURNS -7 — it has another parent; only the counter moved
-- CLOCK   the time in the array

local id, waiting_children = KEYS[2], KEYS[4]
local job, data, opts = ARGV[1], ARGV[2], ARGV[3]

-- use job_slots

-- use admit

redis.call('ZADD', waiting_children, timestamp_ms, job_id)

-- use pending_child

return job_id
