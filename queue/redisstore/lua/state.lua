-- What every verb that reports begins with: the state of the room. Times are
-- milliseconds since the Unix epoch.

local MINUTE = 60000

-- r is the room: what is read of it at first, and what the call makes of that. It
-- is one table because a function takes the longer to make the more it shares with
-- others by name, and each call makes all of them; and it is made with all that it
-- will have, because growing takes longer.
local r

-- The configuration; no slots are open before the first. place is how long it is
-- remembered who was let in, which is longer than a place in line can be left and come
-- back to; fleeting says that even the configuration goes with the rest; lasts is how
-- long a session does from a grant, dropout a place
-- in an exact line from a check-in; back is within what time of a check-in whoever
-- stays makes the next one. lined is the version by which the method became
-- line, and lined_at when that was.
local limits
local function load_configuration(packed)
  local version, total, perminute, duration, place, lasts, dropout, back, queueall, fleeting, lined, lined_at, method, pacing =
    struct.unpack(LIMITS, packed or struct.pack(LIMITS, 0, 0, 0, 1000, 0, 1000, 0, 0, 0, 0, 0, 0, 'fifo', 'minute'))
  limits = {
    version = version, total = total, perminute = perminute, duration = duration, place = place, lasts = lasts, dropout = dropout,
    back = back, queueall = queueall == 1, fleeting = fleeting == 1, lined = lined, lined_at = lined_at, method = method, pacing = pacing,
  }
end

-- touched are keys that this call may have made; they are to have an end.
local touched
local function touch(key) touched[key] = true end

-- forgotten says that the memory is broken, and what it has worth nothing.
local forgotten = false

-- begin is where a call begins, and begins again with a memory that it has found
-- to be broken.
local function begin()
  arg, touched = 0, {}
  r = {
    last = false, time = 0, now = 0, gap = false, minute = 0, admitted = 0, present = 0, first_window = 0, grace = 0, idle = false,
    any_revoked = false, leaving = false, slack = 0, closed = false, counted = false, active = 0, first_end = 0, moments = false,
    has_line = false, lined_by = 0, given = 0, began = 0, floor = 0, top = 0, since = 0, swept = 0, unknown = 0,
    ahead_of_all = 0, in_order = 0, behind_all = 0, unconfirmed = 0,
  }
  load_configuration(configured())
end
begin()
