-- A delayed job's score: the millisecond in which it is due, times 4096,
-- plus a slot from 0 to 4095, one more than the last that is taken
-- there. So jobs that are due together keep the order of their arrival.
local function due_score(due_ms)
  local first = due_ms * 4096
  local last = first + 4095
  local taken = redis.call('ZREVRANGEBYSCORE', delayed, last, first,
    'WITHSCORES', 'LIMIT', 0, 1)[2]
  if not taken then return first end
  return math.min(taken + 1, last)
end
