-- The one rule's count of open slots, and when there may be more.

-- Sessions count for the slack longer, for renewals that are not reported yet.
local function alive_after() return '(' .. whole(now - slack) end

local active = call('ZCOUNT', SESSIONS, alive_after(), '+inf')

-- draw_moments draws when the parts of this minute's allowance are released. A
-- 64-bit hash does not fit a double: this is a Lehmer generator (Park, Miller
-- 1988), seeded by the room and the minute.
local moments
local function draw_moments()
  moments = {}
  local x = 0
  for i = 1, #META do x = (x * 31 + string.byte(META, i)) % 2147483647 end
  x = (x + minute / MINUTE * 48271) % 2147483646 + 1
  for i = 1, math.min(perminute, 4096) do
    x = x * 48271 % 2147483647
    moments[i] = x % MINUTE
  end
  table.sort(moments)
end

-- released is how much of the minute's allowance is there, and when there will
-- be more. With nobody waiting it is all there.
local function released()
  local into, next = now - minute, minute + MINUTE
  if present <= 0 or pacing == 'minute' or perminute == 0 then return perminute, next end
  if pacing == 'even' then
    local n = math.floor(perminute * into / MINUTE)
    return n, math.min(next, minute + math.ceil((n + 1) * MINUTE / perminute))
  end
  if not moments then draw_moments() end
  local passed = 0
  while passed < #moments and moments[passed + 1] <= into do passed = passed + 1 end
  if passed < #moments then next = minute + moments[passed + 1] end
  return math.floor(perminute * passed / #moments), next
end

local function open_slots()
  if queueall or method == 'reject' or closed then return 0 end
  return math.max(0, math.min(total - active, (released()) - admitted))
end

-- next_end is when the next session ends; nil without any.
local function next_end()
  local first = call('ZRANGEBYSCORE', SESSIONS, alive_after(), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] and tonumber(first[2]) + slack
end

-- next_release is when more of the allowance is there: all of it, once the last
-- who are present have left.
local function next_release(n, more)
  if n == perminute then return more end
  local latest = call('ZREVRANGE', WINDOWS, 0, 0, 'WITHSCORES')
  return latest[2] and math.min(more, tonumber(latest[2]) + slack) or more
end

local function next_open()
  if queueall or method == 'reject' or version == 0 then return 0 end
  if grace > 0 then return grace end
  local n, more = released()
  local free, left, ends = total - active, n - admitted, next_end()
  if free <= left and not ends then return 0 end
  if free < left then return ends end
  more = next_release(n, more)
  return free == left and math.max(ends, more) or more
end

-- life is how long a room without calls is remembered.
local function save()
  call('HSET', META, 'now', whole(now), 'offset', whole(offset), 'doubt', whole(doubt), 'server', server,
    'minute', whole(minute), 'admitted', admitted, 'idle', idle and '1' or '0', 'present', present, 'rates', rates,
    'grace', whole(grace))
  local life = math.max(duration, place, 60 * MINUTE) + 10 * MINUTE
  for _, key in ipairs({META, SESSIONS, ADMITTED, COUNTS, BUCKETS, WINDOWS, REVOKED, SEQS, SEEN, AWAITED, DRAWN}) do
    call('PEXPIRE', key, life)
  end
end

local function flag(is) return is and 1 or 0 end

local function standing()
  return {whole(now), epoch, flag(want_whole), active, admitted, open_slots(), present, whole(next_open()),
    flag(grace > 0 or doubting)}
end
