-- Lets a job wait for a worker: in its priority class if it has one,
-- else in the list. LPUSH joins the end of it, RPUSH is served next.
local function line_up(job_id, push)
  local priority = redis.call('HGET', base .. job_id, 'priority') or 0
  if tonumber(priority) == 0 then
    redis.call(push, waiting_list(), job_id)
  else
    prioritize(job_id, priority)
  end
end
