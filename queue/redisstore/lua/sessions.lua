-- What is known of a visitor's session.

-- Sessions go by a clock of their own, which does not pass while they stand still. Their ends
-- are kept by it, so that the end of a hold changes none of them. The field standstill has
-- since when they stand still, 0 if they do not; how far their clock was behind before the
-- holds that are remembered; and of each of these, when it was over and how far the clock was
-- behind then.
local standstill = {0, 0}
if m[8] and #m[8] >= 16 and #m[8] % 16 == 0 then
  standstill = {struct.unpack('>' .. string.rep('d', #m[8] / 8), m[8])}
  table.remove(standstill) -- where the text ends
end

-- r.sessions_now is the moment by which sessions last or have ended, by their clock. While
-- they stand still, since r.stands, it does not pass. r.behind is how far that clock was
-- behind after the last hold that is over, and behind is how far it is now.
local function know_sessions_now()
  r.stands, r.behind = standstill[1], standstill[#standstill]
  r.sessions_now = (r.stands > 0 and math.min(r.now, r.stands) or r.now) - r.behind
end
local function behind() return r.now - r.sessions_now end
know_sessions_now()

-- r.ended_by is the moment, by the clock of the sessions, up to which the slots of sessions that have ended are open. r.looks is when the
-- nodes are next asked what they have reported.
if m[10] and #m[10] == 16 and not forgotten then r.ended_by, r.looks = struct.unpack('>dd', m[10]) end
r.ended_by = math.max(r.ended_by, r.sessions_now - r.slack)

-- by_sessions is a moment by the clock of the sessions, and by_room the opposite.
local function by_sessions(at)
  local by = standstill[2]
  for i = 3, #standstill, 2 do
    if standstill[i] <= at then by = standstill[i + 1] end
  end
  return at - by
end
local function by_room(at)
  local by = standstill[2]
  for i = 3, #standstill, 2 do
    if standstill[i] - standstill[i + 1] <= at then by = standstill[i + 1] end
  end
  return at + by
end

-- let_in is when an id was last let in; nil if the store does not know of it.
local function let_in(id) return tonumber(call('ZSCORE', ADMITTED, id)) end

-- began is when the session of an id began, by the clock of the sessions; nil if the store
-- does not know.
local function began(id)
  local at = let_in(id)
  return at and by_sessions(at)
end

-- UNTOLD has the admissions that nobody was told of, because the answer to the claim was lost:
-- when they were, or a millisecond later once their visitors were told. The field untold has the
-- latest of those who were not told.
r.untold = tonumber(m[12]) or 0
local function note_untold(id, at)
  call('ZADD', UNTOLD, 'GT', whole(at), id)
  touch(UNTOLD)
end

-- note_lost takes in that a claim comes again, because its answer was lost. If it was granted, its
-- visitor was not told: it was if they were admitted in the call that the node made before.
local function note_lost(c, waits)
  if not (waits and r.counted and let_in(c.id) == reported) then return end
  note_untold(c.id, reported)
  if reported > r.untold then
    r.untold = reported
    call('HSET', META, 'untold', whole(reported))
  end
end

-- was_let_in says whether a claimant was admitted after the arrival that is in their ticket, and
-- not only before they went back to their place with it, from a session that was given for a lease.
-- place_used says whether they were told so, too.
local function was_let_in(c)
  local at = let_in(c.id) or -1
  return at >= c.arrived and at > c.accepted
end
local function place_used(c) return was_let_in(c) and tonumber(call('ZSCORE', UNTOLD, c.id)) ~= let_in(c.id) end

-- goes_back says whether the claimant goes back to their place with this claim, from a session that
-- was given for a lease.
local function goes_back(c) return c.accepted > 0 and c.checked_in <= c.accepted end

-- last_moment is when a session ends that began then, however often it was renewed: by the
-- clock of the sessions.
local function last_moment(since)
  return since and rules.maxsession > 0 and since + rules.maxsession or math.huge
end

local function is_revoked(id)
  if not r.any_revoked then return false end
  local ends = tonumber(call('ZSCORE', REVOKED, id))
  return ends and ends > r.now
end
