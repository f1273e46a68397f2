-- Lets a parent go on that waits for its children: after its own delay
-- if it has one, else as the next to be served.
local function release_parent(parent_id)
  local parent_row = base .. parent_id
  if redis.call('EXISTS', parent_row) == 0 then return end
  if redis.call('ZREM', waiting_children, parent_id) == 0 then
    return
  end
  local delay_ms = tonumber(redis.call('HGET', parent_row, 'delay'))
  if delay_ms and delay_ms > 0 then
    -- The first slot, taken or not.
    redis.call('ZADD', delayed, (now_ms + delay_ms) * 4096, parent_id)
  else
    line_up(parent_id, 'RPUSH')
  end
end
