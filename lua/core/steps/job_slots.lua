-- The nine slots of the packed array, by name. The last two, the keys
-- of a repeating and of a deduplicated job, are not read here.
local slots = cmsgpack.unpack(job)
local base, custom_id, name = slots[1], slots[2], slots[3]
local timestamp_ms = slots[4]
local parent_row, dependencies = slots[5], slots[6]
local parent = slots[7]
local options = cmsgpack.unpack(opts)
