-- Claims in a room with an exact line: each is a check-in there.

local NEWCOMER = '0'

local function details(packed)
  local c, flags = {}, nil
  c.arrived, c.checked_in, c.number, c.priority, flags = struct.unpack('>I6I6I6i2B', packed)
  c.raise, c.no_slot, c.no_place = flags % 2 == 1, math.floor(flags / 2) % 2 == 1, flags >= 4
  return c
end

-- taken_up is the number that a place of before this memory is taken up at. at is
-- when the id was last let in.
local function taken_up(bucket, at, c)
  if bucket == NEWCOMER or c.checked_in >= began or c.checked_in + dropout <= now or at and at >= c.arrived then return end
  if c.number > 0 then return c.number end
  if top > floor then return math.max(floor + 1, top - (began - c.arrived)) end
end

-- enter puts somebody new in line.
local function enter(p)
  stand(p)
  enlist(p)
  touch(PLACES)
end

local function place_of(p, ahead) return {p.number, p.priority, ahead, length(), p.joined and 1 or 0} end

-- in_line finds the place of a claimant, or gives them one, and says whether they
-- are let in; if not, where they stand.
local function in_line(id, bucket, at, c)
  local p, ahead = find(id), nil
  if p then
    if c.raise and c.priority > p.priority then prefer(p, c.priority) end
  else
    p = {member = member_of(id), rest = string.sub(id, 9), priority = c.priority, ends = now + dropout}
    p.number = taken_up(bucket, at, c)
    if p.number then
      given = math.max(given, p.number)
      enter(p)
    elseif c.no_place then
      return not c.no_slot and open_slots() > length()
    else
      given = given + 1
      p.number, p.joined = given, true
    end
  end
  ahead = p.joined and ahead_of_next(p.priority) or ahead_in_line(p)
  if not c.no_slot and open_slots() > ahead then
    if not p.joined then take_out(p) end
    return true
  end
  if p.joined then enter(p) end
  number_of(p)
  p.ends = now + dropout
  keep(p)
  return false, place_of(p, ahead)
end

-- give_up takes whoever is let in without their place, or banned, out of line.
local function give_up(id)
  local p = find(id)
  if p then take_out(p) end
end
