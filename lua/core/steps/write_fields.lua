-- What the worker tells of this attempt: name, value, name, value …
if fields and fields ~= '' then
  redis.call('HSET', row, unpack(cmsgpack.unpack(fields)))
end
