-- Gives a worker a new lease, counted from now.
-- MOVES   none
-- KEYS 1  active — leases, scored by when they end (zset, ms)
-- KEYS 2  row — the job's fields (hash)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  token — the attempts that the worker's claim gave it (text)
-- ARGV 3  lease_ms — how long from now, longer or shorter (integer, ms)
-- RETURNS 1 — the lease has a new end
-- RETURNS -1 — gone: the row holds no attempts, nothing written
-- RETURNS error "EMQSTALE extend token mismatch" — nothing written
-- CLOCK   server TIME

local active, row = KEYS[1], KEYS[2]
local id, token, lease_ms = ARGV[1], ARGV[2], ARGV[3]

-- use now

local attempts = redis.call('HGET', row, 'attempts')
if not attempts then return -1 end
if attempts ~= token then
  return redis.error_reply('EMQSTALE extend token mismatch')
end

-- The token is checked, the place is not: ZADD would also add the id.
redis.call('ZADD', active, now_ms() + lease_ms, id)
return 1
