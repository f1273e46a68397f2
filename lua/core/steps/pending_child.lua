-- A child: its parent has one more to wait for.
if dependencies then redis.call('SADD', dependencies, row) end
