-- Returns the room as the calling node gets to know it.

local TURNS = $MaxTurns -- how many people at most a view says it is the turn of
local LATELY = $Lull -- after so many whole minutes without an admission the rate is zero

-- A report has the configuration for a store that has lost it.
local version = number()
local goes_on = rules.version == 0 and r.lined_by > 0
if put_in_force(version, version > rules.version) then
  load_rules(configured())
  close()
  stand_still() -- from this call on, to which the report's sessions are told
  if goes_on and rules.method == 'line' then r.lined_by = rules.lined end
  begin_line()
  if r.has_line then open_line() end
end

-- The rate is measured over several session durations, because people leave in waves.
local measured = math.min(math.max($RateWaves * (1 + math.floor(rules.lasts / MINUTE)), $MinMeasured), MEASURED)
local rate_sum, rate_n, rate_late = 0, 0, 0
for at, n in string.gmatch(call('HGET', META, 'rates') or '', '(%d+):(%d+)') do
  local age = (r.minute - at) / MINUTE
  if age <= measured then rate_sum, rate_n = rate_sum + n, rate_n + 1 end
  if age <= LATELY then rate_late = rate_late + n end
end
if rate_n >= LATELY and rate_late == 0 then rate_sum = 0 end

local buckets, counts, people = call('ZRANGEBYSCORE', BUCKETS, 0, '+inf'), {}, {}
each(buckets, function(part)
  for _, n in ipairs(call('HMGET', COUNTS, unpack(part))) do counts[#counts + 1], people[#people + 1] = n, numeric(n) end
end)

-- Who was let in since the node's last view, by whichever node, and until when.
local entered = {}
each(call('ZRANGEBYSCORE', ADMITTED, whole(node_since), '+inf'), function(part)
  local ends = call('ZMSCORE', SESSIONS, unpack(part))
  for i, id in ipairs(part) do
    if ends[i] then
      entered[#entered + 1] = id
      entered[#entered + 1] = whole(math.min(ends[i], last_moment(began(id))) + behind())
    end
  end
end)

local configuration = {}
if node_version ~= rules.version then configuration = call('HMGET', CONF, 'document', 'overrides', 'by', 'at') end

local function line_view()
  if rules.method ~= 'line' then return {} end
  local first, turns = r.in_order > 0 and call('ZRANGE', ORDER, 0, 0, 'WITHSCORES') or {}, {}
  local places, ended = line.turns(math.min(open_slots(), TURNS))
  for i, p in ipairs(places) do turns[i] = p.member .. p.rest end
  line.clear(ended)
  return {first[2] or 0, whole(r.given), r.ahead_of_all, turns}
end

-- The list of the nodes that report is made anew once one of them may have stopped, or
-- another has come.
local listed = call('HGET', META, 'nodes')
if not listed or #listed < 8 or r.now > struct.unpack('>d', listed) then
  call('HSET', META, node, struct.pack(NODE, known_seq or -1, r.now, node_since)) -- the caller is one of them
  local nodes, _, oldest = nodes_since(r.now - NODE_WAIT)
  listed = struct.pack('>d', oldest + NODE_WAIT) .. table.concat(nodes, ' ')
  call('HSET', META, 'nodes', listed)
end

-- A list takes long to hand over.
local reply = {
  table.concat(buckets, ' '), table.concat(counts, ' '), rate_n > 0 and tostring(rate_sum / rate_n) or '',
  call('ZRANGEBYSCORE', REVOKED, '(' .. now, '+inf', 'WITHSCORES'), entered,
  string.sub(listed, 9), rules.version, configuration, line_view(), call('ZRANGEBYSCORE', LEFT, whole(node_since), '+inf'),
  cut_buckets(buckets, people, rate_n > 0 and rate_sum / rate_n), ends_within(), whole(r.stock_at), r.stock, r.stock_at > 0 and call('HGET', META, 'items') or '', whole(ago(rules.place - $MemoryMargin)),
}
