-- Drops what can matter no more, some of it at each sync.

local STEP = 1000    -- how many entries of each kind at most
local RECENT = 10000 -- how long goodbyes are told of

local function dead(key, past)
  return call('ZRANGEBYSCORE', key, '-inf', whole(past), 'LIMIT', 0, STEP)
end
local function drop(key, past)
  each(dead(key, past), function(part) call('ZREM', key, unpack(part)) end)
end
r.lasting = false -- as a key goes with the last of what it has
drop(SESSIONS, r.now - r.slack)
drop(REVOKED, r.now)
r.any_revoked = call('EXISTS', REVOKED) == 1
drop(DRAWN, r.now)
drop(LEFT, r.now - RECENT)
-- In small rooms it is known of everyone who is in since when.
local past = dead(ADMITTED, r.now - math.max(limits.place, limits.duration))
each(past, function(part)
  local ends = limits.total < STEP and #past < STEP and call('ZMSCORE', SESSIONS, unpack(part)) or {}
  local gone = {}
  for i, id in ipairs(part) do
    if not ends[i] then table.insert(gone, id) end
  end
  if #gone > 0 then call('ZREM', ADMITTED, unpack(gone)) end
end)
