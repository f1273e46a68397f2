-- Makes a job the worker's: the lock is its token, for lock_ms.
-- ats: attempts started.
local function pick_up(job_id)
  local row = base .. job_id
  if token ~= '0' then
    redis.call('SET', row .. ':lock', token, 'PX', lock_ms)
  end
  redis.call('HSET', row, 'processedOn', now_ms)
  redis.call('HINCRBY', row, 'ats', 1)
  return {redis.call('HGETALL', row), job_id, 0, 0}
end
