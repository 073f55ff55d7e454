-- What the store remembers, and whether that is all that it was told. Where it
-- is not, admissions wait until the nodes that were known have reported.

local function await(nodes)
  if #nodes == 0 then return end
  each(nodes, function(part) call('SADD', AWAITED, unpack(part)) end)
  touch(AWAITED)
  grace = now + GRACE
end

-- await_seen waits for the nodes that were there at the last call.
local function await_seen() await(call('ZRANGEBYSCORE', SEEN, whole(last - GRACE), '+inf')) end

-- begin_epoch forgets what nodes will report anew. Sessions are kept: their
-- ids make it harmless to report them twice.
local function begin_epoch()
  epoch = candidate
  call('SET', EPOCH, epoch)
  call('DEL', SEQS, COUNTS, BUCKETS, WINDOWS)
  known_seq = nil
  call('HDEL', META, 'rates')
  present, first_window, minute, admitted = 0, 0, 0, 0
  forget_line()
end

local BREAK = 250 -- no server takes over from another in less

-- server_run names the server's process: another one after a failover or a
-- restart, which may not have had all writes. Not every user may ask for it.
local function server_run()
  if last and server_before and now - last <= BREAK then return server_before end
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

local told_nodes = {} -- those that a whole report's node knew
for i = 1, number() do told_nodes[i] = text() end

local server = server_run()
if not epoch then
  begin_epoch()
  if told_epoch ~= '' then await({node}) end
elseif told_epoch == epoch and known_seq and seq > known_seq + 1 then
  -- This node was answered by a server that knew more: writes were lost.
  begin_epoch()
  await_seen()
  await({node})
elseif told_epoch ~= '' and told_epoch ~= epoch and not known_seq and call('SISMEMBER', AWAITED, node) == 0 then
  -- It remembers a room that this memory began without.
  await({node})
  unknown = now
end
if last and (gap or server_before and server_before ~= server) then await_seen() end
if grace > 0 then
  for _, n in ipairs(told_nodes) do
    if call('HEXISTS', SEQS, n) == 0 then
      call('SADD', AWAITED, n)
      touch(AWAITED)
    end
  end
end

-- What a node reports goes by what the store remembers of it: without that, it
-- is asked for a whole report, and its changes are not counted.
local want_whole = told_epoch ~= '' and (told_epoch ~= epoch or not known_seq and not whole_report)
  or doubting and not known_seq
call('ZADD', SEEN, whole(now), node)
if not known_seq then touch(SEEN) end
if grace > 0 and not want_whole then call('SREM', AWAITED, node) end
if grace > 0 and (now >= grace or call('SCARD', AWAITED) == 0) then
  grace = 0
  call('DEL', AWAITED)
end

-- closed says that nobody is admitted, whatever is open.
local closed = grace > 0 or doubting or want_whole or version == 0
