-- A worker's heartbeat for several jobs: their locks run anew.
-- MOVES   none
-- KEYS 1  stalled — the marks of the sweep (set)
-- ARGV 1  base — every key of the queue begins with this (text)
-- ARGV 2  tokens — what each lock must hold (msgpack array)
-- ARGV 3  ids — the jobs, in the same order (msgpack array)
-- ARGV 4  lock_ms — how long from now (integer, ms)
-- RETURNS [id, …] — those lost: no lock, or another's
-- CLOCK   the locks run on the server's

local stalled = KEYS[1]
local base, tokens, ids, lock_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- use extend

local token_of = cmsgpack.unpack(tokens)
local lost = {}
for n, id in ipairs(cmsgpack.unpack(ids)) do
  if not extend(base .. id .. ':lock', token_of[n], id) then
    table.insert(lost, id)
  end
end
return lost
