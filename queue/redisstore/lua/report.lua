-- The report: what the node saw since its last one, or all that it knows. One
-- that was counted before, and is sent again because its answer was lost, is not
-- counted again.

local function is_revoked(id)
  if not any_revoked then return false end
  local ends = tonumber(call('ZSCORE', REVOKED, id))
  return ends and ends > now
end

local function use_up(id)
  call('ZADD', ADMITTED, 'NX', whole(now), id)
  touch(ADMITTED)
end

-- extend makes a session last until expires at least. A session that nobody was
-- granted here has used its visitor's place in line all the same.
local function extend(id, expires)
  local known = tonumber(call('ZSCORE', SESSIONS, id))
  if not known then use_up(id) end
  if expires > (known or 0) then
    call('ZADD', SESSIONS, whole(expires), id)
    touch(SESSIONS)
  end
end

-- sweep drops what can matter no more, some of it at each sync.
local function sweep()
  local function dead(key, past)
    return call('ZRANGEBYSCORE', key, '-inf', whole(past), 'LIMIT', 0, STEP)
  end
  local function drop(key, past)
    each(dead(key, past), function(part) call('ZREM', key, unpack(part)) end)
  end
  drop(SESSIONS, now - slack)
  drop(REVOKED, now)
  any_revoked = call('EXISTS', REVOKED) == 1
  drop(DRAWN, now)
  -- In small rooms it is known of everyone who is in since when.
  local past = dead(ADMITTED, now - math.max(place, duration))
  each(past, function(part)
    local ends = total < STEP and #past < STEP and call('ZMSCORE', SESSIONS, unpack(part)) or {}
    local gone = {}
    for i, id in ipairs(part) do
      if not ends[i] then table.insert(gone, id) end
    end
    if #gone > 0 then call('ZREM', ADMITTED, unpack(gone)) end
  end)
  each(dead(SEEN, now - 60 * MINUTE), function(part)
    call('ZREM', SEEN, unpack(part))
    call('HDEL', SEQS, unpack(part))
  end)
end

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
    use_up(id)
    if ends > (tonumber(call('ZSCORE', REVOKED, id)) or 0) then
      call('ZADD', REVOKED, whole(ends), id)
      touch(REVOKED)
      any_revoked = true
    end
  end
end
local told_minute, told_admitted = number(), number()
if not counted and not want_whole and told_minute == minute then admitted = admitted + told_admitted end
local told_given, left, preferred = number(), number(), number()
if told_given > given then
  given = told_given
  open_line()
end
for _ = 1, left do
  local id, at = text(), number()
  if has_line and not counted then goodbye(id, at) end
end
for _ = 1, preferred do
  local id, priority = text(), number()
  if has_line and not counted then give_priority(id, priority) end
end
if not want_whole and not counted then
  call('HSET', SEQS, node, seq)
  if not known_seq then touch(SEQS) end
end
if syncing then sweep() end
