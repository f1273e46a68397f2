-- Whether no job may be handed out now: the queue is paused, or as many
-- jobs are active as its concurrency allows.
local function is_blocked()
  if redis.call('HEXISTS', meta, 'paused') == 1 then return true end
  local concurrency = redis.call('HGET', meta, 'concurrency')
  if not concurrency then return false end
  return redis.call('LLEN', active) >= tonumber(concurrency)
end
