-- Drops what no longer matters: some of it at each sync.

local STEP = 1000    -- how many entries of each kind at most

local function dead(key, past)
  return call('ZRANGEBYSCORE', key, 0, whole(past), 'LIMIT', 0, STEP)
end
local function drop(key, past)
  each(dead(key, past), function(part)
    if key == SESSIONS or key == REVOKED then alter(key) end
    call('ZREM', key, unpack(part))
  end)
end
drop(SESSIONS, r.ended_by)
drop(REVOKED, r.now)
r.any_revoked = call('ZCOUNT', REVOKED, 0, '+inf') > 0
drop(DRAWN, r.now)
drop(LEFT, r.now - $Lately)
if rules.version > 0 then drop(UNTOLD, ago(rules.place)) end
-- When a session was admitted is kept for as long as it lasts. Of those admitted long ago some are
-- looked at, from another place in their order with each millisecond.
local function admitted_before(past)
  local many = call('ZCOUNT', ADMITTED, 0, whole(past))
  local from = math.floor(math.max(0, many - STEP) * (r.now % 1009) / 1008)
  return call('ZRANGEBYSCORE', ADMITTED, 0, whole(past), 'LIMIT', from, STEP)
end
local long_ago = math.min(by_room(r.sessions_now - math.max(rules.duration, rules.maxsession)), ago(rules.place))
each(rules.version > 0 and admitted_before(long_ago) or {}, function(part)
  local ends, gone = call('ZMSCORE', SESSIONS, unpack(part)), {}
  for i, id in ipairs(part) do
    if not ends[i] then table.insert(gone, id) end
  end
  if #gone > 0 then call('ZREM', ADMITTED, unpack(gone)) end
end)

-- Some notes are looked at, whichever they are, and those dropped whose visitors are neither in nor
-- in line. While the room does not know all of these, none is.
if r.has_notes and not r.closed and not settles_at() then
  local ids, gone = call('HRANDFIELD', NOTES, $NotesSwept), {}
  if #ids == 0 then call('HDEL', META, 'notes') end
  local ends = #ids > 0 and call('ZMSCORE', SESSIONS, unpack(ids)) or {}
  for i, id in ipairs(ids) do
    if (tonumber(ends[i]) or 0) <= r.ended_by and not (r.has_line and line.has(id)) then table.insert(gone, id) end
  end
  if #gone > 0 then call('HDEL', NOTES, unpack(gone)) end
end
