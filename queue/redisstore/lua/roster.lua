-- Returns who is in the room and who is in its exact line: those asked for, or else the
-- sessions that end first and the first in line, and the ids of others. It changes nothing.

local MOST, MORE = $MaxRoster, $MaxMore
local asked, ids = number(), {}
for i = 1, asked do ids[i] = text() end

-- split parts the ids of all into those of whom everything is told, and the others.
local function split(all)
  if #all <= MOST then return all, {} end
  local more = {}
  for i = MOST + 1, #all do more[i - MOST] = all[i] end
  return {unpack(all, 1, MOST)}, more
end

-- seats returns the sessions that hold slots, and when each was admitted, as far as that
-- is known.
local function seats()
  local list, more = {}, {}
  if asked == 0 then
    ids = call('ZRANGEBYSCORE', SESSIONS, '(' .. whole(r.ended_by), '+inf', 'LIMIT', 0, MOST + MORE)
    ids, more = split(ids)
  end
  each(ids, function(part)
    local ends, since, said = call('ZMSCORE', SESSIONS, unpack(part)), call('ZMSCORE', ADMITTED, unpack(part)), notes_of(part)
    for i, id in ipairs(part) do
      if ends[i] and tonumber(ends[i]) > r.ended_by and not is_revoked(id) then
        table.insert(list, {id, whole(ends[i] + behind()), since[i] and whole(by_sessions(tonumber(since[i])) + r.behind) or 0, said[id] or ''})
      end
    end
  end)
  return list, more
end

-- first_in_line returns the places of the first, and the ids of others.
local function first_in_line()
  local first, others = split(line.members(MOST + MORE))
  local more = {}
  each(others, function(part)
    for i, text in ipairs(call('HMGET', PLACES, unpack(part))) do table.insert(more, part[i] .. line.rest_of(text)) end
  end)
  return (line.places(first)), more
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
  local list, more = {}, {}
  if not r.has_line then return list, more end
  open_line()
  local waiters, named = {}, {}
  if asked > 0 then waiters = asked_for() else waiters, more = first_in_line() end
  for i, p in ipairs(waiters) do named[i] = p.member .. p.rest end
  local said = notes_of(named)
  for i, p in ipairs(waiters) do
    list[i] = {named[i], line.number_of(p), p.priority, line.ahead(p), length(), whole(p.ends), said[named[i]] or ''}
  end
  return list, more
end

local waiters, more_wait = places()
local seated, more_seated = seats()
return {now, seated, waiters, whole(ago(rules.dropout)), more_seated, more_wait}
