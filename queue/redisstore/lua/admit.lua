-- Decides the claims by the one rule, in the order in which they come: buckets
-- from the oldest, newcomers last.

local REFUSED, GRANTED, HELD, UNCOUNTED, USED, BANNED = 0, 1, 2, 3, 4, 5
local COUNTED = 4 -- the multiple of total_active_users up to which passthrough counts

local NEWCOMER = 0 -- the bucket of whoever has none yet

local function verdict(v, at, expires) return {v, at or 0, expires or 0} end

-- ahead counts the people present in buckets before the given one. Claims come
-- in order of bucket, so one walk serves all of them.
local buckets, walked, people
local function ahead(bucket)
  if not buckets then buckets, walked, people = call('ZRANGE', BUCKETS, 0, -1), 1, 0 end
  while buckets[walked] and tonumber(buckets[walked]) < bucket do
    people = people + (tonumber(call('HGET', COUNTS, buckets[walked])) or 0)
    walked = walked + 1
  end
  return people
end

local function drawn(id) return (tonumber(call('ZSCORE', DRAWN, id)) or 0) > r.now end

-- may says whether the rule has a slot for the claimant. In random a claimant
-- who has come back races, once an interval, whichever nodes they ask.
local function may(c)
  local open = open_slots()
  if c.bucket == NEWCOMER then return open > r.present end
  if r.method ~= 'random' then return open > 0 and open > ahead(c.bucket) end
  if drawn(c.id) then return false end
  if open == 0 and c.due > r.now and call('ZCARD', DRAWN) < DRAWS then
    call('ZADD', DRAWN, whole(c.due), c.id)
    touch(DRAWN)
  end
  return open > 0
end

local function leave(c)
  if c.bucket ~= NEWCOMER then change(whole(c.bucket), whole(c.ends), -1) end
  r.idle = r.idle or waiting() == 0
end

local function grant(c)
  leave(c)
  local expires = r.now + r.lasts
  call('ZADD', SESSIONS, whole(expires), c.id)
  call('ZADD', ADMITTED, whole(r.now), c.id)
  touch(SESSIONS)
  touch(ADMITTED)
  r.active, r.admitted = r.active + 1, r.admitted + 1
  return verdict(GRANTED, r.now, expires)
end

local function decide(c)
  if is_revoked(c.id) then
    if r.has_line then give_up(c.id) end
    return verdict(BANNED)
  end
  local expires = tonumber(call('ZSCORE', SESSIONS, c.id)) or 0
  if expires > r.now - r.slack then
    -- A claim that is asked about again was decided with its report.
    if r.has_line then give_up(c.id) end
    if not (c.held_only and r.counted) then leave(c) end
    if c.renew then
      extend(c.id, r.now + r.lasts)
      expires = math.max(expires, r.now + r.lasts)
    end
    return verdict(HELD, let_in(c.id) or r.now, math.max(expires, r.now + 1))
  end
  if c.held_only or c.no_slot and r.method ~= 'line' then return verdict(REFUSED) end
  if r.method == 'line' then
    local enters, place = in_line(c, c.bucket ~= NEWCOMER)
    if enters then return grant(c) end
    return {REFUSED, 0, 0, place}
  end
  if r.closed then return verdict(REFUSED) end
  if c.bucket ~= NEWCOMER and (let_in(c.id) or -1) >= c.arrived then return verdict(USED) end
  if r.method == 'passthrough' and not r.queueall then
    if r.active >= COUNTED * r.total then
      leave(c)
      return verdict(UNCOUNTED)
    end
  elseif not may(c) then
    return verdict(REFUSED)
  end
  return grant(c)
end

-- claim reads the next claim from the arguments.
local function claim()
  local id = text()
  local bucket, ends, due, arrived, checked_in, given, priority, flags = struct.unpack('>I6I6I6I6I6I6i2B', text())
  return {
    id = id, bucket = bucket, ends = ends, due = due, arrived = arrived, checked_in = checked_in, number = given, priority = priority,
    raise = flags % 2 == 1, no_slot = flags % 4 >= 2, no_place = flags % 8 >= 4, held_only = flags % 16 >= 8, renew = flags >= 16,
  }
end

local verdicts, claims = {}, number()
if r.has_line then pass_places(claims) end
for i = 1, claims do verdicts[i] = decide(claim()) end
local stands = standing()
save()
return {stands, verdicts}
