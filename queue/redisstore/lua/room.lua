-- What every verb begins with: the clock, the store's memory of the room, the
-- report of the node that calls. Times are milliseconds since the Unix epoch.

local MINUTE = 60000
local JUMP = 5000     -- a step of the clock beyond this is a gap in service, or a fault of the clock
local GRACE = 10000   -- how long admissions wait for nodes that do not report
local STEP = 1000     -- how many entries one call sweeps at most
local MEASURED = 5    -- whole minutes that the rate is taken over
local DRAWS = 10000   -- how many draws are remembered at most

-- The configuration of the room; no slots are open before the first.
local version, total, perminute, duration, method, queueall, pacing, ttl

local function load_configuration()
  local c = call('HMGET', CONF, 'version', 'total', 'perminute', 'duration', 'method', 'queueall', 'pacing', 'ttl')
  version, total, perminute = tonumber(c[1]) or 0, tonumber(c[2]) or 0, tonumber(c[3]) or 0
  duration, method, queueall = tonumber(c[4]) or 1000, c[5], c[6] == '1'
  pacing, ttl = c[7], tonumber(c[8]) or 0
end
load_configuration()

-- The state that a call reads and writes whole.
local m = call('HMGET', META, 'now', 'time', 'offset', 'minute', 'admitted', 'idle', 'present', 'rates', 'grace')
local last, time_before, offset = tonumber(m[1]), tonumber(m[2]), tonumber(m[3]) or 0
local minute, admitted, idle = tonumber(m[4]) or 0, tonumber(m[5]) or 0, m[6] == '1'
local present, rates = tonumber(m[7]) or 0, m[8] or ''
local grace = tonumber(m[9]) or 0 -- until when admissions wait for nodes; 0 if they do not

-- The head of the report.
local node, seq, told_now, told_epoch = text(), number(), number(), text()
local candidate, slack, whole_report = text(), number(), text() == '1'

-- Time -------------------------------------------------------------------------

local t = call('TIME')
local time = t[1] * 1000 + math.floor(t[2] / 1000)
local now = time + offset
local gap = false
if last then
  local step = now - last
  if step > JUMP or step < -JUMP then
    -- The nodes' clocks run evenly: one that answers to the store's old time
    -- tells a jump of the clock from a time in which nobody called.
    if told_now > 0 and math.abs(now - told_now) > JUMP then
      now = math.max(last, told_now)
      offset = now - time
    else
      gap = step > JUMP
    end
  end
  now = math.max(now, last)
end

-- Memory -----------------------------------------------------------------------

local epoch = call('GET', EPOCH)
local known_seq = tonumber(call('HGET', SEQS, node))
local want_whole = false

local function await(nodes)
  for _, n in ipairs(nodes) do call('SADD', AWAITED, n) end
  grace = now + GRACE
end

local function forget_counts()
  call('DEL', COUNTS, BUCKETS, WINDOWS)
  present, minute, admitted, rates = 0, 0, 0, ''
end

local function begin_epoch()
  epoch = candidate
  call('SET', EPOCH, epoch)
  call('DEL', SEQS)
  known_seq = nil
  forget_counts()
end

local told_nodes = {} -- those that a whole report's node knew
for i = 1, number() do told_nodes[i] = text() end

if not epoch then
  begin_epoch()
  if told_epoch ~= '' then await({node}) end
elseif told_epoch == epoch and known_seq and seq > known_seq + 1 then
  -- This node was answered by a store that knew more: writes were lost.
  begin_epoch()
  await(call('ZRANGE', SEEN, 0, -1))
  await({node})
elseif told_epoch ~= '' and told_epoch ~= epoch and not known_seq and call('SISMEMBER', AWAITED, node) == 0 then
  -- It remembers a room that this memory began without.
  await({node})
end
if gap then
  await(call('ZRANGEBYSCORE', SEEN, whole(last - GRACE), '+inf'))
end
if grace > 0 then
  for _, n in ipairs(told_nodes) do
    if call('HEXISTS', SEQS, n) == 0 then call('SADD', AWAITED, n) end
  end
end

want_whole = told_epoch ~= '' and (told_epoch ~= epoch or not known_seq and not whole_report)
call('ZADD', SEEN, whole(now), node)
if not want_whole then call('SREM', AWAITED, node) end
if grace > 0 and (now >= grace or call('SCARD', AWAITED) == 0) then
  grace = 0
  call('DEL', AWAITED)
end

-- The line ---------------------------------------------------------------------

local function change_bucket(bucket, people)
  if people == 0 then return end
  present = present + people
  if call('HINCRBY', COUNTS, bucket, people) == 0 then
    call('HDEL', COUNTS, bucket)
    call('ZREM', BUCKETS, bucket)
  else
    call('ZADD', BUCKETS, bucket, bucket)
  end
end

-- change counts people more in a cell, never fewer than none. What a node has
-- not reported yet is covered by counting windows for the slack longer.
local function change(bucket, ends, people)
  if tonumber(ends) + slack <= now or people == 0 then return end
  local cell = ends .. ':' .. bucket
  local before = tonumber(call('HGET', COUNTS, cell)) or 0
  people = math.max(people, -before)
  if before + people == 0 then
    call('HDEL', COUNTS, cell)
    call('ZREM', WINDOWS, cell)
  else
    call('HSET', COUNTS, cell, before + people)
    if before == 0 then call('ZADD', WINDOWS, ends, cell) end
  end
  change_bucket(bucket, people)
