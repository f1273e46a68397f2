-- Only the holder of the lock passes, and gives it up with the mark of
-- the sweep. The token "0" stands for a job that was taken without one.
if token ~= '0' then
  local holder = redis.call('GET', lock)
  if not holder then return -2 end
  if holder ~= token then return -6 end
  redis.call('DEL', lock)
  redis.call('SREM', stalled, id)
end
