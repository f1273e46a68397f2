-- What the worker tells of this attempt: name, value, name, value …
-- An empty text is as good as none.
if fields and fields ~= '' then
  redis.call('HSET', row, unpack(cmsgpack.unpack(fields)))
end
