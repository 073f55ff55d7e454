-- What the call was given and what the store remembers.

-- The head of the report, and how long its lists are. Names with node_ are the room as
-- the reporting node has it.
local node, node_epoch = text(), text()
local seq, node_now, node_since, node_version, whole_report, nodes, cells, sessions, revoked, node_minute, node_admitted, node_given, left, unanswered, told, preferred, node_factor, newcomers, heard, heard_left, node_final, noted
seq, node_now, node_since, node_version, r.slack, whole_report, nodes, cells, sessions, revoked, node_minute, node_admitted, node_given, left, unanswered, told, preferred, node_factor, newcomers, heard, heard_left, node_final, noted =
  struct.unpack('>ddddddddddddddddddddddd', text())

-- The room's clock at the call before, nil for a room without memory, and how far it is
-- ahead of the server's.
local m = call('HMGET', META, 'now', 'offset', 'state', 'line', node, 'slowed', 'mark', 'standstill', 'stock', 'ended', 'format', 'untold', 'notes')
local offset = tonumber(m[2]) or 0
r.has_notes = m[13] -- false where nothing was ever said of a visitor
r.last = tonumber(m[1])

-- The field format has the format of the memory: that of the newest gate that has written it. It
-- grows when an older gate would misread what a newer one keeps. Gates whose formats differ by one
-- understand each other; others would take each other's words for a broken memory.
local FORMAT = $Format
local format = tonumber(m[11]) or FORMAT
if math.abs(format - FORMAT) > 1 then
  error('the memory of the room has format ' .. format .. ', and this gate works with ' .. FORMAT - 1 .. ' to ' .. FORMAT + 1, 0)
end

-- STATE is what every call reads and writes as a whole:
-- since when a step of the clock is doubted, 0 if none is;
-- the minute, the admissions in it, and how many people are present;
-- a moment before which no window passes, 0 for none;
-- until when admissions wait for nodes, 0 if they do not;
-- the minute in which the lives of the keys were last renewed;
-- how many sessions count, and the end of the first of them, 0 if it has to be looked up;
-- the version of the configuration;
-- whether nobody waited at some moment of the minute;
-- whether any id is revoked, and whether a revoked session still holds its slot;
-- the marks of the keys, the name of the memory, and the server's process.
local STATE, MARKS, NO_MARKS = '>ddddddddddbbbc72ss', '>ddddddddd', string.rep('\0', 72)
local doubt, kept, known_version, idle, any_revoked, unheard, packed_marks, epoch, server_before = 0, 0, 0, 0, 0, 0, NO_MARKS, nil, nil
if r.last and m[3] and not forgotten then
  doubt, r.minute, r.admitted, r.present, r.first_window, r.awaits_until, kept, r.active, r.first_end, known_version, idle, any_revoked, unheard, packed_marks,
    epoch, server_before = unpacked(STATE, m[3])
end
r.idle, r.any_revoked, r.unheard = idle == 1, any_revoked == 1, unheard == 1

-- NODE is what the store keeps of a node, under its name: the number of its last report
-- that was counted, -1 if none was; when it last reported; and the moment of the view that
-- it had then.
local NODE = '>ddd'
local known_seq, reported
if m[5] and not forgotten then known_seq, reported = unpacked(NODE, m[5]) end
if known_seq == -1 then known_seq = nil end
