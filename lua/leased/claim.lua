-- Hands the job minted first to a worker, for the time of a lease.
-- MOVES   pending -> active
-- KEYS 1  pending — jobs that wait, every score 0 (zset)
-- KEYS 2  active — leases, scored by when they end (zset, ms)
-- ARGV 1  row_prefix — a row's key is this and the id (text)
-- ARGV 2  lease_ms — how long the worker may take (integer, ms)
-- RETURNS [id, payload, attempts] — attempts is the worker's token
-- RETURNS [] — nothing waits, nothing written
-- CLOCK   server TIME

local pending, active = KEYS[1], KEYS[2]
local row_prefix, lease_ms = ARGV[1], ARGV[2]

-- use now

-- use grant

local id = redis.call('ZPOPMIN', pending)[1]
if not id then return {} end

return grant(id, now_ms() + lease_ms)
