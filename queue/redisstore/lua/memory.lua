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

-- nodes_since lists the nodes that have reported since, and forgets those that have
-- not for an hour.
local function nodes_since(since)
  local list, all = {}, call('HGETALL', NODES)
  for i = 1, #all, 2 do
    local _, at = struct.unpack(NODE, all[i + 1])
    if at >= since then
      table.insert(list, all[i])
    elseif at < r.now - 60 * MINUTE then
      call('HDEL', NODES, all[i])
    end
  end
  return list
end

local told_nodes = {} -- those that a whole report's node knew
for i = 1, nodes do told_nodes[i] = text() end

-- The server's process is another one after a failover or a restart, which may not
-- have had all writes. Not every user may ask for it.
r.server = r.server_before
if not r.last or not r.server or r.now - r.last > BREAK then
  local info = redis.pcall('INFO', 'server')
  r.server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

-- A node that was answered by a server that knew more tells that writes were lost.
local lost = r.epoch and r.told_epoch == r.epoch and r.known_seq and r.seq > r.known_seq + 1
if r.last and (lost or r.gap or r.server_before and r.server_before ~= r.server) then await(nodes_since(r.last - GRACE)) end
if lost or not r.epoch then
  -- What nodes will report anew is forgotten. Sessions are kept: their ids make it
  -- harmless to report them twice. Nodes hear of the line a little later.
  r.epoch = r.node .. '-' .. t[1] .. t[2]
  call('SET', EPOCH, r.epoch)
  call('DEL', NODES, COUNTS, BUCKETS, WINDOWS)
  call('UNLINK', ORDER, LEVELS, PLACES)
  call('HDEL', META, 'rates')
  r.known_seq = nil
  r.present, r.first_window, r.minute, r.admitted = 0, 0, 0, 0
  r.given, r.floor, r.top, r.since, r.unknown = 0, 0, 0, r.now + r.slack, r.told_epoch ~= '' and r.now + r.slack or 0
  if r.told_epoch ~= '' then await({r.node}) end
elseif r.told_epoch ~= '' and r.told_epoch ~= r.epoch and not r.known_seq and call('SISMEMBER', AWAITED, r.node) == 0 then
  -- It remembers a room that this memory began without.
  await({r.node})
  r.unknown = r.now
end
if r.grace > 0 then
  for _, n in ipairs(told_nodes) do
    local known = call('HGET', NODES, n)
    if not known or struct.unpack(NODE, known) == -1 then
      call('SADD', AWAITED, n)
      touch(AWAITED)
    end
  end
end

-- What a node reports goes by what the store remembers of it: without that, it
-- is asked for a whole report, and its changes are not counted.
r.want_whole = r.told_epoch ~= '' and (r.told_epoch ~= r.epoch or not r.known_seq and whole_report == 0)
  or r.doubting and not r.known_seq
if not r.known_seq then touch(NODES) end
if r.grace > 0 and not r.want_whole then call('SREM', AWAITED, r.node) end
if r.grace > 0 and (r.now >= r.grace or call('SCARD', AWAITED) == 0) then
  r.grace = 0
  call('DEL', AWAITED)
end

-- closed says that nobody is admitted, whatever is open.
r.closed = r.grace > 0 or r.doubting or r.want_whole or r.version == 0
