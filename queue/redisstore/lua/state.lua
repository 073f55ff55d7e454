-- What every verb that reports begins with: the state of the room. Times are
-- milliseconds since the Unix epoch.

local MINUTE = 60000

-- r is the room: what is read of it at first, and what the call makes of that. It
-- is one table because a function takes the longer to make the more it shares with
-- others by name, and each call makes all of them; and it is made with all that it
-- will have, because growing takes longer.
local r

-- The rules that the configuration makes (see rules in document.go), its version, and
-- lined, the version by which the method became line, with lined_at, when that was. No
-- slots are open before the first configuration.
local limits
local function load_configuration(rules)
  limits = rules or {
    version = 0, total = 0, perminute = 0, duration = 1000, place = 0, lasts = 1000, dropout = 0, back = 0,
    queueall = false, fleeting = false, lined = 0, lined_at = 0, method = 'fifo', pacing = 'minute',
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
