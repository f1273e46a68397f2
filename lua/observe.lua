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
-- ARGV 7  place_kinds — a letter a place in the order of KEYS: z a zset, l a list (text)
-- ARGV 8  side_kinds — a letter a side key after them: h hash, l list, s set, t string, z zset (text)
-- ARGV 9  naming — how many of the side keys, from the first, name groups (count)
-- ARGV 10 ends — how many members to read at each end of a place (count)
-- ARGV 11 glance — row fields to read of ids that are in view but not captured (words)
-- ARGV 12 dump_members — dump only while the dumped keys hold no more than this; 0 dumps nothing (count)
-- ARGV 13 dump_bytes — and while the dumps together are no longer than this (bytes)
-- ARGV 14 id… — the captured ids (text)
-- RETURNS [time, owner, places, captured, glances, locks, sides, dumps] — arrays, few of them: each one takes time
-- CLOCK   server TIME
local owner = KEYS[1]
local base = ARGV[1]
local row_prefix = ARGV[2]
local lock_suffix = ARGV[3]
local lane_prefix = ARGV[4]
local lane_suffix = ARGV[5]
local lane_field = ARGV[6]
local place_kinds = ARGV[7]
local side_kinds = ARGV[8]
local naming = tonumber(ARGV[9])
local ends = tonumber(ARGV[10])
local glance = ARGV[11]
local dump_members = tonumber(ARGV[12])
local dump_bytes = tonumber(ARGV[13])

-- A window around a captured id, how deep a list or a side key is read, and how many keys one call names.
local AROUND, LIST_DEPTH, SIDE_DEPTH, LOOK = 3, 1000, 100, 1000
local ZSET, LIST, HASH, SET = 122, 108, 104, 115

local call, pcall, byte = redis.call, redis.pcall, string.byte
local row_base = base .. row_prefix

