-- What the lanes share: whose turn it is, and who may have one.
local ring, wake = base .. 'ring', base .. 'wake'
local paused, glimit = base .. 'paused', base .. 'glimit'
local gactive = base .. 'gactive'
