-- Lets a lock run anew if it is this worker's; such a job has not
-- stalled, so the mark of the sweep goes.
local function extend(lock, token, id)
  if redis.call('GET', lock) ~= token then return false end
  redis.call('SET', lock, token, 'PX', lock_ms)
  redis.call('SREM', stalled, id)
  return true
end
