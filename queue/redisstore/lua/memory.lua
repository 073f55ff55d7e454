-- Whether the store still has all that nodes have reported. Where it does not,
-- admissions wait until the nodes that it knew have reported again.

local NODE_WAIT = 10000 -- how long admissions wait for nodes that do not report
local BREAK = 250   -- no server takes over from another in less time
local SOON = 2000   -- every node that lives reports within this time

-- awaited are the nodes that admissions wait for, and until when they wait for each.
local awaited, awaited_before = {}, nil
if r.awaits_until > 0 then
  awaited_before = call('HGET', META, 'awaited')
  for name, at in string.gmatch(awaited_before or '', '(%S+):(%d+)') do awaited[name] = tonumber(at) end
end

local function await(names, lasting)
  for _, name in ipairs(names) do
    awaited[name] = r.now + lasting
    r.awaits_until = math.max(r.awaits_until, awaited[name])
  end
end

-- nodes_since returns the nodes that have reported since then, the moment of the view that
-- each has, and the moment of the oldest of their reports. It forgets nodes that have not
-- reported for an hour.
local function nodes_since(since)
  local list, views, oldest, all = {}, {}, r.now, call('HGETALL', META)
  for i = 1, #all, 2 do
    if tonumber(all[i]) and #all[i + 1] == struct.size(NODE) then -- nothing else there is named by a number
      local _, at, view = struct.unpack(NODE, all[i + 1])
      if at >= since then
        table.insert(list, all[i])
        table.insert(views, view)
        oldest = math.min(oldest, at)
      elseif at < r.now - $NodeRemembered then
        call('HDEL', META, all[i], 'final' .. all[i])
      end
    end
  end
  return list, views, oldest
end

-- The list of the nodes that report lacks a node that is new, or was away.
if not reported or reported < r.now - NODE_WAIT then call('HDEL', META, 'nodes') end

local node_nodes = {} -- those that the node of a whole report knew
for i = 1, nodes do node_nodes[i] = text() end
local node_bounds = whole_report == 1 and text() or '' -- the boundaries of its last view

-- After a failover or a restart the server's process is another one, which may lack some
-- writes. Not every user may ask for the process.
local server = server_before
if not r.last or not server or r.now - r.last > BREAK then
  local info = redis.pcall('INFO', 'server')
  server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

-- If the configuration is gone, or is an older one, the nodes report it again.
local unconfigured = rules.version < known_version
if unconfigured then load_rules() end

-- Writes were lost if the node has had the answer to a report that this memory does not
-- have.
local moved = server_before and server_before ~= server
if moved and r.has_line then r.given = r.given + $LostNumbers end
local lost = epoch and node_epoch == epoch and known_seq and seq > known_seq + 1
if r.last and (lost or forgotten or r.gap or unconfigured or moved) then await((nodes_since(r.last - NODE_WAIT)), NODE_WAIT) end
if lost or not epoch then
  epoch = node .. '-' .. t[1] .. '.' .. t[2]
  -- All that nodes report anew is dropped. Sessions, admissions, revocations and notes
  -- are kept: they have ids, so that it is harmless to report them twice.
  call('DEL', META, COUNTS, BUCKETS, WINDOWS, DRAWN)
  if m[8] then call('HSET', META, 'standstill', m[8]) end
  if r.has_notes then call('HSET', META, 'notes', r.has_notes) end
  local line = {ORDER, LEVELS, UNCONFIRMED, PLACES}
  for list = 0, RING - 1 do line[#line + 1] = PLACES .. ':' .. list end
  call('UNLINK', unpack(line))
  for _, key in ipairs({SESSIONS, REVOKED, ADMITTED, LEFT, UNTOLD}) do
    if call('TYPE', key).ok ~= 'zset' then call('DEL', key) end
  end
  if call('TYPE', NOTES).ok ~= 'hash' then call('DEL', NOTES) end
  marks, packed_marks = nil, NO_MARKS
  for _, key in ipairs({SESSIONS, REVOKED}) do -- they bear a new mark if there is anything in them
    call('ZREM', key, MARK)
    if call('EXISTS', key) == 1 then alter(key) end
  end
  m, known_seq, kept = {}, nil, 0
  r.ended_by, r.looks = r.sessions_now - r.slack, 0
  r.present, r.first_window, r.minute, r.admitted, r.first_end, r.any_revoked, r.unheard = 0, 0, 0, 0, 0, true, false
  -- Nodes learn of the new memory a little later.
  r.given, r.floor, r.top, r.absent_until, r.unknown = 0, 0, 0, 0, node_epoch ~= '' and r.now + r.slack or 0
  if node_epoch ~= '' then
    await({node}, NODE_WAIT)
  elseif rules.version > 0 then
    await({'others'}, SOON) -- a node that starts does not know whether this room had any
  end
elseif node_epoch ~= '' and node_epoch ~= epoch and not known_seq and not awaited[node] then
  -- The node remembers a room, but this memory began without the node.
  await({node}, NODE_WAIT)
  r.unknown = r.now
end
if r.awaits_until > 0 then
  for _, n in ipairs(node_nodes) do
    local known = call('HGET', META, n)
    if not known or #known ~= struct.size(NODE) or struct.unpack(NODE, known) == -1 then await({n}, NODE_WAIT) end
  end
  if whole_report == 1 and nodes == 0 then await({'others'}, SOON) end -- it does not know the other nodes yet
end

-- A report has what has changed since the node's last one. If the store does not have
-- that one, it asks for a whole report and does not count this one.
local want_whole = node_epoch ~= '' and (node_epoch ~= epoch or not known_seq and whole_report == 0)
  or doubting and not known_seq
if not want_whole and node_version <= rules.version then awaited[node] = nil end
if r.awaits_until > 0 then
  r.awaits_until = 0
  for name, at in pairs(awaited) do
    if at <= r.now then awaited[name] = nil else r.awaits_until = math.max(r.awaits_until, at) end
  end
end

-- r.partial says that some nodes may not have reported their counts again: what one has taken
-- away another may have added.
r.partial = awaited_before or r.awaits_until > 0

-- r.closed says that nobody is admitted, whatever the rules leave; open_slots is 0 then.
local function close() r.closed = r.awaits_until > 0 or doubting or want_whole or rules.version == 0 end
close()
