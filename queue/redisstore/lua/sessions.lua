-- What is known of a visitor's session.

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

local function is_revoked(id)
  if not r.any_revoked then return false end
  local ends = tonumber(call('ZSCORE', REVOKED, id))
  return ends and ends > r.now
end
