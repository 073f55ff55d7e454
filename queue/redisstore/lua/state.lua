-- What every verb that reports begins with: the state of the room. Times are
-- milliseconds since the Unix epoch.

local MINUTE = 60000

-- r is the room: what is read of it at first, and what the call makes of that. It
-- is one table because a function takes the longer to make the more it shares with
-- others by name, and each call makes all of them; and it is made with almost all
-- that it will have, because growing takes longer.
local r = {
  last = false, offset = 0, time = 0, now = 0, told = false, gap = false, doubting = false,
  doubt = 0, minute = 0, admitted = 0, present = 0, first_window = 0, grace = 0, kept = 0, idle = false, any_revoked = false,
  server_before = false, server = '', node = '', seq = 0, known_seq = false, told_now = 0, slack = 0, epoch = false, told_epoch = '',
  want_whole = false, closed = false, counted = false, active = 0, first_end = 0, lasting = false, moments = false,
  has_line = false, lined_by = 0, given = 0, began = 0, floor = 0, top = 0, since = 0, swept = 0, unknown = 0,
  ahead_of_all = 0, in_order = 0, behind_all = 0,
}

-- The configuration; no slots are open before the first. place is how long a place
-- in line can be left and come back to; fleeting says that even the configuration
-- goes with the rest; lasts is how long a session does from a grant, dropout a place
-- in an exact line from a check-in; back is within what time of a check-in whoever
-- stays makes the next one. lined is the version by which the method became
-- line, and lined_at when that was.
local function load_configuration()
  local limits, queueall, fleeting = call('HGET', CONF, 'limits')
  limits = limits or struct.pack(LIMITS, 0, 0, 0, 1000, 0, 1000, 0, 0, 0, 0, 0, 0, 'fifo', 'minute')
  r.version, r.total, r.perminute, r.duration, r.place, r.lasts, r.dropout, r.back, queueall, fleeting, r.lined, r.lined_at, r.method,
    r.pacing = struct.unpack(LIMITS, limits)
  r.queueall, r.fleeting = queueall == 1, fleeting == 1
end
load_configuration()

-- The room's clock at the call before, nil for a room without memory, and what it
-- is ahead of the server's.
local m = call('HMGET', META, 'now', 'offset', 'state', 'line')
r.last, r.offset = tonumber(m[1]), tonumber(m[2]) or 0

-- What a call reads and writes whole: since when a step of the clock is doubted, 0
-- if none is; the minute, the admissions in it, people present; a moment before
-- which no window passes, 0 for none; until when admissions wait for nodes, 0 if
-- they do not; the minute in which the lives of the keys were last renewed; how many
-- sessions count, and the end of the first of them, 0 if that is to be looked up; whether
-- nobody waited at some moment of the minute; whether any id is revoked; whether the keys
-- of what a grant adds to have an end; the server's process.
local STATE = '>dddddddddbbbs'
local idle, any_revoked, lasting
if m[3] then
  r.doubt, r.minute, r.admitted, r.present, r.first_window, r.grace, r.kept, r.active, r.first_end, idle, any_revoked, lasting, r.server_before =
    struct.unpack(STATE, m[3])
end
r.idle, r.any_revoked, r.lasting = idle == 1, any_revoked == 1, lasting == 1

-- touched are keys that this call may have made; they are to have an end.
local touched = {}
local function touch(key) touched[key] = true end
