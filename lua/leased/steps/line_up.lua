-- Lets the job wait again, in mint order: every score is 0.
local function line_up(id, group, act)
  if group then
    redis.call('ZADD', lane_of(group), 0, id)
    rering(group, act)
  else
    redis.call('ZADD', pending, 0, id)
  end
  redis.call('HSET', base .. 'job:' .. id, 'state', 'pending')
end
