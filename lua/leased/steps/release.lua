-- One lease of the group has ended; answers how many are left.
local function release(group)
  local act = redis.call('HINCRBY', gactive, group, -1)
  if act <= 0 then redis.call('HDEL', gactive, group) end
  return act
end
