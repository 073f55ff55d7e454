-- Counts the report: what the node has seen since its last one, or all that it knows. A
-- report that comes again, because its answer was lost, is not counted again.

local MAX_LEFT = $MaxLeft -- how many goodbyes a view has at most

local function use_up(id)
  touch(ADMITTED)
  call('ZADD', ADMITTED, 'NX', whole(r.sessions_now + r.behind), id)
end

-- take_place takes the place of somebody who is not in from them.
local function take_place(id)
  touch(ADMITTED)
  call('ZADD', ADMITTED, now, id)
end

r.counted = known_seq and seq <= known_seq
local changes = {}
for i = 1, 3 * cells, 3 do changes[i], changes[i + 1], changes[i + 2] = text(), text(), number() end
if not r.counted and not want_whole then change(changes) end
if node_bounds ~= '' and not want_whole and #(call('HGET', META, 'bounds') or '') <= 8 then
  call('HSET', META, 'bounds', struct.pack('>d', r.now) .. node_bounds)
end
for _ = 1, sessions do
  local id, expires = text(), number() - behind()
  if not r.counted and not is_revoked(id) then
    -- A session that this store did not grant has used its visitor's place in line, too. After a loss the
    -- store may know of a session, and not when it was granted: by that it tells the nodes of it.
    local known = tonumber(call('ZSCORE', SESSIONS, id))
    if not known or whole_report == 1 then use_up(id) end
    if expires > (known or 0) then
      alter(SESSIONS)
      call('ZADD', SESSIONS, whole(expires), id)
      r.first_end = 0
    end
  end
end
for _ = 1, revoked do
  local id, ends = text(), number()
  if not r.counted then
    if (tonumber(call('ZSCORE', SESSIONS, id)) or 0) <= r.ended_by then take_place(id) end
    if ends > (tonumber(call('ZSCORE', REVOKED, id)) or 0) then
      alter(REVOKED)
      call('ZADD', REVOKED, whole(ends), id)
      r.any_revoked = true
    end
    keep_slot(id)
  end
end
if open_revoked then open_revoked() end
if not r.counted and not want_whole and node_minute == r.minute then
  r.admitted = r.admitted + node_admitted
  take(node_admitted)
end
if node_given > r.given then
  hear_number(node_given)
  open_line()
end
for _ = 1, left do
  local id, at = text(), number()
  if not r.counted then
    if r.has_line then line.goodbye(id, at) end
    call('ZADD', LEFT, now, id)
    touch(LEFT)
  end
end
if left > 0 then call('ZREMRANGEBYRANK', LEFT, 0, -MAX_LEFT - 1) end
for _ = 1, unanswered do
  local id = text()
  if r.has_line and not r.counted then line.withdraw(id) end
end
for _ = 1, told do
  local id = text()
  local admitted = let_in(id)
  if admitted and not r.counted then note_untold(id, admitted + 1) end
end
for _ = 1, noted do
  local id, at, said = text(), number(), text()
  if not r.counted then take_note(id, at, said) end
end
for _ = 1, preferred do
  local id, priority = text(), number()
  if r.has_line and not r.counted then line.give_priority(id, priority) end
end
if not want_whole and not r.counted then known_seq = seq end

local heard_items = heard > 0 and text() or ''
if heard > r.stock_at then
  r.stock_at, r.stock = heard, heard_left
  call('HSET', META, 'stock', struct.pack('>dd', heard, heard_left))
  if heard_items ~= '' then call('HSET', META, 'items', heard_items) end
end

-- go_by_reports opens the slots of the sessions that no node has renewed, as all have reported. A look at all nodes costs the more
-- the more there are: so it is taken once in a tenth as many milliseconds. A seat is kept for the slack in any case, which is a
-- part of LineGrace.
local function go_by_reports()
  if r.now < r.looks or not rules.bysession then return end
  local names, fields = nodes_since(r.now - NODE_WAIT), {'final' .. node}
  for _, name in ipairs(names) do
    if name ~= node then fields[#fields + 1] = 'final' .. name end
  end
  local final = r.now
  each(fields, function(part)
    for _, at in ipairs(call('HMGET', META, unpack(part))) do final = math.min(final, tonumber(at) or 0) end
  end)
  r.looks = r.now + math.floor(#fields / 10)
  r.ended_by = math.max(r.ended_by, math.min(r.sessions_now, final - behind()))
end
if not want_whole and not r.counted then call('HSET', META, 'final' .. node, whole(node_final)) end
if r.slack > 0 then go_by_reports() end
r.ended_by = math.max(r.ended_by, r.sessions_now - r.slack)
if r.first_end <= r.ended_by then count_sessions() end
