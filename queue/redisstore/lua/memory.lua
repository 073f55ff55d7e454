-- What the store remembers, and whether that is all that it was told. Where it
-- is not, admissions wait until the nodes that were known have reported.

local GRACE = 10000 -- how long admissions wait for nodes that do not report
local BREAK = 250   -- no server takes over from another in less

local function await(nodes)
  if #nodes == 0 then return end
  each(nodes, function(part) call('SADD', AWAITED, unpack(part)) end)
  touch(AWAITED)
  r.grace = r.now + GRACE
end

-- nodes_since lists the nodes that have reported since, and tells which report of
-- theirs is the oldest. It forgets those that have not reported for an hour.
local function nodes_since(since)
  local list, oldest, all = {}, r.now, call('HGETALL', META)
  for i = 1, #all, 2 do
    local at = tonumber(all[i]) and select(2, struct.unpack(NODE, all[i + 1])) -- what else is kept there has other names
    if at and at >= since then
      table.insert(list, all[i])
      oldest = math.min(oldest, at)
    elseif at and at < r.now - 60 * MINUTE then
      call('HDEL', META, all[i])
    end
  end
  return list, oldest
end

-- The list of the nodes that report lacks one that is new, or was away.
if not reported or reported < r.now - GRACE then call('HDEL', META, 'nodes') end

local told_nodes = {} -- those that a whole report's node knew
for i = 1, nodes do told_nodes[i] = text() end

-- The server's process is another one after a failover or a restart, which may not
-- have had all writes. Not every user may ask for it.
local server = server_before
if not r.last or not server or r.now - r.last > BREAK then
  local info = redis.pcall('INFO', 'server')
  server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

-- A node that was answered by a server that knew more tells that writes were lost.
local lost = epoch and told_epoch == epoch and known_seq and seq > known_seq + 1
if r.last and (lost or r.gap or server_before and server_before ~= server) then await((nodes_since(r.last - GRACE))) end
if lost or not epoch then
  -- What nodes will report anew is forgotten. Sessions are kept: their ids make it
  -- harmless to report them twice. Nodes hear of the line a little later.
  epoch = node .. '-' .. t[1] .. t[2]
  call('SET', EPOCH, epoch)
  call('DEL', META, COUNTS, BUCKETS, WINDOWS)
  call('UNLINK', ORDER, LEVELS, UNCONFIRMED, PLACES)
  m, known_seq, kept = {}, nil, 0
  r.present, r.first_window, r.minute, r.admitted = 0, 0, 0, 0
  r.given, r.floor, r.top, r.since, r.unknown = 0, 0, 0, r.now + r.slack, told_epoch ~= '' and r.now + r.slack or 0
  if told_epoch ~= '' then await({node}) end
elseif told_epoch ~= '' and told_epoch ~= epoch and not known_seq and call('SISMEMBER', AWAITED, node) == 0 then
  -- It remembers a room that this memory began without.
  await({node})
  r.unknown = r.now
end
if r.grace > 0 then
  for _, n in ipairs(told_nodes) do
    local known = call('HGET', META, n)
    if not known or struct.unpack(NODE, known) == -1 then
      call('SADD', AWAITED, n)
      touch(AWAITED)
    end
  end
end

-- What a node reports goes by what the store remembers of it: without that, it
-- is asked for a whole report, and its changes are not counted.
local want_whole = told_epoch ~= '' and (told_epoch ~= epoch or not known_seq and whole_report == 0)
  or doubting and not known_seq
if r.grace > 0 and not want_whole then call('SREM', AWAITED, node) end
if r.grace > 0 and (r.now >= r.grace or call('SCARD', AWAITED) == 0) then
  r.grace = 0
  call('DEL', AWAITED)
end

-- closed says that nobody is admitted, whatever is open.
r.closed = r.grace > 0 or doubting or want_whole or limits.version == 0
