-- Ends a job well: it leaves no row, only a count.
-- MOVES   active -> gone
-- KEYS 1  active — leases, scored by when they end (zset, ms)
-- KEYS 2  row — the job's fields (hash)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  token — the attempts that the worker's claim gave it (text)
-- ARGV 3  base — every key of the queue begins with this (text)
-- RETURNS 1 — completed
-- RETURNS 0 — gone: the row holds no attempts, nothing written
-- RETURNS error "EMQSTALE complete token mismatch" — nothing written
-- CLOCK   none

local active, row = KEYS[1], KEYS[2]
local id, token, base = ARGV[1], ARGV[2], ARGV[3]

-- use lane_keys

-- use lane_of

-- use release

-- use rering

local attempts = redis.call('HGET', row, 'attempts')
if not attempts then return 0 end
if attempts ~= token then
  return redis.error_reply('EMQSTALE complete token mismatch')
end

-- use settle

redis.call('DEL', row)
redis.call('HINCRBY', base .. 'metrics:completed', 'count', 1)
return 1
