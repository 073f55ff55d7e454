-- The line: how many people are present in each cell, which is a bucket and the end of a
-- window of time, and in each bucket. Windows count for the slack longer, because nodes
-- may not have reported a check-in yet.

local function change_bucket(bucket, people)
  if people == 0 then return end
  r.present = r.present + people
  alter(COUNTS)
  local remaining = call('HINCRBY', COUNTS, bucket, people)
  if remaining == 0 then
    call('HDEL', COUNTS, bucket)
    alter(BUCKETS)
    call('ZREM', BUCKETS, bucket)
  elseif remaining == people then
    alter(BUCKETS)
    call('ZADD', BUCKETS, bucket, bucket)
  end
end

-- change counts so many people more in a cell, or fewer, but never fewer than none: while
-- some counts are missing, a cell may hold less than none, which counts as none.
local function change(bucket, ends, people)
  if people == 0 or tonumber(ends) + r.slack <= r.now then return end
  local cell = ends .. ':' .. bucket
  local before = tonumber(call('HGET', COUNTS, cell)) or 0
  local after = math.max(before + people, r.partial and -math.huge or math.min(before, 0))
  if after == before then return end
  alter(COUNTS)
  if after == 0 then
    alter(WINDOWS)
    call('HDEL', COUNTS, cell)
    call('ZREM', WINDOWS, cell)
  else
    call('HSET', COUNTS, cell, after)
    if before == 0 then
      alter(WINDOWS)
      call('ZADD', WINDOWS, ends, cell)
      if r.first_window == 0 or tonumber(ends) < r.first_window then r.first_window = tonumber(ends) end
    end
  end
  change_bucket(bucket, math.max(after, 0) - math.max(before, 0))
end

-- If no node has called for a while, and the one that does has no view from before that, no gate ran. A gap during which a gate ran
-- after all, which only the store did not hear of, is none: that gate has a view from before it.
if r.gap and (node_since == 0 or node_since > r.last) and r.now - r.last > $Silence then
  table.insert(r.gaps, {from = r.last, till = r.now})
  if #r.gaps > $MaxGaps then
    local second = table.remove(r.gaps, 2)
    r.gaps[1].till = r.gaps[1].till + second.till - second.from
  end
end
while node_since > 0 and #r.gaps > 0 and node_since <= r.gaps[#r.gaps].from do table.remove(r.gaps) end

begin_line()

-- The cells of those who have missed their check-in are taken out.
if r.first_window > 0 and r.first_window <= r.now - r.slack then
  alter(COUNTS)
  alter(WINDOWS)
  for _, cell in ipairs(call('ZRANGEBYSCORE', WINDOWS, 0, whole(r.now - r.slack))) do
    change_bucket(string.match(cell, ':(%d+)$'), -math.max(tonumber(call('HGET', COUNTS, cell)) or 0, 0))
    call('HDEL', COUNTS, cell)
    call('ZREM', WINDOWS, cell)
  end
  r.first_window = tonumber(call('ZRANGEBYSCORE', WINDOWS, 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]) or 0
end

local LOOKS = $MaxExpired -- how many places a call looks up at most, beside one for each claim
if r.has_line then
  open_line()
  line.pass_places(LOOKS)
end

-- The admissions of the minute that has passed show how many the room has space for, if
-- people waited throughout it.
local minute, MEASURED = r.now - r.now % MINUTE, $MaxMeasured -- over how many minutes the rate is measured at most
if minute ~= r.minute then
  if r.minute > 0 and not r.idle then
    local list, n = whole(r.minute) .. ':' .. r.admitted .. ' ', 1
    for entry in string.gmatch(call('HGET', META, 'rates') or '', '%S+') do
      n = n + 1
      if n <= MEASURED then list = list .. entry .. ' ' end
    end
    call('HSET', META, 'rates', list)
  end
  r.minute, r.admitted, r.idle = minute, 0, false
end
r.idle = r.idle or waiting() == 0
