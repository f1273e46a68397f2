-- Replaces a job's payload, wherever the job is.
-- MOVES   none
-- KEYS 1  row — the job's fields (hash)
-- ARGV 1  payload — what the worker gets from now on (bytes)
-- RETURNS 1 — replaced
-- RETURNS -1 — no such job, nothing written
-- CLOCK   none

local row = KEYS[1]
local payload = ARGV[1]

if redis.call('EXISTS', row) == 0 then return -1 end

redis.call('HSET', row, 'payload', payload)
return 1
