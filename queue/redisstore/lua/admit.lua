-- Decides the claims by the one rule, in the order in which they come: buckets
-- from the oldest, newcomers last.

local REFUSED, GRANTED, HELD, UNCOUNTED, USED, BANNED = 0, 1, 2, 3, 4, 5
local COUNTED = 4 -- the multiple of total_active_users up to which passthrough counts

local NEWCOMER = '0'

local function verdict(v, at, expires) return {v, whole(at or 0), whole(expires or 0)} end

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

local function drawn(id) return (tonumber(call('ZSCORE', DRAWN, id)) or 0) > now end

-- may says whether the rule has a slot for the claimant. In random a claimant
-- who has come back races, once an interval, whichever nodes they ask.
local function may(id, bucket, due)
  local open = open_slots()
  if bucket == NEWCOMER then return open > present end
  if method ~= 'random' then return open > 0 and open > ahead(tonumber(bucket)) end
  if drawn(id) then return false end
  if open == 0 and due > now and call('ZCARD', DRAWN) < DRAWS then
    call('ZADD', DRAWN, whole(due), id)
    touch(DRAWN)
  end
  return open > 0
end

local function leave(bucket, ends)
  if bucket ~= NEWCOMER then change(bucket, ends, -1) end
  idle = idle or waiting() == 0
end

local function grant(id, bucket, ends)
  leave(bucket, ends)
  local expires = now + lasts
  call('ZADD', SESSIONS, whole(expires), id)
  call('ZADD', ADMITTED, whole(now), id)
  touch(SESSIONS)
  touch(ADMITTED)
  active, admitted = active + 1, admitted + 1
  return verdict(GRANTED, now, expires)
end

local function decide(id, bucket, ends, due, held_only, packed)
  if is_revoked(id) then
    if has_line then give_up(id) end
    return verdict(BANNED)
  end
  local expires = tonumber(call('ZSCORE', SESSIONS, id)) or 0
  local at = (expires > 0 or bucket ~= NEWCOMER) and tonumber(call('ZSCORE', ADMITTED, id))
  if expires > now - slack then
    -- A claim that is asked about again was decided with its report.
    if has_line then give_up(id) end
    if not (held_only and counted) then leave(bucket, ends) end
    return verdict(HELD, at or now, math.max(expires, now + 1))
  end
  if held_only then return verdict(REFUSED) end
  if method == 'line' then
    local enters, place = in_line(id, bucket ~= NEWCOMER, at, packed)
    if enters then return grant(id, bucket, ends) end
    return {REFUSED, 0, 0, place}
  end
  if closed then return verdict(REFUSED) end
  if at and bucket ~= NEWCOMER and at >= struct.unpack('>I6', packed) then return verdict(USED) end
  if method == 'passthrough' and not queueall then
    if active >= COUNTED * total then
      leave(bucket, ends)
      return verdict(UNCOUNTED)
    end
  elseif not may(id, bucket, due) then
    return verdict(REFUSED)
  end
  return grant(id, bucket, ends)
end

local verdicts, claims = {}, number()
if has_line then pass_places(claims) end
for i = 1, claims do
  verdicts[i] = decide(text(), text(), text(), number(), text() == '1', text())
end
local stands = standing()
save()
return {stands, verdicts}
