-- Hands several jobs to one worker at once, in mint order.
-- MOVES   pending -> active
-- KEYS 1  pending — jobs that wait, every score 0 (zset)
-- KEYS 2  active — leases, scored by when they end (zset, ms)
-- ARGV 1  row_prefix — a row's key is this and the id (text)
-- ARGV 2  lease_ms — how long the worker may take (integer, ms)
-- ARGV 3  size — how many jobs at most (integer)
-- RETURNS [[id, payload, attempts], …] — a short batch is normal
-- RETURNS [] — nothing waits, nothing written
-- CLOCK   server TIME

local pending, active = KEYS[1], KEYS[2]
local row_prefix, lease_ms = ARGV[1], ARGV[2]
local size = ARGV[3]

-- use now

-- use grant

-- One clock reading: the whole batch lapses at the same instant.
local until_ms = now_ms() + lease_ms
local claimed = {}
for n = 1, math.min(size, redis.call('ZCARD', pending)) do
  local id = redis.call('ZPOPMIN', pending)[1]
  claimed[n] = grant(id, until_ms)
end
return claimed
