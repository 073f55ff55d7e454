-- rules are what the room goes by, as rules in document.go lists them: read at the
-- beginning of a call. No slots are open before the first configuration.
local rules

-- filled_in gives rules the fields that they lack: a gate of an earlier version, which does
-- not know all of them, may have written the rules.
local function filled_in(given)
  for name, default in pairs($DefaultRules) do
    if given[name] == nil then given[name] = default end
  end
  return given
end

-- configured returns the rules of the configuration; nothing if there is none. A key of
-- another type, or one that cannot be read, counts as none: the nodes report the
-- configuration again.
local function configured()
  local packed = redis.pcall('HGET', CONF, 'rules')
  if not packed then return nil end
  if type(packed) ~= 'table' then
    local ok, stored = pcall(cmsgpack.unpack, packed)
    if ok and type(stored) == 'table' then return filled_in(stored) end
  end
  call('DEL', CONF)
end

local function load_rules(stored) rules = stored or filled_in({}) end

-- lifetime is how long the store remembers a room without calls, in milliseconds. It
-- depends on how long the room's sessions and places last. An exact line outlives that no gate runs.
local function lifetime(of)
  local line = of.method == 'line' and not of.fleeting and $LineKept or 0
  return math.max(of.duration, of.maxsession, of.place, of.dropout, $NodeRemembered, line) + $RoomKept
end
