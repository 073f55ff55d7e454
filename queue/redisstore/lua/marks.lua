-- Each key that has to be right for long bears a mark: a member of a sorted set, or a
-- field of a hash. Each call that changes the key changes the mark, too, and writes it into
-- the state. So before a call writes to a key, and at each sync, a mark that differs from
-- the state shows that the key was lost, or is as it was earlier. The memory then counts
-- as broken.

-- In a sorted set by time the mark comes before all members; where ranks count, it comes
-- behind all.
local MARK = string.rep('\255', 17)
local FIRST, LAST = 8, 16 -- which of the KEYS bear one

-- marks are in the order of the keys; 0 for a key that was not made yet.
local marks, altered = nil, {}

-- alter has to be called before this call changes a key. A mark begins with the time, so
-- that no two memories have the same.
local function alter(key)
  if altered[key] then return end
  altered[key] = true
  marks = marks or {struct.unpack(MARKS, packed_marks)}
  local i = 1
  while KEYS[i + FIRST - 1] ~= key do i = i + 1 end
  local mark, step, found = marks[i], 1, nil
  if mark == 0 then
    step = t[1] * 1000000 + t[2]
    touch(key)
  end
  if key == COUNTS or key == PLACES then
    mark = mark + step
    found = call('HINCRBY', key, MARK, whole(step))
  else
    if key ~= ORDER and key ~= LEVELS and key ~= UNCONFIRMED then step = -step end
    mark = mark + step
    found = tonumber(call('ZINCRBY', key, whole(step), MARK))
  end
  if found ~= mark then error(BROKEN, 0) end
  marks[i] = mark
end

-- check makes sure that the KEYS from first to last are as the last call left them.
local function check(first, last)
  marks = marks or {struct.unpack(MARKS, packed_marks)}
  for i = first, last do
    local key = KEYS[i]
    if not altered[key] then
      local found = call((key == COUNTS or key == PLACES) and 'HGET' or 'ZSCORE', key, MARK)
      if (tonumber(found) or 0) ~= marks[i - FIRST + 1] then error(BROKEN, 0) end
    end
  end
end