end

local function pass_windows()
  for _, cell in ipairs(call('ZRANGEBYSCORE', WINDOWS, '-inf', whole(now - slack))) do
    local bucket = string.match(cell, ':(%d+)$')
    change_bucket(bucket, -(tonumber(call('HGET', COUNTS, cell)) or 0))
    call('HDEL', COUNTS, cell)
    call('ZREM', WINDOWS, cell)
  end
end

-- The minute -------------------------------------------------------------------

local function turn_minute()
  local this = now - now % MINUTE
  if this == minute then return end
  if minute > 0 and not idle then
    rates = whole(minute) .. ':' .. admitted .. ' ' .. rates
    local kept, n = '', 0
    for entry in string.gmatch(rates, '%S+') do
      n = n + 1
      if n <= MEASURED then kept = kept .. entry .. ' ' end
    end
    rates = kept
  end
  minute, admitted, idle = this, 0, false
end

-- Sessions ---------------------------------------------------------------------

local function is_revoked(id)
  local ends = tonumber(call('ZSCORE', REVOKED, id))
  return ends and ends > now
end

local function extend(id, expires)
  local known = tonumber(call('ZSCORE', SESSIONS, id)) or 0
  if expires > known then call('ZADD', SESSIONS, whole(expires), id) end
end

local function sweep()
  for _, key in ipairs({SESSIONS, REVOKED, DRAWN}) do
    local dead = call('ZRANGEBYSCORE', key, '-inf', whole(now - slack), 'LIMIT', 0, STEP)
    for _, id in ipairs(dead) do call('ZREM', key, id) end
  end
  local used = call('ZRANGEBYSCORE', ADMITTED, '-inf', whole(now - math.max(ttl, duration)), 'LIMIT', 0, STEP)
  for _, id in ipairs(used) do call('ZREM', ADMITTED, id) end
  for _, n in ipairs(call('ZRANGEBYSCORE', SEEN, '-inf', whole(now - 60 * MINUTE), 'LIMIT', 0, STEP)) do
    call('ZREM', SEEN, n)
    call('HDEL', SEQS, n)
  end
end

pass_windows()
turn_minute()
idle = idle or present == 0

-- The report -------------------------------------------------------------------

local counted = known_seq and seq <= known_seq
local cells, sessions, revoked = number(), number(), number()
for _ = 1, cells do
  local bucket, ends, people = text(), text(), number()
  if not counted and not want_whole then change(bucket, ends, people) end
end
for _ = 1, sessions do
  local id, expires = text(), number()
  if not counted and not is_revoked(id) then extend(id, expires) end
end
for _ = 1, revoked do
  local id, ends = text(), number()
  if not counted then
    call('ZREM', SESSIONS, id)
    if ends > (tonumber(call('ZSCORE', REVOKED, id)) or 0) then call('ZADD', REVOKED, whole(ends), id) end
  end
end
local whole_minute, whole_admitted = number(), number()
if not counted and whole_report and whole_minute == minute then admitted = admitted + whole_admitted end
if not want_whole then call('HSET', SEQS, node, seq) end
sweep()

-- The rule ---------------------------------------------------------------------

local active = call('ZCOUNT', SESSIONS, '(' .. whole(now - slack), '+inf')
local moments -- of this minute, in order, once they are needed

-- The multiplications of a 64-bit hash do not fit a double: this one is a
-- Lehmer generator (Park, Miller 1988) seeded by the room's minute.
local function draw_moments()
  moments = {}
  local x = (minute / MINUTE * 48271 + #META * 7919) % 2147483647 + 1
  for i = 1, math.min(perminute, 4096) do
    x = x * 48271 % 2147483647
    moments[i] = x % MINUTE
  end
  table.sort(moments)
end

local function released()
  local into, next = now - minute, minute + MINUTE
  if present <= 0 or pacing == 'minute' then return perminute, next end
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
  if queueall or method == 'reject' or grace > 0 or version == 0 then return 0 end
  local n = released()
  return math.max(0, math.min(total - active, n - admitted))
end

local function next_end()
  local first = call('ZRANGEBYSCORE', SESSIONS, '(' .. whole(now - slack), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] and tonumber(first[2]) + slack or 0
end

local function next_open()
  if grace > 0 then return grace end
  local n, more = released()
  local free, left = total - active, n - admitted
  if free < left then return next_end() end
  if free == left then return math.max(next_end(), more) end
  return more
end

local function save()
  call('HSET', META, 'now', whole(now), 'time', whole(time), 'offset', whole(offset), 'minute', whole(minute),
    'admitted', admitted, 'idle', idle and '1' or '0', 'present', present, 'rates', rates, 'grace', whole(grace))
  local life = math.max(duration, ttl, 3600000) + 600000
  for _, key in ipairs({META, SESSIONS, ADMITTED, COUNTS, BUCKETS, WINDOWS, REVOKED, SEQS, SEEN, AWAITED, DRAWN}) do
    call('PEXPIRE', key, life)
  end
end

local function standing()
  return {whole(now), epoch, want_whole and 1 or 0, active, admitted, open_slots(), present, whole(next_open()), grace > 0 and 1 or 0}
end
