-- Unpacks MessagePack for fakeredis, whose Lua has no cmsgpack of its own.
-- Of Valkey's module it has what scripts use here: `unpack`, for one packed
-- value. As there, numbers are doubles, nil leaves a gap in an array and no
-- key in a map, binary data and extensions are refused, and a whole number
-- from 2^63 on comes out below zero.

local byte, sub, floor = string.byte, string.sub, math.floor

local function need(text, at, size)
  if at + size - 1 > #text then error('Missing bytes in input.') end
end

-- A big-endian number without a sign, of up to six bytes: exact.
local function unsigned(text, at, size)
  need(text, at, size)
  local number = 0
  for n = at, at + size - 1 do number = number * 256 + byte(text, n) end
  return number
end

-- The same of any size. A number above 2^53 is rounded once, at the end.
local function whole(text, at, size, signed)
  if size == 8 then
    local high = unsigned(text, at, 4)
    if signed and high >= 2 ^ 31 then high = high - 2 ^ 32 end
    return high * 2 ^ 32 + unsigned(text, at + 4, 4)
  end
  local number = unsigned(text, at, size)
  if signed and number >= 2 ^ (8 * size - 1) then
    number = number - 2 ^ (8 * size)
  end
  return number
end

-- The first 16 bits are a sign, the exponent, and the fraction's first
-- bits: 7 of them where the number has four bytes, 4 where it has eight.
local function float(text, at, size)
  local lead = unsigned(text, at, 2)
  local bits = size == 4 and 7 or 4
  local sign = lead >= 2 ^ 15 and -1 or 1
  local exponent = floor(lead % 2 ^ 15 / 2 ^ bits)
  local rest = 8 * (size - 2)
  local fraction = (lead % 2 ^ bits * 2 ^ rest
    + unsigned(text, at + 2, size - 2)) / 2 ^ (bits + rest)
  local highest = 2 ^ (15 - bits) - 1
  local bias = floor(highest / 2)
  if exponent == highest then
    return fraction > 0 and 0 / 0 or sign / 0
  elseif exponent == 0 then
    return sign * fraction * 2 ^ (1 - bias)
  end
  return sign * (1 + fraction) * 2 ^ (exponent - bias)
end

-- Each reader answers the value and where the next one begins.
local value

local function text_of(text, at, size)
  need(text, at, size)
  return sub(text, at, at + size - 1), at + size
end

local function array(text, at, size)
  local items = {}
  for n = 1, size do items[n], at = value(text, at) end
  return items, at
end

local function map(text, at, size)
  local fields = {}
  for _ = 1, size do
    local key
    key, at = value(text, at)
    fields[key], at = value(text, at)
  end
  return fields, at
end

-- What a value's first byte says: a reader and how it is used. A length
-- stands in so many bytes, a number has so many.
local LENGTHS = {
  [0xd9] = {text_of, 1}, [0xda] = {text_of, 2}, [0xdb] = {text_of, 4},
  [0xdc] = {array, 2}, [0xdd] = {array, 4},
  [0xde] = {map, 2}, [0xdf] = {map, 4},
}
local NUMBERS = {
  [0xca] = {float, 4}, [0xcb] = {float, 8},
  [0xcc] = {whole, 1}, [0xcd] = {whole, 2},
  [0xce] = {whole, 4}, [0xcf] = {whole, 8, true},
  [0xd0] = {whole, 1, true}, [0xd1] = {whole, 2, true},
  [0xd2] = {whole, 4, true}, [0xd3] = {whole, 8, true},
}

function value(text, at)
  need(text, at, 1)
  local first = byte(text, at)
  at = at + 1
  if first < 0x80 then return first, at end
  if first < 0x90 then return map(text, at, first - 0x80) end
  if first < 0xa0 then return array(text, at, first - 0x90) end
  if first < 0xc0 then return text_of(text, at, first - 0xa0) end
  if first == 0xc0 then return nil, at end
  if first == 0xc2 then return false, at end
  if first == 0xc3 then return true, at end
  if first >= 0xe0 then return first - 0x100, at end

  local length, number = LENGTHS[first], NUMBERS[first]
  if length then
    local size = unsigned(text, at, length[2])
    return length[1](text, at + length[2], size)
  elseif number then
    return number[1](text, at, number[2], number[3]), at + number[2]
  end
  error('Bad data format in input.')
end

local cmsgpack = {}

function cmsgpack.unpack(text)
  return (value(text, 1))
end

return cmsgpack
