-- Gives the group a turn again: at most one, none while it is
-- paused or at its limit. The wake token rouses a parked worker.
local function rering(group, act)
  local limit = redis.call('HGET', glimit, group)
  if redis.call('SISMEMBER', paused, group) == 1
    or (limit and act >= tonumber(limit))
    or redis.call('LPOS', ring, group) then
    return
  end
  redis.call('RPUSH', ring, group)
  redis.call('LPUSH', wake, 1)
  redis.call('LTRIM', wake, 0, 63)
end
