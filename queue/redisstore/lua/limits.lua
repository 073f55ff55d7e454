-- configured is what calls read of the configuration, nothing if there is none. A key
-- of another type, or what cannot be read, is none: the nodes tell the configuration again.
local function configured()
  local packed = redis.pcall('HGET', CONF, 'rules')
  if not packed then return nil end
  if type(packed) ~= 'table' then
    local ok, rules = pcall(cmsgpack.unpack, packed)
    if ok then return rules end
  end
  call('DEL', CONF)
end

-- lifetime is how long a room without calls is remembered, in milliseconds, by
-- how long its sessions and places last.
local function lifetime(duration, place) return math.max(duration, place, 3600000) + 600000 end
