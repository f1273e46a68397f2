-- Makes a parent fail for its child: defa, deferred failure, is what the
-- worker that picks it up will carry out. A delay is not waited for.
local function fail_parent(parent_id)
  local parent_row = base .. parent_id
  if redis.call('EXISTS', parent_row) == 0
    or redis.call('ZSCORE', base .. 'failed', parent_id) then
    return
  end
  redis.call('HSET', parent_row, 'defa', 'child ' .. row .. ' failed')
  if redis.call('ZREM', delayed, parent_id) == 1 then
    redis.call('HSET', parent_row, 'delay', 0)
    line_up(parent_id, 'RPUSH')
  end
end
