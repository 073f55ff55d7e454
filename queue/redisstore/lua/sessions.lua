-- What is known of a visitor's session.

-- r.sessions_now is the moment by which sessions last or have ended. While they stand still,
-- since r.stands, it does not pass. stood is for how long they have stood still.
r.stands = tonumber(m[8]) or 0
local function know_sessions_now() r.sessions_now = r.stands > 0 and math.min(r.now, r.stands) or r.now end
local function stood() return r.now - r.sessions_now end
know_sessions_now()

-- let_in is when an id was last let in; nil if the store does not know of it.
local function let_in(id) return tonumber(call('ZSCORE', ADMITTED, id)) end

-- place_used says whether an admission has used the place of a claimant, and goes_back whether
-- the claimant goes back to their place with this claim, from a session that was given for a
-- lease: that admission has not used it.
local function place_used(c)
  local at = let_in(c.id) or -1
  return at >= c.arrived and at > c.accepted
end
local function goes_back(c) return c.accepted > 0 and c.checked_in <= c.accepted end

-- last_moment is when a session ends that began then, however often it was renewed.
local function last_moment(since)
  return since and rules.maxsession > 0 and since + rules.maxsession or math.huge
end

local function is_revoked(id)
  if not r.any_revoked then return false end
  local ends = tonumber(call('ZSCORE', REVOKED, id))
  return ends and ends > r.now
end
