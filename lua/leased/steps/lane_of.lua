-- A grouped job waits in its group's lane, not in `pending`.
local function lane_of(group)
  return base .. 'g:' .. group .. ':pending'
end
