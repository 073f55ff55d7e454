-- Claims in a room with an exact line. Each claim is a check-in there.

-- returning_number returns the number that a claimant who is not in line has a right
-- to, or nothing. It is the number in their ticket, if the line has lost them or did not
-- wait for their first check-in, or the visitor goes back to their place. A ticket without a number has a reserved one if its
-- visitor arrived before the line began. The last check-in of such a ticket may be later
-- than that: nodes learn of the line a little late.
local function returning_number(c, waits)
  local back = goes_back(c)
  if not waits or not back and c.checked_in + rules.dropout <= r.now or place_used(c) then return end
  if c.number > 0 and (c.checked_in < r.since or c.checked_in <= c.arrived or back) then return c.number end
  if c.number == 0 and c.arrived < r.began and r.top > r.floor then return math.max(r.floor + 1, r.top - (r.began - c.arrived)) end
end

-- check_in finds the place of a claimant, or gives them one. It returns whether they are
-- let in, and their place; of one who is let in, only its number and priority. Everybody in front is ahead of a visitor whose place
-- is not confirmed; of others, only those in front whose places are confirmed are ahead.
function line.check_in(c, waits)
  local p, joined = find(c.id), false
  if not p then
    p = {member = line.member_of(c.id), rest = string.sub(c.id, 9), priority = c.priority, number = returning_number(c, waits)}
    if not p.number and c.no_place then return not c.no_slot and open_slots() > length() end
    joined = not p.number
    p.unconfirmed = joined and not waits
    p.number = p.number or r.given + 1
    r.given = math.max(r.given, p.number)
    insert(p)
  else
    if c.raise and c.priority > p.priority then prefer(p, c.priority) end
    line.confirm(p)
  end
  local ahead, open = line.ahead(p), c.no_slot and 0 or open_slots()
  if open > ahead or not p.unconfirmed and open > math.max(0, ahead - r.unconfirmed) and open > ahead - line.unconfirmed_ahead(p) then
    line.number_of(p)
    take_out(p)
    return true, struct.pack('>ddddB', p.number, p.priority, 0, 0, 0)
  end
  local before = p.ends
  p.ends = r.now + line.keeps(p)
  if not before or p.ends < before then enlist(p) end
  keep(p)
  return false, struct.pack('>ddddB', line.number_of(p), p.priority, ahead, length(), joined and 1 or 0)
end

-- remove takes an id out of line, if it is there.
function line.remove(id)
  local p = find(id)
  if p then take_out(p) end
end
