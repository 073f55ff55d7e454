-- LIMITS is the form of what calls read of the configuration, each number and text
-- after the other; see state.lua.
local LIMITS = '>ddddddddbbddss'

-- configured is that, false if there is none. A key of another type is none: the
-- nodes tell the configuration again.
local function configured()
  local packed = redis.pcall('HGET', CONF, 'limits')
  if type(packed) ~= 'table' then return packed end
  call('DEL', CONF)
  return false
end

-- lifetime is how long a room without calls is remembered, in milliseconds, by
-- how long its sessions and places last.
local function lifetime(duration, place) return math.max(duration, place, 3600000) + 600000 end
