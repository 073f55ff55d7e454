-- Claims in a room with an exact line. Each claim is a check-in there.

-- returning_number returns the number, and the priority, that a claimant who is not in line has
-- a right to, or nothing. They are those with which the visitor said goodbye, or else those in
-- their ticket: the line may have lost them, or not have heard of their last check-in. A ticket
-- without a number has a reserved one if its visitor arrived before the line began.
local function returning_number(c, waits, absent)
  if not waits or place_used(c) then return end
  if absent then return absent.number, absent.priority end
  if not goes_back(c) and c.checked_in <= ago(c.number > 0 and rules.dropout or rules.unnumbered) then return end
  if c.number > 0 then return c.number end
  if c.arrived < r.began and r.top > r.floor then return math.max(r.floor + 1, r.top - (r.began - c.arrived)) end
end

-- check_in finds the place of a claimant, or gives them one. It returns whether they are
-- let in, and the place of one who is not. Everybody in front is ahead of a visitor whose place
-- is not confirmed; of others, only those in front whose places are confirmed are ahead.
function line.check_in(c, waits)
  local p, absent = find(c.id)
  local joined = false
  if not p then
    local number, priority = returning_number(c, waits, absent)
    if not number then forget_note(c.id) end
    if not number and c.no_place then return not c.no_slot and open_slots() > length() end
    joined = not number
    p = {member = line.member_of(c.id), rest = string.sub(c.id, 9), priority = priority or c.priority, number = number or r.given + 1, unconfirmed = joined and not waits}
    if joined then r.given = p.number else hear_number(p.number) end
    insert(p)
  end
  forget(nil, absent)
  if not joined then
    if c.raise and c.priority > p.priority then prefer(p, c.priority) end
    line.confirm(p)
  end
  local ahead, open = line.ahead(p), c.no_slot and 0 or open_slots()
  if open > ahead or not p.unconfirmed and open > math.max(0, ahead - r.unconfirmed) and open > ahead - line.unconfirmed_ahead(p) then
    line.number_of(p)
    take_out(p)
    return true
  end
  local before = p.ends
  p.ends = r.now + line.keeps(p)
  if not before or p.ends < before then enlist(p) end
  keep(p)
  return false, struct.pack('>ddddB', line.number_of(p), p.priority, ahead, length(), joined and 1 or 0)
end

-- remove takes an id out of line, if it is there.
function line.remove(id)
  forget(find(id))
end
