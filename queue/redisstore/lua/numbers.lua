-- The numbers of an exact line. A room that never had a line has none.

-- LINE is what the store keeps of it:
-- lined_by is the version of the configuration with which the line began, and began, when.
-- given is the highest number that was given out or reserved.
-- The numbers above floor, up to top, are reserved for people who waited when the room
-- got its line: one for each millisecond in which one of them may have arrived.
-- From gap_from until gap_until no gate ran.
-- swept is the last window whose places were looked up.
-- unknown is when it was last that places in line were not known, 0 for never. Until
-- everybody who still waits has checked in since then, nobody is admitted: else whoever
-- happens to check in first would be the first in line.
-- absent_until is until when places are remembered of visitors who said goodbye.
--
-- Behind the numbers are the gaps before the last one, the oldest first: from and until for each. Gates of format 2 leave them out.
local LINE, GAP_BEFORE = '>dddddddddd', '>dd'
r.has_line = m[4] and not (forgotten and (#m[4] < struct.size(LINE) or #m[4] % struct.size(GAP_BEFORE) ~= 0))
r.lined_by, r.given, r.began, r.floor, r.top, r.swept, r.unknown, r.absent_until, r.gaps = 0, 0, 0, 0, 0, 0, 0, 0, {}
if r.has_line then
  local gap_until, gap_from
  r.lined_by, r.given, r.began, r.floor, r.top, gap_until, r.swept, r.unknown, gap_from, r.absent_until = unpacked(LINE, m[4])
  for at = struct.size(LINE) + 1, #m[4], struct.size(GAP_BEFORE) do
    local from, till = unpacked(GAP_BEFORE, m[4], at)
    table.insert(r.gaps, {from = from, till = till})
  end
  if gap_until > gap_from then table.insert(r.gaps, {from = gap_from, till = gap_until}) end
end

-- ago is the moment since which so much running time has passed.
local function ago(span)
  local at = r.now - span
  for i = #r.gaps, 1, -1 do
    if r.gaps[i].till <= at then break end
    at = at - (r.gaps[i].till - r.gaps[i].from)
  end
  return at
end

-- hear_number takes in a number that was given out. One that the store does not know of shows that it has forgotten some.
local function hear_number(number)
  if number > r.given then r.given = number + $LostNumbers end
end

-- begin_line begins the line of a room that had another method.
local function begin_line()
  -- In a gap in service places are lost: after it, they are taken up from tickets.
  if r.gap and r.has_line and call('EXISTS', ORDER, LEVELS) > 0 then r.unknown = r.now end
  if rules.method ~= 'line' or r.lined_by == rules.lined then return end
  r.has_line, r.lined_by = true, rules.lined
  r.began = math.max(r.last or 0, rules.lined_at)
  r.floor, r.top = r.given, r.given
  if r.present == 0 then return end
  -- Some may have waited for longer than a place outlives its last check-in.
  local first = tonumber(call('ZRANGEBYSCORE', BUCKETS, 0, '+inf', 'LIMIT', 0, 1)[1]) or r.began
  r.given = r.given + math.max(rules.place, r.began - first)
  r.top, r.unknown = r.given, math.max(r.unknown, r.began)
end

-- How many are in line with a higher, with the default, and with a lower priority.
r.ahead_of_all, r.in_order, r.behind_all = 0, 0, 0
local function length() return r.ahead_of_all + r.in_order + r.behind_all end

-- settles_at is when all places in line are known again; nil if they are known.
local function settles_at()
  if rules.method == 'line' and r.now < r.unknown + rules.back then return r.unknown + rules.back end
end

-- line has the functions of the exact line, once open_line was called: in a room without
-- a line, no call has to make them.
local line = {}
