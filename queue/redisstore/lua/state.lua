-- What every verb that reports begins with: the state of the room, and the head
-- of the report. Times are milliseconds since the Unix epoch.

local MINUTE = 60000
local GRACE = 10000  -- how long admissions wait for nodes that do not report
local STEP = 1000    -- how many entries one call sweeps at most
local MEASURED = 15  -- whole minutes that the rate is taken over
local LATELY = 5     -- whole minutes without an admission after which the rate is none
local DRAWS = 4096   -- how many draws are remembered at most
local PARTS = 4096   -- how many parts random pacing releases an allowance in at most

-- The configuration of the room; no slots are open before the first. place is
-- how long a place in line can be left and come back to.
local version, total, perminute, duration, place, method, pacing, queueall

local function load_configuration()
  local c = call('HMGET', CONF, 'version', 'total', 'perminute', 'duration', 'place', 'method', 'pacing', 'queueall')
  version, total, perminute = tonumber(c[1]) or 0, tonumber(c[2]) or 0, tonumber(c[3]) or 0
  duration, place = tonumber(c[4]) or 1000, tonumber(c[5]) or 0
  method, pacing, queueall = c[6], c[7], c[8] == '1'
end
load_configuration()

-- What a call reads and writes whole. last is the room's clock at the call
-- before, nil for a room without memory; offset is what it is ahead of the
-- server's clock; doubt is since when a step of that is doubted, 0 if none is.
-- grace is until when admissions wait for nodes, 0 if they do not.
local m = call('HMGET', META, 'now', 'offset', 'doubt', 'server', 'minute', 'admitted', 'idle', 'present', 'rates', 'grace',
  'moments')
local last, offset, doubt, server_before = tonumber(m[1]), tonumber(m[2]) or 0, tonumber(m[3]) or 0, m[4]
local minute, admitted, idle = tonumber(m[5]) or 0, tonumber(m[6]) or 0, m[7] == '1'
local present, rates, grace = tonumber(m[8]) or 0, m[9] or '', tonumber(m[10]) or 0
local moments = m[11] or ''

-- The head of the report. candidate names the room's memory if it begins anew.
local node, seq, told_now, told_epoch = text(), number(), number(), text()
local candidate, slack, whole_report = text(), number(), text() == '1'

-- A room whose memory is gone in part begins anew like one that has none.
local epoch = last and call('GET', EPOCH)
local known_seq = tonumber(call('HGET', SEQS, node))
