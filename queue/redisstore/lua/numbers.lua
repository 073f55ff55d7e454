-- The numbers of an exact line. A room that never had a line has none.

-- LINE is what the store keeps of it:
-- lined_by is the version of the configuration with which the line began, and began, when.
-- given is the highest number that was given out or reserved.
-- The numbers above floor, up to top, are reserved for people who waited when the room
-- got its line: one for each millisecond in which one of them may have arrived.
-- From gap_from until gap_until no node was there, and nobody could check in.
-- swept is the last window whose places were looked up.
-- unknown is when it was last that places in line were not known, 0 for never. Until
-- everybody who still waits has checked in since then, nobody is admitted: else whoever
-- happens to check in first would be the first in line.
-- absent_until is until when places are remembered of visitors who said goodbye.
--
-- Gates of format 1 read and write the numbers up to unknown. For them gap_until is the moment from before which tickets may know
-- of places that the line has lost. Where such a gate has written last, there was no gap.
local LINE, OF_FORMAT_1 = '>dddddddddd', '>dddddddd'
if m[4] and #m[4] == struct.size(OF_FORMAT_1) then
  local _, _, _, _, _, gap_until = struct.unpack(OF_FORMAT_1, m[4])
  m[4] = m[4] .. struct.pack('>dd', gap_until, 0)
end
r.has_line = m[4] and not (forgotten and #m[4] ~= struct.size(LINE))
r.lined_by, r.given, r.began, r.floor, r.top, r.gap_until, r.swept, r.unknown, r.gap_from, r.absent_until = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
if r.has_line then
  r.lined_by, r.given, r.began, r.floor, r.top, r.gap_until, r.swept, r.unknown, r.gap_from, r.absent_until = unpacked(LINE, m[4])
end

-- begin_line begins the line of a room that had another method.
local function begin_line()
  -- In a gap in service places are lost: after it, they are taken up from tickets. The gap may
  -- have been the store's own: then a node comes with a view from before it, and visitors could
  -- check in there. A short gap soon after a long one takes nothing from those who are not back
  -- yet.
  if r.gap and r.has_line and call('EXISTS', ORDER, LEVELS) > 0 then r.unknown = r.now end
  if r.gap and (node_since == 0 or node_since > r.last) then
    if r.now - r.last > r.gap_until - r.gap_from or r.last > r.gap_until + rules.dropout then r.gap_from, r.gap_until = r.last, r.now end
  elseif node_since > 0 and node_since <= r.gap_from then
    r.gap_from, r.gap_until = 0, 0
  end
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
