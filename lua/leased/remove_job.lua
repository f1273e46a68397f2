-- Removes a job from wherever it is, unless it is locked.
-- MOVES  pending -> gone | active -> gone | schedule -> gone | dead -> gone
-- KEYS 1  row — the job's fields (hash)
-- KEYS 2  pending — jobs that wait, every score 0 (zset)
-- KEYS 3  active — leases, scored by when they end (zset, ms)
-- KEYS 4  schedule — jobs that wait for a time (zset, due time, ms)
-- KEYS 5  dead — jobs given up, every score 0 (zset)
-- KEYS 6  dedup — which job holds the deduplication id (string)
-- ARGV 1  id — the job (branded id)
-- ARGV 2  dedup_id — empty text for none (text)
-- RETURNS 1 — removed
-- RETURNS -1 — no such job, nothing written
-- RETURNS error "EMQLOCK job is locked" — nothing written
-- CLOCK   none

local row, pending, active = KEYS[1], KEYS[2], KEYS[3]
local schedule, dead, dedup = KEYS[4], KEYS[5], KEYS[6]
local id, dedup_id = ARGV[1], ARGV[2]

if redis.call('EXISTS', row) == 0 then return -1 end
if redis.call('EXISTS', row .. ':lock') == 1
  or redis.call('HEXISTS', row, 'lock') == 1 then
  return redis.error_reply('EMQLOCK job is locked')
end

for _, place in ipairs({pending, active, schedule, dead}) do
  redis.call('ZREM', place, id)
end
-- Another job may hold the deduplication id by now: then it stays.
if dedup_id ~= '' and redis.call('GET', dedup) == id then
  redis.call('DEL', dedup)
end
redis.call('DEL', row, row .. ':logs')
return 1
