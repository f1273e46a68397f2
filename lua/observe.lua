-- Reads every place, the captured ids, the rows in view and the clock as one consistent picture.
-- MOVES   none
-- KEYS 1  owner — who drives this queue on a shared server (string)
-- KEYS 2  key… — the places, then the side keys, then the keys to dump (any type)
-- ARGV 1  base — what every key of the queue starts with (text)
-- ARGV 2  row_prefix — what stands between base and id in a row's key (text)
-- ARGV 3  lock_suffix — what a lock's key adds to its row's, empty for none (text)
-- ARGV 4  lane_prefix — how a lane's key starts after base, empty for no lanes (text)
-- ARGV 5  lane_suffix — how it ends (text)
-- ARGV 6  lane_field — the row field that names the group (text)
-- ARGV 7  kinds — the places' types, zset or list, in the order of KEYS (words)
-- ARGV 8  sides — how many side keys follow the places (count)
-- ARGV 9  naming — how many of the side keys, from the first, name groups (count)
-- ARGV 10 ends — how many members to read at each end of a place (count)
-- ARGV 11 glance — row fields to read of ids that are in view but not captured (words)
-- ARGV 12 dump_members — dump only while the dumped keys hold no more than this; 0 dumps nothing (count)
-- ARGV 13 dump_bytes — and while the dumps together are no longer than this (bytes)
-- ARGV 14 id… — the captured ids (text)
-- RETURNS [seconds, microseconds, owner, places, memberships, rows, sides, dumps] — arrays all the way down
-- CLOCK   server TIME
local owner = KEYS[1]
local base = ARGV[1]
local row_prefix = ARGV[2]
local lock_suffix = ARGV[3]
local lane_prefix = ARGV[4]
local lane_suffix = ARGV[5]
local lane_field = ARGV[6]
local kinds = ARGV[7]
local sides = tonumber(ARGV[8])
local naming = tonumber(ARGV[9])
local ends = tonumber(ARGV[10])
local glance = ARGV[11]
local dump_members = tonumber(ARGV[12])
local dump_bytes = tonumber(ARGV[13])

-- A window around a captured id, and how deep a list or a side key is read.
local AROUND, LIST_DEPTH, SIDE_DEPTH = 3, 1000, 100

