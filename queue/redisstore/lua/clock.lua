-- The room's clock is the server's, and never goes back. A step of it is
-- either a time in which nobody called, or a jump, by which a whole crowd's
-- sessions would seem to be over. The nodes' clocks run evenly: those that know
-- this memory of the room tell one from the other.

local GAP = 2000   -- a time without calls beyond this is a gap in service
local JUMP = 5000  -- a step beyond this may be a jump
local DOUBT = 2000 -- how long nodes must tell of a jump to be believed

local t = call('TIME')
local time = t[1] * 1000 + math.floor(t[2] / 1000)
local now = time + offset
local gap = false      -- nodes may have much to report
local doubting = false -- nobody is admitted by a clock like this

if last then
  local step = now - last
  if step < -JUMP then
    now = last
    offset = now - time
    gap = true
  elseif step > JUMP and told_epoch == epoch and told_now < now - JUMP then
    -- One report is not enough: it may have lain in a socket while the server
    -- stood still.
    if doubt == 0 then doubt = time end
    now = math.max(last, told_now)
    doubting = math.abs(time - doubt) < DOUBT
    if not doubting then
      offset = now - time
      gap = true
    end
  else
    doubt = 0
    gap = step > GAP
  end
  if not doubting and gap then doubt = 0 end
  now = math.max(now, last)
end
