-- The room's clock is the server's, and never goes back. A step of it is either
-- a time in which nobody called, or a jump, by which the sessions of a whole
-- crowd would seem to be over. The nodes' clocks run evenly: those that this
-- memory knew before the step tell one from the other.

local GAP = 2000    -- a time without calls beyond this is a gap in service
local JUMP = 5000   -- a step beyond this may be a jump
local DOUBT = 2000  -- how long it is doubted, unless a node says what it is
local AWAIT = 10000 -- how long a node that has denied it is waited for

local t = call('TIME')
r.time = t[1] * 1000 + math.floor(t[2] / 1000)
r.now = r.time + offset

-- told is the clock that the node is told, where it is not now; gap, that nodes may
-- have much to report; doubting, that nobody is admitted by a clock like this.

-- A single report that says that there was no large step ahead is not enough: it may
-- have lain in a socket while the server stood still. Nor does a node say anything
-- that has its clock from here only now. doubt is kept below zero once a node has
-- denied the step.
local told, doubting = nil, false
if r.last then
  local step = r.now - r.last
  if step < -JUMP then
    offset = r.last - r.time
    r.gap = true
  elseif step > JUMP and epoch then
    local witness = known_seq and told_epoch == epoch
    local denies = witness and told_now < r.now - JUMP
    local since, denied = doubt ~= 0 and math.abs(doubt) or r.time, denies or doubt < 0
    doubt = denied and -since or since
    if witness then
      doubting = denies and math.abs(r.time - since) < DOUBT
    else
      doubting = math.abs(r.time - since) < (denied and AWAIT or DOUBT)
    end
    r.gap = not doubting
    if denies then
      r.now = math.max(r.last, told_now)
      if r.gap then offset = r.now - r.time end
    elseif doubting then
      r.now, told = r.last, r.now
    end
  else
    r.gap = step > GAP
  end
  if not doubting then doubt = 0 end
  r.now = math.max(r.now, r.last)
end
if not r.last and told_epoch ~= '' and math.abs(told_now - r.now) > JUMP then
  -- The memory is lost, and with it what the clock was: this node knows.
  r.now, offset = told_now, told_now - r.time
end
local now = whole(r.now)