local kind_of_place, glance_fields = {}, {}
for kind in string.gmatch(kinds, '%S+') do kind_of_place[#kind_of_place + 1] = kind end
for field in string.gmatch(glance, '%S+') do glance_fields[#glance_fields + 1] = field end

local place_keys, side_keys, dump_keys = {}, {}, {}
for index = 2, #KEYS do
  local key = KEYS[index]
  if #place_keys < #kind_of_place then
    place_keys[#place_keys + 1] = key
  elseif #side_keys < sides then
    side_keys[#side_keys + 1] = key
  else
    dump_keys[#dump_keys + 1] = key
  end
end

local captured, is_captured = {}, {}
for index = 14, #ARGV do
  local id = ARGV[index]
  captured[#captured + 1] = id
  is_captured[id] = true
end

local function type_of(key)
  return redis.call('TYPE', key).ok
end

-- Side keys: type, size and what they hold, cut at SIDE_DEPTH.
local function read_side(key)
  local kind = type_of(key)
  if kind == 'none' then return { kind, 0, {} } end
  if kind == 'string' then return { kind, 1, { redis.call('GET', key) } } end
  if kind == 'list' then
    return { kind, redis.call('LLEN', key), redis.call('LRANGE', key, 0, SIDE_DEPTH - 1) }
  end
  if kind == 'zset' then
    return { kind, redis.call('ZCARD', key), redis.call('ZRANGE', key, 0, SIDE_DEPTH - 1, 'WITHSCORES') }
  end
  local size, held
  if kind == 'hash' then
    size = redis.call('HLEN', key)
    held = size <= SIDE_DEPTH and redis.call('HGETALL', key) or {}
  elseif kind == 'set' then
    size = redis.call('SCARD', key)
    held = size <= SIDE_DEPTH and redis.call('SMEMBERS', key) or {}
  else
    size, held = 0, {}
  end
  return { kind, size, held }
end

local side_readings, groups, is_group = {}, {}, {}
local function add_group(group)
  if group and not is_group[group] then
    is_group[group] = true
    groups[#groups + 1] = group
  end
end
for index, key in ipairs(side_keys) do
  local reading = read_side(key)
  side_readings[index] = reading
  if index <= naming then
    local stride = reading[1] == 'hash' and 2 or 1
    for at = 1, #reading[3], stride do add_group(reading[3][at]) end
  end
end

-- Rows of the captured ids are read whole; they may name lanes that nothing else names.
local rows = {}
local function read_row(id)
  local key = base .. row_prefix .. id
  local entry = { id, is_captured[id] and 1 or 0, {}, false, 0 }
  if is_captured[id] then
    local fields = redis.pcall('HGETALL', key)
    if fields.err then fields = {} end
    entry[3] = fields
    if lane_prefix ~= '' then
      for at = 1, #fields, 2 do
        if fields[at] == lane_field then add_group(fields[at + 1]) end
      end
    end
  elseif #glance_fields > 0 then
    local values = redis.pcall('HMGET', key, unpack(glance_fields))
    if values.err then values = {} end
    local held = {}
    for at, field in ipairs(glance_fields) do
      if values[at] then
        held[#held + 1] = field
        held[#held + 1] = values[at]
      end
    end
    -- A row may live without any of the glance fields.
    if #held == 0 and redis.call('EXISTS', key) == 1 then entry[2] = 2 end
    entry[3] = held
  end
  if lock_suffix ~= '' then
    local token = redis.pcall('GET', key .. lock_suffix)
    if type(token) == 'string' then
      entry[4] = token
      entry[5] = redis.call('PTTL', key .. lock_suffix)
    end
  end
  rows[#rows + 1] = entry
end
for _, id in ipairs(captured) do read_row(id) end

local seen = {}
for _, id in ipairs(captured) do seen[id] = true end

local function notice(members, stride)
  for at = 1, #members, stride do
    local id = members[at]
    if not seen[id] then
      seen[id] = true
      read_row(id)
    end
  end
end

local memberships = {}
for index, id in ipairs(captured) do memberships[index] = { id } end

-- A place: its name's key, its size, a wrong type if it has one, and segments of members with their first rank.
local places = {}
local function read_zset(key, entry)
  local count = redis.pcall('ZCARD', key)
  if type(count) ~= 'number' then return false end
  entry[2] = count
  if count == 0 then return true end
  local last = count > 2 * ends and ends - 1 or -1
  local head = redis.call('ZRANGE', key, 0, last, 'WITHSCORES')
  entry[#entry + 1] = { 0, head }
  notice(head, 2)
  if last ~= -1 then
    local tail = redis.call('ZRANGE', key, -ends, -1, 'WITHSCORES')
    entry[#entry + 1] = { count - ends, tail }
    notice(tail, 2)
  end
  for index, id in ipairs(captured) do
    local rank = redis.call('ZRANK', key, id)
    if rank then
      local found = memberships[index]
      found[#found + 1] = entry[1]
      if last ~= -1 and rank >= ends and rank < count - ends then
        local first = math.max(rank - AROUND, 0)
        local window = redis.call('ZRANGE', key, first, rank + AROUND, 'WITHSCORES')
        entry[#entry + 1] = { first, window }
        notice(window, 2)
      end
    end
  end
  return true
end

local function read_list(key, entry)
  local count = redis.pcall('LLEN', key)
  if type(count) ~= 'number' then return false end
  entry[2] = count
  if count == 0 then return true end
  local last = count > 2 * ends and ends - 1 or -1
  local head = redis.call('LRANGE', key, 0, last)
  entry[#entry + 1] = { 0, head }
  notice(head, 1)
  if last ~= -1 then
    local tail = redis.call('LRANGE', key, -ends, -1)
    entry[#entry + 1] = { count - ends, tail }
    notice(tail, 1)
  end
  for index, id in ipairs(captured) do
    local rank = redis.call('LPOS', key, id, 'MAXLEN', LIST_DEPTH)
    if not rank and count > LIST_DEPTH then
      rank = redis.call('LPOS', key, id, 'RANK', -1, 'MAXLEN', LIST_DEPTH)
    end
    if rank then
      local found = memberships[index]
      found[#found + 1] = entry[1]
      if last ~= -1 and rank >= ends and rank < count - ends then
        local first = math.max(rank - AROUND, 0)
        local window = redis.call('LRANGE', key, first, rank + AROUND)
        entry[#entry + 1] = { first, window }
        notice(window, 1)
      end
    end
  end
  return true
end

local function read_place(key, kind)
  local entry = { key, 0, '' }
  local reader = kind == 'list' and read_list or read_zset
  if not reader(key, entry) then entry[3] = type_of(key) end
  places[#places + 1] = entry
end
for index, key in ipairs(place_keys) do read_place(key, kind_of_place[index]) end
if lane_prefix ~= '' then
  for _, group in ipairs(groups) do read_place(base .. lane_prefix .. group .. lane_suffix, 'zset') end
end

-- Dumps, for going back: none at all where they would be large.
local SIZE = { zset = 'ZCARD', list = 'LLEN', hash = 'HLEN', set = 'SCARD' }
local dumps, members, bytes = {}, 0, 0
if dump_members > 0 then
  for _, key in ipairs(dump_keys) do
    local sizer = SIZE[type_of(key)]
    if sizer then members = members + redis.call(sizer, key) end
  end
  if members > dump_members then
    dumps = members
  else
    for _, key in ipairs(dump_keys) do
      local held = redis.call('DUMP', key)
      if held then
        bytes = bytes + #held
        dumps[#dumps + 1] = { key, held, redis.call('PEXPIRETIME', key) }
      else
        dumps[#dumps + 1] = { key }
      end
      if bytes > dump_bytes then
        dumps = -bytes
        break
      end
    end
  end
end

local time = redis.call('TIME')
return {
  time[1], time[2], redis.call('GET', owner), places, memberships, rows, side_readings, dumps,
}
