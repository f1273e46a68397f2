-- When the job may run: after a delay, or at the instant given.
local function due_at_ms()
  if mode == 'in' then return now_ms() + ms end
  return tonumber(ms)
end
