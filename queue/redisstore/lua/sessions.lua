-- What is known of a visitor's session.

-- let_in is when an id was last let in; nil if the store does not know of it.
local function let_in(id) return tonumber(call('ZSCORE', ADMITTED, id)) end

local function is_revoked(id)
  if not r.any_revoked then return false end
  local ends = tonumber(call('ZSCORE', REVOKED, id))
  return ends and ends > r.now
end
