-- lifetime is how long a room without calls is remembered, in milliseconds, by
-- how long its sessions and places last.
local function lifetime(duration, place) return math.max(duration, place, 3600000) + 600000 end

-- end_all gives what is else kept for good an end, after all the rest: a room that
-- lacks it would have lost its memory in part.
local function end_all(life)
  for _, key in ipairs({CONF, EPOCH}) do call('PEXPIRE', key, life + 600000) end
end
