-- How many of the group's jobs are out on a lease.
local function in_flight(group)
  return tonumber(redis.call('HGET', gactive, group) or 0)
end
