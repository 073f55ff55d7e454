-- What every verb that reports begins with: the state of the room, and the head
-- of the report. Times are milliseconds since the Unix epoch.

local MINUTE = 60000
local GRACE = 10000  -- how long admissions wait for nodes that do not report
local STEP = 1000    -- how many entries one call sweeps at most
local MEASURED = 60  -- whole minutes that the rate is taken over at most
local LATELY = 5     -- whole minutes without an admission after which the rate is none
local DRAWS = 4096   -- how many draws are remembered at most
local PARTS = 4096   -- how many parts random pacing releases an allowance in at most

-- The configuration of the room; no slots are open before the first. place is
-- how long a place in line can be left and come back to; fleeting says that even
-- the configuration goes with the rest; lasts is how long a session does from a
-- grant, dropout a place in an exact line from a check-in; back is within what time
-- of a check-in whoever stays makes the next one. lined is the version by
-- which the method became line, and lined_at when that was.
local version, total, perminute, duration, place, method, pacing, queueall, fleeting
local lasts, dropout, back, lined, lined_at

local function load_configuration()
  local c = call('HGET', CONF, 'limits') or '0 0 0 1000 0 fifo minute 0 0 1000 0 0 0 0'
  version, total, perminute, duration, place, method, pacing, queueall, fleeting, lasts, dropout, back, lined, lined_at =
    string.match(c, '(%d+) (%d+) (%d+) (%d+) (%d+) (%a+) (%a+) (%d) (%d) (%d+) (%d+) (%d+) (%d+) (%d+)')
  version, total, perminute = tonumber(version), tonumber(total), tonumber(perminute)
  duration, place, queueall, fleeting = tonumber(duration), tonumber(place), queueall == '1', fleeting == '1'
  lasts, dropout, back, lined_at = tonumber(lasts), tonumber(dropout), tonumber(back), tonumber(lined_at)
end
load_configuration()

-- The room's clock at the call before, nil for a room without memory, and what it
-- is ahead of the server's.
local m = call('HMGET', META, 'now', 'offset', 'state', 'line')
local last, offset = tonumber(m[1]), tonumber(m[2]) or 0

-- What a call reads and writes whole: since when a step of the clock is doubted, 0
-- if none is; the minute, the admissions in it, whether nobody waited at some
-- moment of it; people present; a moment before which no window passes, 0 for
-- none; until when admissions wait for nodes, 0 if they do not; the minute in
-- which the lives of the keys were last renewed; whether any id is revoked; the
-- server's process.
local doubt, minute, admitted, idle, present, first_window, grace, kept, any_revoked, server_before =
  string.match(m[3] or '', '(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S*)')
doubt, minute, admitted, idle = tonumber(doubt) or 0, tonumber(minute) or 0, tonumber(admitted) or 0, idle == '1'
present, first_window, grace = tonumber(present) or 0, tonumber(first_window) or 0, tonumber(grace) or 0
kept, any_revoked = tonumber(kept), any_revoked == '1'

-- touched are keys that this call may have made; they are to have an end.
local touched = {}
local function touch(key) touched[key] = true end

-- The head of the report. candidate names the room's memory if it begins anew.
local node, seq, told_now, told_epoch = text(), number(), number(), text()
local candidate, slack, whole_report = text(), number(), text() == '1'

-- A room whose memory is gone in part begins anew like one that has none.
local epoch = last and call('GET', EPOCH)
local known_seq = tonumber(call('HGET', SEQS, node))
