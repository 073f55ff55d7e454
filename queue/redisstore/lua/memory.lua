-- What the store remembers, and whether that is all that it was told. Where it
-- is not, admissions wait until the nodes that were known have reported.

local GRACE = 10000 -- how long admissions wait for nodes that do not report
local BREAK = 250   -- no server takes over from another in less
local SOON = 2000   -- within that every node reports that lives

-- awaited are the nodes that admissions wait for, each until a moment.
local awaited, awaited_before = {}, nil
if r.grace > 0 then
  awaited_before = call('HGET', META, 'awaited')
  for name, at in string.gmatch(awaited_before or '', '(%S+):(%d+)') do awaited[name] = tonumber(at) end
end

local function await(names, lasting)
  for _, name in ipairs(names) do
    awaited[name] = r.now + lasting
    r.grace = math.max(r.grace, awaited[name])
  end
end

-- nodes_since lists the nodes that have reported since, and how new the view is that each
-- has; and tells which report of theirs is the oldest. It forgets those that have not
-- reported for an hour.
local function nodes_since(since)
  local list, views, oldest, all = {}, {}, r.now, call('HGETALL', META)
  for i = 1, #all, 2 do
    if tonumber(all[i]) and #all[i + 1] == struct.size(NODE) then -- what else is kept there has other names
      local _, at, view = struct.unpack(NODE, all[i + 1])
      if at >= since then
        table.insert(list, all[i])
        table.insert(views, view)
        oldest = math.min(oldest, at)
      elseif at < r.now - 60 * MINUTE then
        call('HDEL', META, all[i])
      end
    end
  end
  return list, views, oldest
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

-- A configuration that is gone, or is one from before, is told again by the nodes.
local unconfigured = limits.version < known_version
if unconfigured then load_configuration() end

-- A node that was answered by a server that knew more tells that writes were lost.
local lost = epoch and told_epoch == epoch and known_seq and seq > known_seq + 1
if r.last and (lost or forgotten or r.gap or unconfigured or server_before and server_before ~= server) then await((nodes_since(r.last - GRACE)), GRACE) end
if lost or not epoch then
  epoch = node .. '-' .. t[1] .. t[2]
  -- Nothing is left of what nodes will report anew. Sessions are kept, and admissions
  -- and revocations: their ids make it harmless to report them twice.
  call('DEL', META, COUNTS, BUCKETS, WINDOWS, DRAWN)
  local line = {ORDER, LEVELS, UNCONFIRMED, PLACES}
  for list = 0, RING - 1 do line[#line + 1] = PLACES .. ':' .. list end
  call('UNLINK', unpack(line))
  for _, key in ipairs({SESSIONS, REVOKED, ADMITTED, LEFT}) do
    if call('TYPE', key).ok ~= 'zset' then call('DEL', key) end
    if key == SESSIONS or key == REVOKED then call('ZREM', key, MARK) end
  end
  marks, packed_marks = nil, NO_MARKS
  m, known_seq, kept = {}, nil, 0
  r.present, r.first_window, r.minute, r.admitted, r.first_end, r.any_revoked, r.leaving = 0, 0, 0, 0, 0, true, false
  -- Nodes hear of the line a little later.
  r.given, r.floor, r.top, r.since, r.unknown = 0, 0, 0, r.now + r.slack, told_epoch ~= '' and r.now + r.slack or 0
  if told_epoch ~= '' then
    await({node}, GRACE)
  elseif limits.version > 0 then
    await({'others'}, SOON) -- a node that starts does not know whether this room had any
  end
elseif told_epoch ~= '' and told_epoch ~= epoch and not known_seq and not awaited[node] then
  -- It remembers a room that this memory began without.
  await({node}, GRACE)
  r.unknown = r.now
end
if r.grace > 0 then
  for _, n in ipairs(told_nodes) do
    local known = call('HGET', META, n)
    if not known or struct.unpack(NODE, known) == -1 then await({n}, GRACE) end
  end
  if whole_report == 1 and nodes == 0 then await({'others'}, SOON) end -- it has not heard yet who is there
end

-- What a node reports goes by what the store remembers of it: without that, it
-- is asked for a whole report, and its changes are not counted.
local want_whole = told_epoch ~= '' and (told_epoch ~= epoch or not known_seq and whole_report == 0)
  or doubting and not known_seq
if not want_whole and told_version <= limits.version then awaited[node] = nil end
if r.grace > 0 then
  r.grace = 0
  for name, at in pairs(awaited) do
    if at <= r.now then awaited[name] = nil else r.grace = math.max(r.grace, at) end
  end
end

-- closed says that nobody is admitted, whatever is open.
local function close() r.closed = r.grace > 0 or doubting or want_whole or limits.version == 0 end
close()
