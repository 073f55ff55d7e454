-- Decides the claims by the one rule, in the order in which they come: buckets
-- from the oldest, newcomers last.

local ahead_of, ahead_walked, buckets -- people before the bucket that was walked to last

-- ahead counts the people present in buckets before the given one. Claims come
-- in order of bucket, so one walk serves all of them.
local function ahead(bucket)
  if not buckets then
    buckets, ahead_walked, ahead_of = call('ZRANGE', BUCKETS, 0, -1), 1, 0
  end
  while buckets[ahead_walked] and tonumber(buckets[ahead_walked]) < bucket do
    ahead_of = ahead_of + (tonumber(call('HGET', COUNTS, buckets[ahead_walked])) or 0)
    ahead_walked = ahead_walked + 1
  end
  return ahead_of
end

local BEYOND = 4 -- the multiple of total_active_users up to which passthrough counts

local function decide(id, bucket, ends, due, held_only)
  if is_revoked(id) then return {5, '0', '0'} end
  local expires = tonumber(call('ZSCORE', SESSIONS, id)) or 0
  local at = tonumber(call('ZSCORE', ADMITTED, id)) or 0
  if expires > now - slack then
    if bucket ~= '0' then change(bucket, ends, -1) end
    return {2, whole(at), whole(math.max(expires, now + 1))}
  end
  if held_only or grace > 0 or want_whole or version == 0 then return {0, '0', '0'} end
  if bucket ~= '0' and at > 0 then return {4, '0', '0'} end
  local pass = method == 'passthrough' and not queueall
  if pass and active >= BEYOND * total then return {3, '0', '0'} end
  if not pass then
    local open, before = open_slots(), present
    if bucket ~= '0' then
      if method == 'random' then
        if (tonumber(call('ZSCORE', DRAWN, id)) or 0) > now then return {0, '0', '0'} end
        before = 0
      elseif open > 0 then
        before = ahead(tonumber(bucket))
      end
    end
    if open - before <= 0 then
      if method == 'random' and bucket ~= '0' and open == 0 and call('ZCARD', DRAWN) < DRAWS then
        call('ZADD', DRAWN, whole(due), id)
      end
      return {0, '0', '0'}
    end
  end
  if bucket ~= '0' then change(bucket, ends, -1) end
  idle = idle or present == 0
  expires = now + duration
  call('ZADD', SESSIONS, whole(expires), id)
  call('ZADD', ADMITTED, whole(now), id)
  active, admitted = active + 1, admitted + 1
  return {1, whole(now), whole(expires)}
end

local verdicts = {}
for i = 1, number() do
  verdicts[i] = decide(text(), text(), text(), number(), text() == '1')
end
save()
return {standing(), verdicts}
