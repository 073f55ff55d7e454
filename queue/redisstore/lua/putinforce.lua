-- put_in_force reads a configuration from the arguments, and if it is wanted, puts it in
-- force.
local function put_in_force(version, wanted)
  local document, overrides, by, at = text(), text(), text(), text()
  if wanted then
    local new, before = cjson.decode(document).rules, configured() or filled_in({})
    local measured = cjson.encode({new.total, new.perminute, new.duration, new.renewal})
    if measured ~= call('HGET', CONF, 'measured') then
      redis.pcall('HDEL', META, 'rates') -- what fitted under other limits says nothing
    end
    new.lined, new.lined_at = before.lined, before.lined_at
    if new.method == 'line' and before.method ~= 'line' then new.lined, new.lined_at = version, tonumber(at) end
    call('HSET', CONF, 'version', whole(version), 'document', document, 'overrides', overrides, 'by', by, 'at', at,
      'measured', measured, 'rules', cmsgpack.pack(new))
    if new.fleeting then call('PEXPIRE', CONF, lifetime(new)) end
  end
  return wanted
end
