-- The room's clock is the server's, and never goes back. A step of it is either
-- a time in which nobody called, or a jump, by which the sessions of a whole
-- crowd would seem to be over. The nodes' clocks run evenly: those that this
-- memory knew before the step tell one from the other.

local GAP = 2000    -- a time without calls beyond this is a gap in service
local JUMP = 5000   -- a step beyond this may be a jump
local DOUBT = 2000  -- how long it is doubted, unless a node says what it is
local AWAIT = 10000 -- how long a node that has denied it is waited for

local t = call('TIME')
local time = t[1] * 1000 + math.floor(t[2] / 1000)
local now = time + offset
local told = nil       -- the clock that the node is told, where it is not now
local gap = false      -- nodes may have much to report
local doubting = false -- nobody is admitted by a clock like this

-- leap decides what a large step ahead is. A single report that says that there
-- was none is not enough: it may have lain in a socket while the server stood
-- still. Nor does a node say anything that has its clock from here only now.
-- doubt is kept below zero once a node has denied the step.
local function leap()
  local witness = known_seq and told_epoch == epoch
  local denies = witness and told_now < now - JUMP
  local since, denied = doubt ~= 0 and math.abs(doubt) or time, denies or doubt < 0
  doubt = denied and -since or since
  if witness then
    doubting = denies and math.abs(time - since) < DOUBT
  else
    doubting = math.abs(time - since) < (denied and AWAIT or DOUBT)
  end
  gap = not doubting
  if denies then
    now = math.max(last, told_now)
    if gap then offset = now - time end
  elseif doubting then
    now, told = last, now
  end
end

if last then
  local step = now - last
  if step < -JUMP then
    offset = last - time
    gap = true
  elseif step > JUMP and epoch then
    leap()
  else
    gap = step > GAP
  end
  if not doubting then doubt = 0 end
  now = math.max(now, last)
end
