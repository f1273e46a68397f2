-- Tells a parent that its child has ended. A failure counts as the
-- child's rule says; without a rule the parent waits for ever.
--   fpof  fail parent on failure: it is released, to fail in its turn
--   cpof  continue parent on failure: it is released at once
--   idof  ignore dependency on failure: noted, one child less to wait for
--   rdof  remove dependency on failure: the same, not noted
local parent_row = redis.call('HGET', row, 'parentKey')
if parent_row then
  local parent_id = string.sub(parent_row, #base + 1)
  local rules = cjson.decode(redis.call('HGET', row, 'parent') or '{}')
  local dependencies = parent_row .. ':dependencies'
  local good = ending == 'completed'
  local ruled = good
    or rules.fpof or rules.cpof or rules.idof or rules.rdof

  -- Nobody can wait for a row that is not kept.
  if (ruled or not kept)
    and redis.call('SREM', dependencies, row) == 1 then
    local at_once = false
    if good then
      redis.call('HSET', parent_row .. ':processed', row, value)
    elseif rules.fpof then
      redis.call('ZADD', parent_row .. ':unsuccessful', now_ms, row)
      fail_parent(parent_id)
      at_once = true
    elseif rules.cpof or rules.idof then
      redis.call('HSET', parent_row .. ':failed', row, value)
      at_once = rules.cpof
    end

    if at_once or redis.call('SCARD', dependencies) == 0 then
      if ruled then
        release_parent(parent_id)
      elseif redis.call('ZREM', waiting_children, parent_id) == 1 then
        -- Without a rule neither its delay nor its priority counts.
        redis.call('RPUSH', waiting_list(), parent_id)
      end
    end
  end
end
