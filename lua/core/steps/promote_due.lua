-- Lets the delayed jobs that are due wait for a worker, the earliest
-- first: every slot of this millisecond has come.
local function promote_due()
  local due = redis.call('ZRANGEBYSCORE', delayed,
    '-inf', (now_ms + 1) * 4096 - 1, 'LIMIT', 0, 1000)
  if #due > 0 then redis.call('ZREM', delayed, unpack(due)) end
  for _, job_id in ipairs(due) do
    line_up(job_id, 'LPUSH')
    redis.call('HSET', base .. job_id, 'delay', 0)
  end
end
