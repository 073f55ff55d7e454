-- The beginning of every script that takes a report: the state of the room. Times are in
-- milliseconds since the Unix epoch.

local MINUTE = $AllowancePeriod

-- r is the room: the call reads it at first and changes it as it goes. It is one table
-- because each call makes all functions, and a function takes the longer to make the more
-- names it shares with others. The table has all its fields from the start, because
-- growing takes longer.
local r

-- touched are the keys that this call may have made, and for which it has to set a time to
-- live.
local touched
local function touch(key) touched[key] = true end

-- forgotten says that the memory is broken, and nothing in it counts.
local forgotten = false

local BROKEN = 'the memory of the room is broken'

-- sound and unpacked return what the store has, if it is what the scripts have written;
-- else the memory is broken.
local function sound(ok, ...)
  if not ok then error(BROKEN, 0) end
  return ...
end
local function unpacked(format, stored, at) return sound(pcall(struct.unpack, format, stored, at or 1)) end
local function numeric(stored) return tonumber(stored) or error(BROKEN, 0) end

-- keep writes the state back, once there is one to write.
local keep

-- begin is called at the start of a call, and again when the call has found the memory to
-- be broken.
local function begin()
  arg, touched, keep = 0, {}, nil
  r = {
    last = false, time = 0, now = 0, gap = false, minute = 0, admitted = 0, present = 0, first_window = 0, awaits_until = 0, idle = false,
    any_revoked = false, unheard = false, slack = 0, closed = false, partial = false, counted = false, active = 0, first_end = 0, moments = false,
    stands = 0, behind = 0, sessions_now = 0, ended_by = 0, looks = 0, stock_at = 0, stock = 0,
    has_line = false, lined_by = 0, given = 0, began = 0, floor = 0, top = 0, gaps = false, swept = 0, unknown = 0, absent_until = 0,
    ahead_of_all = 0, in_order = 0, behind_all = 0, unconfirmed = 0, factor = 1, spare = 0, slow_rate = 0, open_to_all = false, untold = 0, has_notes = false,
  }
  load_rules(configured())
end
begin()
