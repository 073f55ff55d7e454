-- The numbers of an exact line; rooms that never had one have none.

-- lined_by is the version of the configuration that the line began with, and given
-- the highest number that was given out. The numbers above floor, up to top, are
-- for those who were waiting when the room got its line: one for each millisecond
-- in which they may have arrived before it began. Of whoever was in line before
-- since, their ticket tells. Windows up to swept have passed. unknown is when some of
-- those in line were not known last, 0 for never: until all who stay have checked in
-- since, nobody is let in, as the first to check in would be the first in line.
local lined_by, given, began, floor, top, since, swept, unknown =
  string.match(m[4] or '', '(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)')
local has_line = given ~= nil
given, began, floor, top = tonumber(given) or 0, tonumber(began) or 0, tonumber(floor) or 0, tonumber(top) or 0
since, swept, unknown = tonumber(since) or 0, tonumber(swept) or 0, tonumber(unknown) or 0

-- forget_line begins the line in an empty memory, of which nodes hear a little
-- later.
local function forget_line()
  call('UNLINK', ORDER, LEVELS, PLACES)
  given, floor, top, since, unknown = 0, 0, 0, now + slack, 0
  if told_epoch ~= '' then unknown = since end
end

-- begin_line begins the line of a room that had another method.
local function begin_line()
  -- In a gap in service nobody could check in: after it, tickets tell again.
  if gap then since = now + slack end
  if method ~= 'line' or lined_by == lined then return end
  has_line, lined_by = true, lined
  began = math.max(last or 0, lined_at)
  since, floor, top = math.max(since, began), given, given
  if present == 0 then return end
  -- Some may have waited for longer than they can be away.
  local first = tonumber(call('ZRANGE', BUCKETS, 0, 0)[1]) or began
  given = given + math.max(place, began - first)
  top, unknown = given, math.max(unknown, began)
end

local function save_line()
  if not has_line then return end
  local line = string.format('%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f', lined_by or '0', given, began, floor, top, since, swept, unknown)
  if line ~= m[4] then call('HSET', META, 'line', line) end
end

local LOOKS = 500 -- how many places one call looks up at most, beside one a claim

-- How many are in line: preferred, with the default priority, behind these.
local ahead_of_all, in_order, behind_all = 0, 0, 0
local function length() return ahead_of_all + in_order + behind_all end

-- settled is when that time ends; nil where there is nothing to wait for.
local function settled()
  if method == 'line' and now < unknown + back then return unknown + back end
end

-- waiting counts those who wait.
local function waiting() return method == 'line' and length() or present end

-- What there is once the line is open: rooms without one are spared the making of
-- all these functions.
local open_slots
local member_of, read, number_of, ahead_in_line, first_in_line, last_ends
local count_line, pass_places, touch_line, goodbye, give_priority, in_line, give_up
