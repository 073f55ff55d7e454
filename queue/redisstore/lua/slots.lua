-- The one rule's count of open slots, and when there may be more.

-- Sessions count until all nodes have reported that they did not renew them, or for the slack longer.
-- They are counted anew when one has ended, when a node has reported some, and when the
-- first one to end was renewed.
local function count_sessions()
  check(FIRST, FIRST) -- the sessions
  local alive = '(' .. whole(r.ended_by)
  local first = call('ZRANGEBYSCORE', SESSIONS, alive, '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
  r.active = call('ZCOUNT', SESSIONS, alive, '+inf')
  r.first_end = tonumber(first[2]) or math.huge
end

-- waiting counts the people who wait.
local function waiting() return rules.method == 'line' and length() or r.present end

-- random_parts returns how many parts of this minute's allowance have had their moments,
-- how many parts there are, and the next moment.
local function random_parts(into)
  local parts = math.min(rules.perminute, $MaxParts)
  r.moments = r.moments or call('HGET', META, 'moments') or ''
  local of, passed, at, x = string.match(r.moments, '(%d+) (%d+) (%S+) (%d+)')
  x, passed, at = pass(parts, into, tonumber(x) or r.time % ($LehmerPrime - 1) + 1, tonumber(of) == r.minute and tonumber(passed) or nil, of and numeric(at))
  r.moments = string.format('%.0f %d %.17g %.0f', r.minute, passed, at, x)
  call('HSET', META, 'moments', r.moments)
  return math.min(passed, parts), parts, r.minute + math.floor(at)
end

-- released returns how much of the minute's allowance is there, and when there will be
-- more. While nobody waits, all of it is there.
local function released()
  local into, turn = r.now - r.minute, r.minute + MINUTE
  local within = ({minute = 0, early = $EarlyTime, even = MINUTE})[rules.pacing] -- of the minute; not in random
  if waiting() <= 0 or within and into >= within or rules.perminute == 0 then return rules.perminute, turn end
  if within then
    local n = math.floor(rules.perminute * into / within) + 1 -- the first at the start of the minute
    return n, n < rules.perminute and r.minute + math.ceil(n * within / rules.perminute) or turn
  end
  local passed, parts, at = random_parts(into)
  return math.floor(rules.perminute * passed / parts), passed < parts and at or turn
end

-- holds_new says whether nobody new is let in: by the settings, or because nothing is left.
local function holds_new() return rules.queueall or rules.closes and r.stock_at > 0 and r.stock == 0 and r.stock_at >= rules.sellsfrom end

-- slowed bounds an allowance, of which there is more at a moment, while admissions are
-- slowed, as pacing.Slow.Limit has it.
local function slowed(allowance, more)
  local n = math.floor(r.spare)
  if r.factor >= 1 or n > allowance then return allowance, more end
  local next = r.now + math.ceil((n + 1 - r.spare) / r.slow_rate * MINUTE)
  return n, n == allowance and more and math.max(next, more) or next
end

local function take(n) r.spare = math.max(0, r.spare - n) end

local function open_slots()
  if holds_new() or rules.method == 'reject' or r.closed or settles_at() then return 0 end
  return math.max(0, math.min(rules.total - r.active, (slowed(released() - r.admitted))))
end

-- next_release is when more of the allowance is there than n: at more, by the pacing, or
-- once nobody waits, because then all of it is there; or a moment before that.
local function next_release(n, more)
  if n == rules.perminute then return more end
  if rules.method == 'line' then return math.min(more, line.last_ends() or more) end
  local latest = call('ZREVRANGEBYSCORE', WINDOWS, '+inf', 0, 'WITHSCORES', 'LIMIT', 0, 1)
  return latest[2] and math.min(more, tonumber(latest[2]) + r.slack) or more
end

local function next_open()
  if holds_new() or rules.method == 'reject' or rules.version == 0 then return 0 end
  if r.awaits_until > 0 then return r.awaits_until end
  if settles_at() then return settles_at() end
  local n, more = released()
  local free, allowance = rules.total - r.active, nil
  allowance, more = slowed(n - r.admitted, next_release(n, more))
  if free > allowance then return more end
  if r.active == 0 then return 0 end
  local ends = r.first_end + behind() -- and then once all nodes may have reported that it has ended
  if not rules.bysession then
    ends = ends + r.slack
  elseif r.first_end <= r.sessions_now then
    ends = math.min(ends + r.slack, r.now + $ReportTime)
  end
  return free < allowance and ends or math.max(ends, more)
end
