-- Adds a job with a priority: a lower number is served before a higher.
-- MOVES   nothing -> prioritized
-- KEYS 1  marker (unused) — wakes a worker (zset)
-- KEYS 2  meta (unused) — the queue's settings (hash)
-- KEYS 3  id — counts the jobs, numbers those without an id (string)
-- KEYS 4  prioritized — jobs that may run, by priority (zset)
-- KEYS 5  delayed (unused) — jobs that wait for a time (zset)
-- KEYS 6  completed (unused) — jobs that ended well (zset)
-- KEYS 7  active (unused) — jobs that workers have (list)
-- KEYS 8  events (unused) — what happened (stream)
-- KEYS 9  pc — priority counter: the order within a priority (string)
-- ARGV 1  job — base, id, name, time, parent: nine slots (msgpack array)
-- ARGV 2  data — what the worker gets (JSON text)
-- ARGV 3  opts — delay, priority, lifo; the row keeps all (msgpack map)
-- ARGV 4  priority? (unused) — the priority again (integer)
-- RETURNS id — added, or there already and left as it is
-- RETURNS -5 — the parent's row is missing, nothing written
-- RETURNS -7 — it has another parent; only the counter moved
-- CLOCK   the time in the array

local id, prioritized, pc = KEYS[3], KEYS[4], KEYS[9]
local job, data, opts = ARGV[1], ARGV[2], ARGV[3]

-- use job_slots

-- use prio

-- use admit

prioritize(job_id, options.priority or 0)

-- use pending_child

return job_id
