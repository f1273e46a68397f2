-- Gives a worker new leases for several jobs, counted from now.
-- MOVES   none
-- KEYS 1  active — leases, scored by when they end (zset, ms)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  lease_ms — how long from now, longer or shorter (integer, ms)
-- ARGV 3  id_and_token… — each id, followed by its token (text)
-- RETURNS [id, …] — the ids that got none: gone, or the token is stale
-- CLOCK   server TIME

local active = KEYS[1]
local base, lease_ms = ARGV[1], ARGV[2]

-- use now

local until_ms = now_ms() + lease_ms
local not_extended = {}
for n = 3, #ARGV, 2 do
  local id, token = ARGV[n], ARGV[n + 1]
  if redis.call('HGET', base .. 'job:' .. id, 'attempts') == token then
    redis.call('ZADD', active, until_ms, id)
  else
    table.insert(not_extended, id)
  end
end
return not_extended
