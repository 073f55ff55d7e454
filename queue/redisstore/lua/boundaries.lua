-- Where the fine buckets of a room begin, as memstore's boundaries.go has them. The field
-- bounds has them: when the store last looked, and of each boundary where it is and when
-- everybody is counted by it, or 0.

local BOUND, BYTES = '>dd', 16

-- segments returns when the times begin in which people are counted, between the boundaries and between multiples of the longest
-- bucket, and when everybody is counted by it: false where it is such a multiple only. Lists of numbers take less time than one
-- of tables.
local function segments(packed, starts)
  local wholes, over = {}, 0
  for _, start in ipairs(starts) do
    if start >= over then
      wholes[#wholes + 1] = start - start % rules.longest
      over = wholes[#wholes] + rules.longest
    end
  end
  local begins, settle, n, last, whole_one = {}, {}, 0, 0, 1
  local function add(begin, settles)
    n, last = n + 1, begin
    begins[n], settle[n] = begin, settles
  end
  local function add_wholes(before)
    while wholes[whole_one] and wholes[whole_one] < before do
      if wholes[whole_one] > last then add(wholes[whole_one], false) end
      whole_one = whole_one + 1
    end
  end
  sound(#packed < 9 or #packed % BYTES == 8)
  for at = 9, #packed, BYTES do
    local begin, settles = struct.unpack(BOUND, packed, at)
    if (wholes[whole_one] or begin) < begin then add_wholes(begin) end
    if begin > last then add(begin, settles) end
  end
  add_wholes(math.huge)
  return begins, settle
end

-- cut_segments returns the boundaries that the segments should have. One into which people
-- are arriving now ends with the last arrival bucket that is over. One that is older is cut
-- into equal parts of its time.
local function cut_segments(packed, starts, people, least)
  local begins, settle = segments(packed, starts)
  local now, counted = r.now - r.now % $ArrivalTime, 1
  local bounds, ahead, MOST = {}, 0, $MaxBoundaries
  local function set(at, settles) bounds[#bounds + 1] = struct.pack(BOUND, at, settles) end
  for k, begin in ipairs(begins) do
    local settles, after, ends = settle[k], begins[k + 1], begin - begin % rules.longest + rules.longest
    local all_settled = (settles or 0) <= r.now
    if after and after <= ends then ends, all_settled = after, all_settled and (settle[k + 1] or 0) <= r.now end
    local here, open, spare, parts = 0, ends > r.now, MOST - #bounds, 1
    while starts[counted] and starts[counted] < ends do
      here = here + people[counted]
      counted = counted + 1
    end
    local many = here > least and here > math.floor(ahead / $CutShare)
    if many and not open and all_settled then
      parts = math.min(math.ceil(here / math.max(least, math.floor(ahead / $CutShare))), ends - begin, spare)
    end
    if parts > 1 then
      set(begin, 0)
      local back = math.max(rules.back, math.min(rules.allback, rules.back + math.ceil((ahead + here) * rules.each)))
      for i = 1, parts - 1 do set(begin + math.floor((ends - begin) * i / parts), r.now + back + r.slack) end
    elseif settles and spare > 0 and (here > 0 or open or not all_settled) then
      set(begin, settles)
    end
    if many and open and begin < now and spare > 1 then set(now, 0) end
    ahead = ahead + here
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
    local starts = {}
    for i, bucket in ipairs(buckets) do starts[i] = numeric(bucket) end
    packed = struct.pack('>d', r.now) .. cut_segments(packed, starts, people, least)
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