local places_end = 1 + #place_kinds
local sides_end = places_end + #side_kinds
local place_keys, side_keys, dump_keys = {}, {}, {}
for index = 2, #KEYS do
  local key = KEYS[index]
  if index <= places_end then
    place_keys[#place_keys + 1] = key
  elseif index <= sides_end then
    side_keys[#side_keys + 1] = key
  else
    dump_keys[#dump_keys + 1] = key
  end
end

-- Every captured id with its row, read whole, and the places that hold it.
local ids, captured, in_view, seen, position = {}, {}, {}, {}, {}
local groups, is_group = {}, {}
local function add_group(group)
  if not is_group[group] then
    is_group[group] = true
    groups[#groups + 1] = group
  end
end
for index = 14, #ARGV do
  local id = ARGV[index]
  ids[#ids + 1] = id
  in_view[#in_view + 1] = id
  seen[id] = true
  position[id] = #ids
  local fields = pcall('HGETALL', row_base .. id)
  if fields.err then fields = {} end
  captured[#captured + 1] = { id, fields }
  if lane_prefix ~= '' then
    for at = 1, #fields, 2 do
      if fields[at] == lane_field then add_group(fields[at + 1]) end
    end
  end
end

-- Other ids in view, one after the other: the id, a mark, and a glance at its row.
local glances, glance_fields = {}
local function glance_at(id)
  if not glance_fields then
    glance_fields = {}
    for field in string.gmatch(glance, '%S+') do glance_fields[#glance_fields + 1] = field end
  end
  local values = #glance_fields > 0 and pcall('HMGET', row_base .. id, unpack(glance_fields)) or {}
  local mark = 0
  if not values.err and not values[1] and call('EXISTS', row_base .. id) == 1 then mark = 2 end
  in_view[#in_view + 1] = id
  local last = #glances + 2
  glances[last - 1], glances[last] = id, mark
  for at = 1, #glance_fields do glances[last + at] = values[at] or false end
end

local function notice(members, stride)
  for at = 1, #members, stride do
    local id = members[at]
    if not seen[id] then
      seen[id] = true
      glance_at(id)
    end
  end
end

-- Side keys: their size and what they hold, nothing where they hold more than SIDE_DEPTH.
local sides = {}
local function read_side(key, kind)
  local size, held
  if kind == HASH then
    size = pcall('HLEN', key)
    held = type(size) == 'number' and size > 0 and size <= SIDE_DEPTH and call('HGETALL', key) or {}
  elseif kind == LIST then
    size = pcall('LLEN', key)
    held = type(size) == 'number' and size > 0 and call('LRANGE', key, 0, SIDE_DEPTH - 1) or {}
  elseif kind == SET then
    size = pcall('SCARD', key)
    held = type(size) == 'number' and size > 0 and size <= SIDE_DEPTH and call('SMEMBERS', key) or {}
  elseif kind == ZSET then
    size = pcall('ZCARD', key)
    held = type(size) == 'number' and size > 0 and call('ZRANGE', key, 0, SIDE_DEPTH - 1, 'WITHSCORES') or {}
  else
    local text = pcall('GET', key)
    size = text and 1 or 0
    held = text and { text, call('PEXPIRETIME', key) } or {}
  end
  if type(size) ~= 'number' then return { -1 } end
  return { size, held }
end
if #side_keys > 0 and call('EXISTS', unpack(side_keys)) > 0 then
  for index, key in ipairs(side_keys) do
    local kind = byte(side_kinds, index)
    local side = read_side(key, kind)
    sides[index] = side
    if index <= naming and side[2] then
      for at = 1, #side[2], kind == HASH and 2 or 1 do add_group(side[2][at]) end
    end
  end
end

-- A place: its key, its size, another type if it has one, and segments of members, each after its first rank.
local places = {}
local function read_zset(key, entry)
  local count = pcall('ZCARD', key)
  if type(count) ~= 'number' then return false end
  entry[2] = count
  if count == 0 then return true end
  local cut = count > 2 * ends
  local head = call('ZRANGE', key, 0, cut and ends - 1 or -1, 'WITHSCORES')
  entry[4], entry[5] = 0, head
  notice(head, 2)
  if cut then
    local tail = call('ZRANGE', key, -ends, -1, 'WITHSCORES')
    entry[6], entry[7] = count - ends, tail
    notice(tail, 2)
  else
    -- All of it is in view: no captured id has to be asked for.
    for at = 1, #head, 2 do
      local index = position[head[at]]
      if index then
        local found = captured[index]
        found[#found + 1] = key
      end
    end
    return true
  end
  for index, id in ipairs(ids) do
    local rank = call('ZRANK', key, id)
    if rank then
      local found = captured[index]
      found[#found + 1] = key
      if rank >= ends and rank < count - ends then
        local first = math.max(rank - AROUND, 0)
        local window = call('ZRANGE', key, first, rank + AROUND, 'WITHSCORES')
        local last = #entry
        entry[last + 1], entry[last + 2] = first, window
        notice(window, 2)
      end
    end
  end
  return true
end

local function read_list(key, entry)
  local count = pcall('LLEN', key)
  if type(count) ~= 'number' then return false end
  entry[2] = count
  if count == 0 then return true end
  local cut = count > 2 * ends
  local head = call('LRANGE', key, 0, cut and ends - 1 or -1)
  entry[4], entry[5] = 0, head
  notice(head, 1)
  if cut then
    local tail = call('LRANGE', key, -ends, -1)
    entry[6], entry[7] = count - ends, tail
    notice(tail, 1)
  end
  for index, id in ipairs(ids) do
    local rank = call('LPOS', key, id, 'MAXLEN', LIST_DEPTH)
    if not rank and count > LIST_DEPTH then
      rank = call('LPOS', key, id, 'RANK', -1, 'MAXLEN', LIST_DEPTH)
    end
    if rank then
      local found = captured[index]
      found[#found + 1] = key
      if cut and rank >= ends and rank < count - ends then
        local first = math.max(rank - AROUND, 0)
        local window = call('LRANGE', key, first, rank + AROUND)
        local last = #entry
        entry[last + 1], entry[last + 2] = first, window
        notice(window, 1)
      end
    end
  end
  return true
end

local function read_place(key, kind)
  local entry = { key, 0, '' }
  local reader = kind == LIST and read_list or read_zset
  if not reader(key, entry) then entry[3] = call('TYPE', key).ok end
  places[#places + 1] = entry
end
for index, key in ipairs(place_keys) do read_place(key, byte(place_kinds, index)) end
for _, group in ipairs(groups) do read_place(base .. lane_prefix .. group .. lane_suffix, ZSET) end

-- Locks are few: one look at a thousand rows' keys tells whether there is any.
local locks = {}
if lock_suffix ~= '' then
  for first = 1, #in_view, LOOK do
    local keys = {}
    for index = first, math.min(first + LOOK - 1, #in_view) do
      keys[#keys + 1] = row_base .. in_view[index] .. lock_suffix
    end
    if call('EXISTS', unpack(keys)) > 0 then
      for at, key in ipairs(keys) do
        local token = pcall('GET', key)
        if type(token) == 'string' then
          locks[#locks + 1] = { in_view[first + at - 1], token, call('PEXPIRETIME', key) }
        end
      end
    end
  end
end

-- Dumps, for going back: none at all where they would be large.
local SIZE = { zset = 'ZCARD', list = 'LLEN', hash = 'HLEN', set = 'SCARD' }
local dumps, members, bytes = {}, 0, 0
if dump_members > 0 then
  for _, key in ipairs(dump_keys) do
    local sizer = SIZE[call('TYPE', key).ok]
    if sizer then members = members + call(sizer, key) end
  end
  if members > dump_members then
    dumps = members
  else
    for _, key in ipairs(dump_keys) do
      local held = call('DUMP', key)
      if held then
        bytes = bytes + #held
        dumps[#dumps + 1] = { key, held, call('PEXPIRETIME', key) }
      end
      if bytes > dump_bytes then
        dumps = -bytes
        break
      end
    end
  end
end

return { call('TIME'), call('GET', owner), places, captured, glances, locks, sides, dumps }
