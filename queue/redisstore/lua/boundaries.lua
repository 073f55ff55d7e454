-- Where the fine buckets of a room begin, as memstore's boundaries.go has them. The field
-- bounds has them: when the store last looked, and of each boundary where it is and when a
-- longer bucket was cut there, or 0.

local BOUND = '>dd'

-- segments are the times between the boundaries, and between multiples of the longest
-- bucket, in which people are counted.
local function segments(packed, buckets, people)
  local settled, list, at, i = r.now - rules.back - r.slack, {}, 9, 1
  local function add(begin, cut, fine)
    local last = list[#list]
    if not last or last.at < begin then list[#list + 1] = {at = begin, cut = cut, fine = fine, people = 0} end
  end
  local function whole_ones(before)
    while buckets[i] and buckets[i] - buckets[i] % rules.longest < before do
      add(buckets[i] - buckets[i] % rules.longest, 0, false)
      i = i + 1
    end
  end
  while at < #packed do
    local begin, cut
    begin, cut, at = unpacked(BOUND, packed, at)
    whole_ones(begin)
    add(begin, cut, true)
  end
  whole_ones(math.huge)
  local counted = 1
  for k, s in ipairs(list) do
    local after = list[k + 1]
    s.ends, s.settled = s.at - s.at % rules.longest + rules.longest, s.cut <= settled
    if after and after.at <= s.ends then s.ends, s.settled = after.at, s.settled and after.cut <= settled end
    while buckets[counted] and tonumber(buckets[counted]) < s.ends do
      s.people = s.people + people[counted]
      counted = counted + 1
    end
  end
  return list
end

-- cut_segments returns the boundaries that the segments should have. One into which people
-- are arriving now ends with the last arrival bucket that is over. One that is older is cut
-- into equal parts of its time.
local function cut_segments(list, least)
  local bounds, ahead, MOST, now = {}, 0, $MaxBoundaries, r.now - r.now % $ArrivalTime
  local function set(at, cut) bounds[#bounds + 1] = struct.pack(BOUND, at, cut) end
  for _, s in ipairs(list) do
    local most, spare, open = math.max(least, math.floor(ahead / $CutShare)), MOST - #bounds, s.ends > r.now
    local parts = math.min(math.ceil(s.people / most), s.ends - s.at, spare)
    if not open and s.settled and parts > 1 then
      set(s.at, 0)
      for k = 1, parts - 1 do set(s.at + math.floor((s.ends - s.at) * k / parts), r.now) end
    elseif s.fine and spare > 0 and (s.people > 0 or open or not s.settled) then
      set(s.at, s.cut)
    end
    if open and s.people > most and s.at < now and spare > 1 then set(now, 0) end
    ahead = ahead + s.people
  end
  return table.concat(bounds)
end

-- cut_buckets returns the boundaries. Some time after the last look, it cuts the buckets
-- that hold too many people for so few ahead of them, and drops boundaries behind which
-- nobody is any more; but not while some counts are missing.
local function cut_buckets(buckets, people, per_minute)
  local packed = call('HGET', META, 'bounds') or ''
  if not rules.cuts then
    if packed ~= '' then call('HDEL', META, 'bounds') end
    return ''
  end
  if #packed < 8 or r.awaits_until == 0 and r.now - struct.unpack('>d', packed) >= $CutInterval then
    per_minute = per_minute or math.min(rules.perminute, rules.total * MINUTE / rules.lasts)
    local least = math.max(1, math.floor(per_minute * $CutTime / MINUTE))
    packed = struct.pack('>d', r.now) .. cut_segments(segments(packed, buckets, people), least)
    call('HSET', META, 'bounds', packed)
  end
  return string.sub(packed, 9)
end

-- ends_within counts the sessions that end within each of some times, while people wait in
-- order.
local function ends_within()
  local steps, ends = $EndSteps, {}
  if waiting() == 0 or rules.method ~= 'fifo' and rules.method ~= 'line' then return '' end
  for i, step in ipairs(steps) do
    ends[i] = struct.pack('>d', call('ZCOUNT', SESSIONS, '(' .. whole(r.ended_by), whole(r.sessions_now + step)))
  end
  return table.concat(ends)
end
