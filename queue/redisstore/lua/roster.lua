-- Returns who is in the room and who is in its exact line: those asked for, or else the
-- sessions that end first and the first in line. It changes nothing.

local asked, SEATS, WAITERS, ids = number(), number(), number(), {}
for i = 1, asked do ids[i] = text() end

-- seats returns the sessions that hold slots, and when each was admitted, as far as that
-- is known.
local function seats()
  if asked == 0 then ids = call('ZRANGEBYSCORE', SESSIONS, '(' .. whole(r.ended_by), '+inf', 'LIMIT', 0, SEATS) end
  local list = {}
  each(ids, function(part)
    local ends, since, said = call('ZMSCORE', SESSIONS, unpack(part)), call('ZMSCORE', ADMITTED, unpack(part)), notes_of(part)
    for i, id in ipairs(part) do
      if ends[i] and tonumber(ends[i]) > r.ended_by and not is_revoked(id) then
        table.insert(list, {id, whole(ends[i] + behind()), since[i] and whole(by_sessions(tonumber(since[i])) + r.behind) or 0, said[id] or ''})
      end
    end
  end)
  return list
end

local function asked_for()
  local places = {}
  for _, id in ipairs(ids) do
    local text = call('HGET', PLACES, line.member_of(id))
    local p = text and line.read(line.member_of(id), text)
    if p and p.ends > r.now then table.insert(places, p) end
  end
  return places
end

local function places()
  local list = {}
  if not r.has_line then return list end
  open_line()
  local waiters, named = asked > 0 and asked_for() or line.first(WAITERS), {}
  for i, p in ipairs(waiters) do named[i] = p.member .. p.rest end
  local said = notes_of(named)
  for i, p in ipairs(waiters) do
    list[i] = {named[i], line.number_of(p), p.priority, line.ahead(p), length(), whole(p.ends), said[named[i]] or ''}
  end
  return list
end

local waiters = places()
return {now, seats(), waiters, whole(ago(rules.dropout))}
