-- The numbers of an exact line; rooms that never had one have none.

-- lined_by is the version of the configuration that the line began with, and given
-- the highest number that was given out. The numbers above floor, up to top, are
-- for those who were waiting when the room got its line: one for each millisecond
-- in which they may have arrived before it began. Of whoever was in line before
-- since, their ticket tells. Windows up to swept have passed. unknown is when some of
-- those in line were not known last, 0 for never: until all who stay have checked in
-- since, nobody is let in, as the first to check in would be the first in line.
local LINE = '>dddddddd'
r.has_line = m[4] and true
r.lined_by, r.given, r.began, r.floor, r.top, r.since, r.swept, r.unknown = 0, 0, 0, 0, 0, 0, 0, 0
if r.has_line then
  r.lined_by, r.given, r.began, r.floor, r.top, r.since, r.swept, r.unknown = struct.unpack(LINE, m[4])
end

-- begin_line begins the line of a room that had another method.
local function begin_line()
  -- In a gap in service nobody could check in: after it, tickets tell again.
  if r.gap and r.has_line and call('EXISTS', ORDER, LEVELS) > 0 then r.since, r.unknown = r.now + r.slack, r.now end
  if limits.method ~= 'line' or r.lined_by == limits.lined then return end
  r.has_line, r.lined_by = true, limits.lined
  r.began = math.max(r.last or 0, limits.lined_at)
  r.since, r.floor, r.top = math.max(r.since, r.began), r.given, r.given
  if r.present == 0 then return end
  -- Some may have waited for longer than they can be away.
  local first = tonumber(call('ZRANGEBYSCORE', BUCKETS, 0, '+inf', 'LIMIT', 0, 1)[1]) or r.began
  r.given = r.given + math.max(limits.place, r.began - first)
  r.top, r.unknown = r.given, math.max(r.unknown, r.began)
end

-- How many are in line: preferred, with the default priority, behind these.
r.ahead_of_all, r.in_order, r.behind_all = 0, 0, 0
local function length() return r.ahead_of_all + r.in_order + r.behind_all end

-- settled is when those in line are all known again; nil where they are.
local function settled()
  if limits.method == 'line' and r.now < r.unknown + limits.back then return r.unknown + limits.back end
end

-- let_in is when an id was last let in; nil if that is not known.
local function let_in(id) return tonumber(call('ZSCORE', ADMITTED, id)) end

-- waiting counts those who wait.
local function waiting() return limits.method == 'line' and length() or r.present end

local function is_revoked(id)
  if not r.any_revoked then return false end
  local ends = tonumber(call('ZSCORE', REVOKED, id))
  return ends and ends > r.now
end

-- The functions of the line, once it is open: rooms without one are spared the making
-- of all these.
local line = {}
local open_slots
