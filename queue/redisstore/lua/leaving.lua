-- A revoked session holds its slot until every node that reports has had a view with the
-- revocation, or until the session would have ended: until then its visitor may pass at
-- some node.

local leave_later, settle_leaving
if r.leaving or revoked > 0 then
  -- LEAVING is what is kept of each: the id, when it was revoked, and the node that reported it.
  local LEAVING = '>c16ds'
  local leaving_ids -- read once they are needed

  local function read_leaving()
    leaving_ids = {}
    local packed, at = r.leaving and call('HGET', META, 'leaving') or '', 1
    while at <= #packed do
      local e = {}
      e.id, e.since, e.by, at = struct.unpack(LEAVING, packed, at)
      table.insert(leaving_ids, e)
    end
  end

  -- leave_later has a revoked session leave.
  function leave_later(id)
    if not call('ZSCORE', SESSIONS, id) then return end
    if not leaving_ids then read_leaving() end
    for _, e in ipairs(leaving_ids) do
      if e.id == id then return end
    end
    table.insert(leaving_ids, {id = id, since = r.now, by = node})
  end

  -- views returns the moment of the view that each reporting node has.
  local function views()
    local names, news = nodes_since(r.now - GRACE)
    local list = {[node] = node_since}
    for i, name in ipairs(names) do
      if name ~= node then list[name] = news[i] end
    end
    return list
  end

  -- heard says whether every other node has a view from after the revocation.
  local function heard(known, e)
    for name, at in pairs(known) do
      if name ~= e.by and at < e.since then return false end
    end
    return true
  end

  -- settle_leaving opens the slots of the sessions whose revocation every node has heard of.
  function settle_leaving()
    if not leaving_ids then read_leaving() end
    local known, kept, list = views(), {}, {}
    for _, e in ipairs(leaving_ids) do
      local ends = tonumber(call('ZSCORE', SESSIONS, e.id))
      if ends and (heard(known, e) or (tonumber(call('ZSCORE', REVOKED, e.id)) or 0) <= r.now) then
        alter(SESSIONS)
        call('ZREM', SESSIONS, e.id)
        r.first_end = 0
      elseif ends then
        table.insert(kept, struct.pack(LEAVING, e.id, e.since, e.by))
      end
    end
    r.leaving = #kept > 0
    call('HSET', META, 'leaving', table.concat(kept))
  end
end
