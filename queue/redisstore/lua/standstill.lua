-- Has sessions stand still, or go on, as the rules want it; and reads what is left.

if m[9] and #m[9] == 16 then r.stock_at, r.stock = struct.unpack('>dd', m[9]) end

-- postpone has each session that lasts begin and end later by so much.
local function postpone(by)
  each(call('ZRANGEBYSCORE', SESSIONS, '(' .. whole(r.sessions_now - r.slack), '+inf'), function(part)
    local ends, since, sessions, admitted = call('ZMSCORE', SESSIONS, unpack(part)), call('ZMSCORE', ADMITTED, unpack(part)), {}, {}
    for i, id in ipairs(part) do
      table.insert(sessions, whole(ends[i] + by))
      table.insert(sessions, id)
      if since[i] then
        table.insert(admitted, whole(since[i] + by))
        table.insert(admitted, id)
      end
    end
    alter(SESSIONS)
    call('ZADD', SESSIONS, unpack(sessions))
    if #admitted > 0 then
      touch(ADMITTED)
      call('ZADD', ADMITTED, unpack(admitted))
    end
  end)
  r.first_end = 0
end

local function stand_still()
  if rules.stands and r.stands == 0 then
    r.stands = r.now
    call('HSET', META, 'stands', now)
  elseif not rules.stands and r.stands > 0 and rules.version > 0 then
    check(FIRST, FIRST) -- the sessions
    postpone(stood())
    r.stands = 0
    call('HDEL', META, 'stands')
  end
  know_sessions_now()
end
stand_still()
