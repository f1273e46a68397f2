-- Pauses the queue or lets it go on: its list gets the other name.
-- MOVES   wait -> paused | paused -> wait
-- KEYS 1  source — wait when it pauses, paused when it goes on (list)
-- KEYS 2  destination — the other of the two, overwritten (list)
-- KEYS 3  meta — the queue's settings (hash)
-- KEYS 4  prioritized (unused) — jobs that may run, by priority (zset)
-- KEYS 5  events (unused) — what happened (stream)
-- KEYS 6  delayed (unused) — jobs that wait for a time (zset)
-- KEYS 7  marker (unused) — wakes a worker (zset)
-- ARGV 1  event — "paused" or "resumed" (text)
-- RETURNS nil — done; only the flag where nothing waited
-- CLOCK   none

local source, destination, meta = KEYS[1], KEYS[2], KEYS[3]
local event = ARGV[1]

if redis.call('EXISTS', source) == 1 then
  redis.call('RENAME', source, destination)
end
if event == 'paused' then
  redis.call('HSET', meta, 'paused', 1)
else
  redis.call('HDEL', meta, 'paused')
end
return nil
