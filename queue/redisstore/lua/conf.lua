-- configure reads a configuration from the arguments, and if it is wanted, puts it in
-- force.
local function configure(version, wanted)
  local document, overrides, by, at = text(), text(), text(), text()
  if wanted then
    local rules, before = cjson.decode(document).rules, configured() or {}
    local measured = cjson.encode({rules.total, rules.perminute, rules.duration, rules.renewal})
    if measured ~= call('HGET', CONF, 'measured') then
      redis.pcall('HDEL', META, 'rates') -- what fitted under other limits says nothing
    end
    rules.version, rules.lined, rules.lined_at = version, before.lined or 0, before.lined_at or 0
    if rules.method == 'line' and before.method ~= 'line' then rules.lined, rules.lined_at = version, tonumber(at) end
    call('HSET', CONF, 'version', whole(version), 'document', document, 'overrides', overrides, 'by', by, 'at', at,
      'measured', measured, 'rules', cmsgpack.pack(rules))
    if rules.fleeting then call('PEXPIRE', CONF, lifetime(rules.duration, math.max(rules.place, rules.dropout))) end
  end
  return wanted
end
