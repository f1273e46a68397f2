-- Takes the id out of where it is. It may be waiting again: a reaped
-- job's token still passes until the next claim.
local group = redis.call('HGET', row, 'group')
local was_active = redis.call('ZREM', active, id) == 1
if not group then
  if not was_active then redis.call('ZREM', base .. 'pending', id) end
elseif was_active then
  local act = release(group)
  if redis.call('ZCARD', lane_of(group)) > 0 then rering(group, act) end
else
  redis.call('ZREM', lane_of(group), id)
  if redis.call('ZCARD', lane_of(group)) == 0 then
    redis.call('LREM', ring, 0, group)
  end
end
