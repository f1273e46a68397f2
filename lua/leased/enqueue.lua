-- Admits a new job: writes its row and lets it wait in mint order.
-- MOVES   nothing -> pending
-- KEYS 1  row — the job's fields (hash)
-- KEYS 2  pending — jobs that wait, every score 0 (zset)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  payload — what the worker gets (bytes)
-- RETURNS 1 — admitted
-- RETURNS 0 — the row exists already, nothing written
-- RETURNS error "EMQKIND job id must be JOB-namespaced" — nothing written
-- CLOCK   none

local row, pending = KEYS[1], KEYS[2]
local id, payload = ARGV[1], ARGV[2]

-- use kind

if redis.call('EXISTS', row) == 1 then return 0 end

redis.call('HSET', row,
  'state', 'pending', 'attempts', 0, 'payload', payload)
redis.call('ZADD', pending, 0, id)
return 1
