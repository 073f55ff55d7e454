-- Decides the claims by the one rule, in the order in which they come.

local NEWCOMER = 0 -- the bucket of a visitor who has none yet
local REFUSED, GRANTED, HELD, BEYOND, USED, BANNED = 0, 1, 2, 3, 4, 5

local function verdict(v, at, expires) return struct.pack('>Bdd', v, at or 0, expires or 0) end

-- ahead counts the people present in buckets before the given one. In fifo claims
-- come in order of bucket, so one walk serves all of them.
local walk
local function ahead(bucket)
  if not walk or bucket < walk.bucket then walk = {buckets = call('ZRANGEBYSCORE', BUCKETS, 0, '+inf'), people = 0, next = 1} end
  walk.bucket = bucket
  while walk.buckets[walk.next] and tonumber(walk.buckets[walk.next]) < bucket do
    walk.people = walk.people + (tonumber(call('HGET', COUNTS, walk.buckets[walk.next])) or 0)
    walk.next = walk.next + 1
  end
  return walk.people
end

-- has_slot says whether the one rule gives the claimant a slot. In random a claimant
-- who has come back draws, once an interval, whichever node they ask.
local function has_slot(c)
  local DRAWS = $MaxDraws -- how many draws are remembered at most
  local open = open_slots()
  if c.bucket == NEWCOMER then return open > r.present end
  if rules.method ~= 'random' then return open > 0 and open > ahead(c.bucket) end
  if (tonumber(call('ZSCORE', DRAWN, c.id)) or 0) > r.now then return false end -- the claimant has drawn
  if open == 0 and c.due > r.now and call('ZCARD', DRAWN) < DRAWS then
    call('ZADD', DRAWN, whole(c.due), c.id)
    touch(DRAWN)
  end
  return open > 0
end

local function uncount(c)
  if c.bucket ~= NEWCOMER then change({whole(c.bucket), whole(c.ends), -1}) end
  r.idle = r.idle or waiting() == 0
end

-- grant takes a slot, from now on, and says until when.
local function grant(c)
  uncount(c)
  local expires = r.now + (c.lease > 0 and rules.leases and math.min(c.lease, rules.lasts) or rules.lasts)
  alter(SESSIONS)
  if r.admitted == 0 then touch(ADMITTED) end -- the key may be new; with later ones of the minute it is not
  local ends = expires - behind()
  call('ZADD', SESSIONS, whole(ends), c.id)
  call('ZADD', ADMITTED, now, c.id)
  r.active, r.first_end, r.admitted = r.active + 1, math.min(r.first_end, ends), r.admitted + 1
  take(1)
  return r.now, expires
end

local function verdict_on(c)
  if c.held_only then note_lost(c, c.bucket ~= NEWCOMER) end
  local COUNTED = $PassthroughCounts -- the multiple of total_active_users up to which passthrough counts
  if is_revoked(c.id) then
    if r.has_line then line.remove(c.id) end
    return verdict(BANNED)
  end
  local expires = tonumber(call('ZSCORE', SESSIONS, c.id)) or 0
  if expires > r.ended_by then
    -- A claim that comes again with its report was decided before.
    if r.has_line then line.remove(c.id) end
    if not c.keep_cell and not (c.held_only and r.counted) then uncount(c) end
    local since = began(c.id)
    local whole_from = c.renew and r.sessions_now or c.lease == 0 and not c.held_only and since
    local longer = whole_from and math.min(whole_from + rules.lasts, last_moment(since))
    if longer and longer > expires then
      local first = expires == r.first_end
      expires = longer
      alter(SESSIONS)
      call('ZADD', SESSIONS, whole(expires), c.id)
      if first then count_sessions() end
    end
    return verdict(HELD, since and since + r.behind or r.now, math.max(expires + behind(), r.now + 1))
  end
  if c.held_only and c.bucket ~= NEWCOMER and was_let_in(c) then return verdict(USED, began(c.id) + r.behind) end
  if c.held_only or c.no_slot and rules.method ~= 'line' then return verdict(REFUSED) end
  if rules.method == 'line' then
    local enters, place = line.check_in(c, c.bucket ~= NEWCOMER)
    if not enters then return verdict(REFUSED) .. (place or '') end
    return verdict(GRANTED, grant(c))
  end
  if r.closed then return verdict(REFUSED) end
  if c.bucket ~= NEWCOMER and place_used(c) then return verdict(USED) end
  if rules.method == 'passthrough' and not holds_new() then
    if not rules.shadow and r.active >= COUNTED * rules.total then
      uncount(c)
      return verdict(BEYOND)
    end
  elseif not has_slot(c) then
    return verdict(REFUSED)
  end
  forget_note(c.id)
  return verdict(GRANTED, grant(c))
end

-- decide takes claimants who have moved out of where another node has counted them, unless they are held.
local function decide(c)
  local verdict = verdict_on(c)
  if c.moved > 0 and string.byte(verdict) ~= HELD and not (c.held_only and r.counted) then change({whole(c.moved), whole(c.moved_ends), -1}) end
  return verdict
end

-- claim reads the next claim from the arguments.
local function claim()
  local packed = text()
  local bucket, ends, moved, moved_ends, due, arrived, checked_in, accepted, lease, given, priority, flags = struct.unpack('>I6I6I6I6I6I6I6I6I6I6i2B', packed, 17)
  return {
    id = string.sub(packed, 1, 16), bucket = bucket, ends = ends, moved = moved, moved_ends = moved_ends, due = due, arrived = arrived, checked_in = checked_in, accepted = accepted, lease = lease, number = given, priority = priority,
    raise = flags % 2 == 1, no_slot = flags % 4 >= 2, no_place = flags % 8 >= 4, held_only = flags % 16 >= 8, renew = flags % 32 >= 16, keep_cell = flags >= 32,
  }
end

local reply, claims = {}, #ARGV - arg -- the verdicts
if r.has_line then line.pass_places(claims) end
for i = 1, claims do reply[i] = decide(claim()) end
