-- Where jobs wait for a worker: a paused queue has a list of its own.
local function waiting_list()
  if redis.call('HEXISTS', meta, 'paused') == 1 then return paused end
  return wait
end
