-- Lets a job wait in its priority class, behind those that came before:
-- the score is the priority times 2^32, plus a counter below 2^32.
local function prioritize(job_id, priority)
  local counter = redis.call('INCR', pc)
  local score = priority * 4294967296 + counter % 4294967296
  redis.call('ZADD', prioritized, score, job_id)
end
