-- Claims in a room with an exact line: each is a check-in there.

local function details(packed)
  local c, flags = {}, nil
  c.arrived, c.checked_in, c.number, c.priority, flags = struct.unpack('>I6I6I6i2B', packed)
  c.raise, c.no_slot, c.no_place = flags % 2 == 1, math.floor(flags / 2) % 2 == 1, flags >= 4
  return c
end

-- taken_up is the number at which somebody who is not in line is taken up again:
-- that of their ticket, if the line has lost them; or one by when they arrived, if
-- they waited before there was a line. Nodes learn of it a little late, and may
-- have checked them in without one. at is when the id was last let in.
local function taken_up(waits, at, c)
  if not waits or c.checked_in + dropout <= now or at and at >= c.arrived then return end
  if c.number > 0 and c.checked_in < since then return c.number end
  if c.number == 0 and c.arrived < began and top > floor then return math.max(floor + 1, top - (began - c.arrived)) end
end

-- in_line finds the place of a claimant, or gives them one, and says whether they
-- are let in; if not, where they stand.
function in_line(id, waits, at, packed)
  local p, c, joined = find(id), details(packed), false
  if not p then
    p = {member = member_of(id), rest = string.sub(id, 9), priority = c.priority, number = taken_up(waits, at, c)}
    if not p.number and c.no_place then return not c.no_slot and open_slots() > length() end
    joined = not p.number
    p.number = p.number or given + 1
    given = math.max(given, p.number)
    stand(p)
  elseif c.raise and c.priority > p.priority then
    prefer(p, c.priority)
  end
  local ahead = ahead_in_line(p)
  if not c.no_slot and open_slots() > ahead then
    take_out(p)
    return true
  end
  local before = p.ends
  p.ends = now + dropout
  if not before then touch(PLACES) end
  if not before or p.ends < before then enlist(p) end
  keep(p)
  return false, {number_of(p), p.priority, ahead, length(), joined and 1 or 0}
end

-- give_up takes whoever is let in without their place, or banned, out of line.
function give_up(id)
  local p = find(id)
  if p then take_out(p) end
end
