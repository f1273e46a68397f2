-- Gives a dead job another life; its attempts go on counting.
-- MOVES   dead -> pending
-- KEYS 1  row — the job's fields (hash)
-- KEYS 2  dead — jobs given up, every score 0 (zset)
-- KEYS 3  pending — jobs that wait, every score 0 (zset)
-- ARGV 1  id — the job (branded id)
-- RETURNS 1 — it waits again, in `pending` even if it has a group
-- RETURNS -1 — no such job, nothing written
-- RETURNS error "EMQSTATE not dead" — nothing written
-- CLOCK   none

local row, dead, pending = KEYS[1], KEYS[2], KEYS[3]
local id = ARGV[1]

if redis.call('EXISTS', row) == 0 then return -1 end
if redis.call('ZREM', dead, id) == 0 then
  return redis.error_reply('EMQSTATE not dead')
end

redis.call('HDEL', row, 'last_error')
redis.call('HSET', row, 'state', 'pending')
redis.call('ZADD', pending, 0, id)
return 1
