-- A worker's heartbeat: its lock runs anew.
-- MOVES   none
-- KEYS 1  lock — the token of the worker that has the job (string)
-- KEYS 2  stalled — the marks of the sweep (set)
-- ARGV 1  token — what the lock must hold (text)
-- ARGV 2  lock_ms — how long from now (integer, ms)
-- ARGV 3  id — the job (text)
-- RETURNS 1 — it runs anew, and the mark is gone
-- RETURNS 0 — no lock, or another's: lost, nothing written
-- CLOCK   the lock runs on the server's

local lock, stalled = KEYS[1], KEYS[2]
local token, lock_ms, id = ARGV[1], ARGV[2], ARGV[3]

-- use extend

if extend(lock, token, id) then return 1 end
return 0
