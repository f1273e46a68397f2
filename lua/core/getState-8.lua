-- Tells a job's state by looking for its id where jobs can be.
-- MOVES   none
-- KEYS 1  completed — jobs that ended well (zset)
-- KEYS 2  failed — jobs that did not (zset)
-- KEYS 3  delayed — jobs that wait for a time (zset)
-- KEYS 4  active — jobs that workers have (list)
-- KEYS 5  wait — jobs that may run (list)
-- KEYS 6  paused — the same while the queue is paused (list)
-- KEYS 7  waiting_children — parents that wait for their children (zset)
-- KEYS 8  prioritized — jobs that may run, by priority (zset)
-- ARGV 1  id — the job (text)
-- ARGV 2  row? (unused) — the key of the job's fields (text)
-- RETURNS "completed" — it is there
-- RETURNS "failed" — it is there
-- RETURNS "delayed" — it is there
-- RETURNS "prioritized" — it is there
-- RETURNS "active" — it is there
-- RETURNS "waiting" — it is in wait or in paused: eight keys, seven names
-- RETURNS "waiting-children" — it is there
-- RETURNS "unknown" — it is nowhere
-- CLOCK   none

local completed, failed, delayed = KEYS[1], KEYS[2], KEYS[3]
local active, wait, paused = KEYS[4], KEYS[5], KEYS[6]
local waiting_children, prioritized = KEYS[7], KEYS[8]
local id = ARGV[1]

local function scored_in(place)
  return redis.call('ZSCORE', place, id)
end
local function listed_in(place)
  return redis.call('LPOS', place, id)
end

if scored_in(completed) then return 'completed' end
if scored_in(failed) then return 'failed' end
if scored_in(delayed) then return 'delayed' end
if scored_in(prioritized) then return 'prioritized' end
if listed_in(active) then return 'active' end
if listed_in(wait) or listed_in(paused) then return 'waiting' end
if scored_in(waiting_children) then return 'waiting-children' end
return 'unknown'
