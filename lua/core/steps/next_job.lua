-- Takes the job that waits longest, else the first by priority. With no
-- such job left, the counter of priorities (pc) begins again.
if is_blocked() then return {0, 0, 0, 0} end

local next_id = redis.call('RPOPLPUSH', wait, active)
if not next_id then
  next_id = redis.call('ZPOPMIN', prioritized)[1]
  if next_id then
    redis.call('LPUSH', active, next_id)
  else
    redis.call('DEL', pc)
  end
end
if next_id then return pick_up(next_id) end

local earliest = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
if earliest then return {0, 0, 0, math.floor(earliest / 4096)} end
