-- Each key of what is not told again by itself bears a mark: a member of a sorted set, a
-- field of a hash. It is another one after each call that changes the key, and the state
-- says which: a key that was lost, or is as it once was, is told by its mark before
-- anything is written to it, and at each sync. The memory counts as lost then.

-- The marks of sorted sets are before all that these have by time, and behind all
-- where ranks count.
local MARK = string.rep('\255', 17)
local MARKED = {SESSIONS, ADMITTED, COUNTS, BUCKETS, WINDOWS, REVOKED, ORDER, LEVELS, UNCONFIRMED, PLACES}
local BROKEN = 'the memory of the room is broken'

local function hash(key) return key == COUNTS or key == PLACES end
local function ranked(key) return key == ORDER or key == LEVELS or key == UNCONFIRMED end

-- marks are by their keys; 0 of a key that was not made yet.
local marks
local function read_marks()
  marks = {}
  local list = {struct.unpack(MARKS, packed_marks)}
  for i, key in ipairs(MARKED) do marks[key] = list[i] end
end

local function pack_marks()
  if not marks then return packed_marks end
  local list = {}
  for i, key in ipairs(MARKED) do list[i] = marks[key] end
  return struct.pack(MARKS, unpack(list))
end

-- alter comes before what this call changes in a key. A mark begins with the time,
-- so that no two memories have the same.
local altered = {}
local function alter(key)
  if altered[key] then return end
  altered[key] = true
  if not marks then read_marks() end
  local mark, step, found = marks[key], 1, nil
  if mark == 0 then
    step = t[1] * 1000000 + t[2]
    touch(key)
  end
  if hash(key) then
    mark = mark + step
    found = call('HINCRBY', key, MARK, whole(step))
  else
    if not ranked(key) then step = -step end
    mark = mark + step
    found = tonumber(call('ZINCRBY', key, whole(step), MARK))
  end
  if found ~= mark then error(BROKEN, 0) end
  marks[key] = mark
end

-- check makes sure that a key is as the last call left it.
local function check(key)
  if altered[key] then return end
  if not marks then read_marks() end
  local found = hash(key) and call('HGET', key, MARK) or not hash(key) and call('ZSCORE', key, MARK)
  if (tonumber(found) or 0) ~= marks[key] then error(BROKEN, 0) end
end

-- unmark leaves of a sorted set what can be kept, if it is one.
local function unmark(key)
  if call('TYPE', key).ok == 'zset' then
    call('ZREM', key, MARK)
  else
    call('DEL', key)
  end
end

-- forget has nothing left of what nodes will report anew. Sessions are kept, and
-- admissions and revocations: their ids make it harmless to report them twice.
local function forget()
  call('DEL', META, COUNTS, BUCKETS, WINDOWS, DRAWN, LEFT)
  local line = {ORDER, LEVELS, UNCONFIRMED, PLACES}
  for list = 0, RING - 1 do line[#line + 1] = PLACES .. ':' .. list end
  call('UNLINK', unpack(line))
  for _, key in ipairs({SESSIONS, ADMITTED, REVOKED}) do unmark(key) end
  marks, packed_marks = nil, NO_MARKS
end
