-- A child needs its parent. From here on a number is used up, whether
-- or not the job takes it as its id.
if parent_row and redis.call('EXISTS', parent_row) == 0 then
  return -5
end
local job_id = tostring(redis.call('INCR', id))
if custom_id ~= '' then job_id = custom_id end
local row = base .. job_id

-- An id that exists stays as it is; it cannot change its parent while
-- that one exists.
if redis.call('EXISTS', row) == 1 then
  local elder = redis.call('HGET', row, 'parentKey')
  if parent_row and elder and elder ~= parent_row
    and redis.call('EXISTS', elder) == 1 then
    return -7
  end
  return job_id
end

redis.call('HSET', row,
  'name', name, 'data', data, 'opts', cjson.encode(options),
  'timestamp', timestamp_ms, 'delay', options.delay or 0,
  'priority', options.priority or 0)
if parent_row then
  redis.call('HSET', row,
    'parentKey', parent_row, 'parent', cjson.encode(parent))
end
