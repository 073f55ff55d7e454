-- The one rule's count of open slots, and when there may be more.

-- Sessions count for the slack longer, for renewals that are not reported yet.
local function alive_after() return '(' .. whole(now - slack) end

local active = call('ZCOUNT', SESSIONS, alive_after(), '+inf')

-- random_parts counts the parts of this minute's allowance whose moments have
-- passed, of how many, and when the next one's is. The moments are random and in
-- order: that of the first of k is the least of k draws from what is left of the
-- minute. A Lehmer generator (Park, Miller 1988) draws them; its x is kept.
local moments
local function random_parts(into)
  local parts = math.min(perminute, PARTS)
  moments = moments or call('HGET', META, 'moments') or ''
  local of, passed, at, x = string.match(moments, '(%d+) (%d+) (%S+) (%d+)')
  of, passed, at, x = tonumber(of), tonumber(passed) or 0, tonumber(at) or 0, tonumber(x) or time % 2147483646 + 1
  local function draw()
    x = x * 48271 % 2147483647
    at = at + (MINUTE - at) * (1 - (x / 2147483647) ^ (1 / (parts - passed)))
  end
  if of ~= minute then
    passed, at = 0, 0
    draw()
  end
  while passed < parts and at <= into do
    passed = passed + 1
    if passed < parts then draw() end
  end
  moments = string.format('%.0f %d %.6f %.0f', minute, passed, at, x)
  call('HSET', META, 'moments', moments)
  return math.min(passed, parts), parts, minute + math.ceil(at)
end

-- released is how much of the minute's allowance is there, and when there will
-- be more. With nobody waiting it is all there.
local function released()
  local into, turn = now - minute, minute + MINUTE
  if waiting() <= 0 or pacing == 'minute' or perminute == 0 then return perminute, turn end
  if pacing == 'even' then
    local n = math.floor(perminute * into / MINUTE) + 1 -- the first at the start of the minute
    return n, minute + math.ceil(n * MINUTE / perminute)
  end
  local passed, parts, at = random_parts(into)
  return math.floor(perminute * passed / parts), passed < parts and at or turn
end

function open_slots()
  if queueall or method == 'reject' or closed or settled() then return 0 end
  return math.max(0, math.min(total - active, (released()) - admitted))
end

-- next_end is when the next session ends; nil without any.
local function next_end()
  local first = call('ZRANGEBYSCORE', SESSIONS, alive_after(), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] and tonumber(first[2]) + slack
end

-- next_release is when more of the allowance is there: all of it, once the last
-- who are present have left; of an exact line, it may be sooner than that.
local function next_release(n, more)
  if n == perminute then return more end
  if method == 'line' then return math.min(more, last_ends() or more) end
  local latest = call('ZREVRANGE', WINDOWS, 0, 0, 'WITHSCORES')
  return latest[2] and math.min(more, tonumber(latest[2]) + slack) or more
end

local function next_open()
  if queueall or method == 'reject' or version == 0 then return 0 end
  if grace > 0 then return grace end
  if settled() then return settled() end
  local n, more = released()
  local free, left = total - active, n - admitted
  if free > left then return next_release(n, more) end
  local ends = next_end()
  if not ends or free < left then return ends or 0 end
  return math.max(ends, next_release(n, more))
end

local function flag(is) return is and 1 or 0 end

-- save keeps what was read whole, once all else is done.
local function save()
  save_line()
  call('HSET', META, 'now', whole(now), 'offset', whole(offset), 'state',
    string.format('%.0f %.0f %d %d %d %.0f %.0f %.0f %d %s', doubt, minute, admitted, flag(idle), present, first_window,
      grace, minute, flag(any_revoked), server))
  local life = lifetime(duration, math.max(place, dropout))
  for _, key in ipairs({META, SESSIONS, ADMITTED, COUNTS, BUCKETS, WINDOWS, REVOKED, SEQS, SEEN, AWAITED, DRAWN}) do
    if kept ~= minute then touched[key] = true end
  end
  if kept ~= minute and length() > 0 then touch_line() end
  for key in pairs(touched) do call('PEXPIRE', key, life) end
  if fleeting and kept ~= minute then end_all(life) end
end

local function standing()
  return {whole(told or now), epoch, flag(want_whole), active, admitted, open_slots(), waiting(), whole(next_open()),
    flag(grace > 0 or doubting)}
end
