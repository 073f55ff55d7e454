-- A revoked session holds its slot until every node that reports has had a view with the
-- revocation, or until the session would have ended: until then its visitor may pass at
-- some node.

local keep_slot, open_revoked
if r.unheard or revoked > 0 then
  -- UNHEARD is what is kept of each: the id, when it was revoked, and the node that
  -- reported it. The field that has them is called leaving.
  local UNHEARD = '>c16ds'
  local revocations -- read once they are needed

  local function read_revocations()
    revocations = {}
    local packed, at = r.unheard and call('HGET', META, 'leaving') or '', 1
    while at <= #packed do
      local e = {}
      e.id, e.since, e.by, at = unpacked(UNHEARD, packed, at)
      table.insert(revocations, e)
    end
  end

  -- keep_slot has a revoked session hold its slot for as long as that takes.
  function keep_slot(id)
    if not call('ZSCORE', SESSIONS, id) then return end
    if not revocations then read_revocations() end
    for _, e in ipairs(revocations) do
      if e.id == id then return end
    end
    table.insert(revocations, {id = id, since = r.now, by = node})
  end

  -- views returns the moment of the view that each reporting node has.
  local function views()
    local names, news = nodes_since(r.now - NODE_WAIT)
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

  -- open_revoked opens the slots of the sessions whose revocation every node has heard of.
  function open_revoked()
    if not revocations then read_revocations() end
    local known, kept = views(), {}
    for _, e in ipairs(revocations) do
      local ends = tonumber(call('ZSCORE', SESSIONS, e.id))
      if ends and (heard(known, e) or (tonumber(call('ZSCORE', REVOKED, e.id)) or 0) <= r.now) then
        alter(SESSIONS)
        call('ZREM', SESSIONS, e.id)
        r.first_end = 0
      elseif ends then
        table.insert(kept, struct.pack(UNHEARD, e.id, e.since, e.by))
      end
    end
    r.unheard = #kept > 0
    call('HSET', META, 'leaving', table.concat(kept))
  end
end
