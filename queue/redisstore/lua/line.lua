-- The line: how many people are present in each cell, which is a bucket and the end of a
-- window of time, and in each bucket. Windows count for the slack longer, because nodes
-- may not have reported a check-in yet.

-- change_buckets counts so many people more in each bucket, or fewer.
local function change_buckets(more)
  local buckets, counts, empty, new = {}, {}, {}, {}
  for bucket, people in pairs(more) do
    if people ~= 0 then buckets[#buckets + 1] = bucket end
  end
  if #buckets == 0 then return end
  alter(COUNTS)
  each(buckets, function(part)
    for i, found in ipairs(call('HMGET', COUNTS, unpack(part))) do
      local bucket, before = part[i], found and numeric(found) or 0
      local after = before + more[bucket]
      r.present = r.present + more[bucket]
      if after == 0 then
        empty[#empty + 1] = bucket
      else
        counts[#counts + 1], counts[#counts + 2] = bucket, after
        if before == 0 then new[#new + 1], new[#new + 2] = bucket, bucket end
      end
    end
  end)
  each(counts, function(part) call('HSET', COUNTS, unpack(part)) end)
  each(empty, function(part) call('HDEL', COUNTS, unpack(part)) end)
  if #empty + #new > 0 then alter(BUCKETS) end
  each(empty, function(part) call('ZREM', BUCKETS, unpack(part)) end)
  each(new, function(part) call('ZADD', BUCKETS, unpack(part)) end)
end

-- change counts people more in cells, or fewer, but never fewer than none: while some counts are
-- missing, a cell may hold less than none, which counts as none. The list has the bucket, the end of the
-- window and the people of each change.
local function change(list)
  local cells, at_first, now_in, more = {}, {}, {}, {}
  for i = 1, #list, 3 do cells[#cells + 1] = list[i + 1] .. ':' .. list[i] end
  each(cells, function(part)
    for i, found in ipairs(call('HMGET', COUNTS, unpack(part))) do at_first[part[i]] = tonumber(found) or 0 end
  end)
  for i, cell in ipairs(cells) do
    local bucket, ends, people = list[3 * i - 2], list[3 * i - 1], list[3 * i]
    if tonumber(ends) + r.slack > r.now then
      local before = now_in[cell] or at_first[cell]
      local after = math.max(before + people, r.partial and -math.huge or math.min(before, 0))
      if after ~= before then
        now_in[cell], more[bucket] = after, (more[bucket] or 0) + math.max(after, 0) - math.max(before, 0)
      end
    end
  end
  local counts, empty, new = {}, {}, {}
  for cell, after in pairs(now_in) do
    if after == 0 then
      empty[#empty + 1] = cell
    else
      counts[#counts + 1], counts[#counts + 2] = cell, after
      if at_first[cell] == 0 then
        local ends = string.match(cell, '%d+')
        new[#new + 1], new[#new + 2] = ends, cell
        if r.first_window == 0 or tonumber(ends) < r.first_window then r.first_window = tonumber(ends) end
      end
    end
  end
  if #counts + #empty == 0 then return end
  alter(COUNTS)
  each(counts, function(part) call('HSET', COUNTS, unpack(part)) end)
  each(empty, function(part) call('HDEL', COUNTS, unpack(part)) end)
  if #empty + #new > 0 then alter(WINDOWS) end
  each(empty, function(part) call('ZREM', WINDOWS, unpack(part)) end)
  each(new, function(part) call('ZADD', WINDOWS, unpack(part)) end)
  change_buckets(more)
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
  each(call('ZRANGEBYSCORE', WINDOWS, 0, whole(r.now - r.slack)), function(part)
    local gone = {}
    for i, people in ipairs(call('HMGET', COUNTS, unpack(part))) do
      local bucket = string.match(part[i], ':(%d+)$')
      gone[bucket] = (gone[bucket] or 0) - math.max(tonumber(people) or 0, 0)
    end
    change_buckets(gone)
    call('HDEL', COUNTS, unpack(part))
    call('ZREM', WINDOWS, unpack(part))
  end)
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
