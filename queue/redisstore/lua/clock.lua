-- The room goes by the server's clock, but never back. When the clock has gone a large
-- step ahead since the last call, either nobody called for that long, or somebody has
-- set the clock. In the second case the sessions of a whole crowd would seem to have
-- ended. The clocks of the nodes run evenly: a node that this memory knew before the step
-- shows which of the two it is.

local GAP = $Silence    -- a longer time without calls is a gap in service
local JUMP = 5000   -- a larger step may mean that the clock was set
local DOUBT = 2000  -- how long such a step is doubted, unless a node confirms or denies it
local AWAIT = 10000 -- how long to wait for a node that has denied the step

local t = call('TIME')
r.time = t[1] * 1000 + math.floor(t[2] / 1000)
r.now = r.time + offset

-- clock_told is the clock that the reply tells the node, where that is not r.now. r.gap says
-- that nodes may have much to report. While doubting, nobody is admitted.

-- A single report that denies a large step is not enough: it may have waited in a socket
-- while the server stood still. A node that gets its clock from this call proves
-- nothing. doubt is the moment since when the step is doubted, below zero once a node
-- has denied the step.
local clock_told, doubting = nil, false
if r.last then
  local step = r.now - r.last
  if step < -JUMP then
    offset = r.last - r.time
    r.gap = true
  elseif step > JUMP and epoch then
    local witness = known_seq and node_epoch == epoch
    local denies = witness and node_now < r.now - JUMP
    local since, denied = doubt ~= 0 and math.abs(doubt) or r.time, denies or doubt < 0
    doubt = denied and -since or since
    if witness then
      doubting = denies and math.abs(r.time - since) < DOUBT
    else
      doubting = math.abs(r.time - since) < (denied and AWAIT or DOUBT)
    end
    r.gap = not doubting
    if denies then
      r.now = math.max(r.last, node_now)
      if r.gap then offset = r.now - r.time end
    elseif doubting then
      r.now, clock_told = r.last, r.now
    end
  else
    r.gap = step > GAP
  end
  if not doubting then doubt = 0 end
  r.now = math.max(r.now, r.last)
end

-- began_lately says whether the memory is hardly older than AWAIT, by the server's clock at its
-- beginning, which is in its name: see memory.lua.
local function began_lately()
  local began = tonumber(string.match(epoch, '%-(%d+)%.%d+$'))
  return began and math.abs(r.time - 1000 * began) < AWAIT
end

local apart = node_now - r.now
if node_epoch ~= '' and node_epoch ~= epoch and (not epoch and math.abs(apart) > JUMP or epoch and apart > JUMP and not doubting and began_lately()) then
  -- The memory is lost or broken, and with it what it knew of the clock. The node that reports knew
  -- the memory before it, and so knows that. The first report to the new one may have waited in a
  -- socket, and tell an old time: then a later one is ahead.
  r.now = math.max(r.last or 0, node_now)
  offset = r.now - r.time
end
local now = whole(r.now)
