-- configured returns the rules of the configuration; nothing if there is none. A key of
-- another type, or one that cannot be read, counts as none: the nodes report the
-- configuration again.
local function configured()
  local packed = redis.pcall('HGET', CONF, 'rules')
  if not packed then return nil end
  if type(packed) ~= 'table' then
    local ok, rules = pcall(cmsgpack.unpack, packed)
    if ok then return rules end
  end
  call('DEL', CONF)
end

-- lifetime is how long the store remembers a room without calls, in milliseconds. It
-- depends on how long the room's sessions and places last.
local function lifetime(duration, place) return math.max(duration, place, 3600000) + 600000 end
