-- Notes how far a job has come, and tells whoever listens.
-- MOVES   none
-- KEYS 1  row — the job's fields (hash)
-- ARGV 1  progress — how far it is, in the worker's words (text)
-- ARGV 2  id — the job (branded id)
-- ARGV 3  base — every key of the queue begins with this (text)
-- RETURNS 1 — noted, and published on the channel `events`
-- RETURNS -1 — no such job, nothing written or published
-- CLOCK   none

local row = KEYS[1]
local progress, id, base = ARGV[1], ARGV[2], ARGV[3]

if redis.call('EXISTS', row) == 0 then return -1 end

redis.call('HSET', row, 'progress', progress)
redis.call('PUBLISH', base .. 'events', cjson.encode({
  event = 'progress', job = id, progress = progress,
}))
return 1
