-- Leases one job out: the new `attempts` is the worker's token.
local function grant(id, until_ms)
  local row = row_prefix .. id
  local attempts = redis.call('HINCRBY', row, 'attempts', 1)
  redis.call('HSET', row, 'state', 'active')
  redis.call('ZADD', active, until_ms, id)
  return {id, redis.call('HGET', row, 'payload'), attempts}
end
