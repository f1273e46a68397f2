-- A worker gives its lock up; the job stays where it is.
-- MOVES   none
-- KEYS 1  lock — the token of the worker that has the job (string)
-- ARGV 1  token — what the lock must hold (text)
-- ARGV 2  lock_ms? (unused) — how long it would have run (integer, ms)
-- RETURNS 1 — released; a mark of the sweep stays
-- RETURNS 0 — no lock, or another's: nothing written
-- CLOCK   none

local lock = KEYS[1]
local token = ARGV[1]

if redis.call('GET', lock) ~= token then return 0 end

redis.call('DEL', lock)
return 1
