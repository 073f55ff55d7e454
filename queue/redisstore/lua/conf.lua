-- configure reads the fields of a configuration from the arguments and, if it
-- is wanted, makes it what the store goes by.
local function configure(version, wanted)
  local settings, overrides, by, at = text(), text(), text(), text()
  local total, perminute, duration, place = text(), text(), text(), text()
  local method, pacing, queueall, renewal, fleeting = text(), text(), text(), text(), text()
  local lasts, dropout, back = text(), text(), text()
  if wanted then
    local measured = table.concat({total, perminute, duration, renewal}, ' ')
    if measured ~= call('HGET', CONF, 'measured') then
      redis.pcall('HDEL', META, 'rates') -- what fitted under other limits says nothing
    end
    local limits, before, line_version, line_at = configured(), nil, 0, 0
    if limits then
      line_version, line_at, before = select(11, struct.unpack(LIMITS, limits))
    end
    if method == 'line' and before ~= 'line' then line_version, line_at = version, at end
    call('HSET', CONF, 'version', whole(version), 'settings', settings, 'overrides', overrides, 'by', by, 'at', at,
      'measured', measured, 'limits', struct.pack(LIMITS, version, total, perminute, duration, place, lasts, dropout, back,
        queueall, fleeting, line_version, line_at, method, pacing))
    if fleeting == '1' then call('PEXPIRE', CONF, lifetime(tonumber(duration), math.max(tonumber(place), tonumber(dropout)))) end
  end
  return wanted
end
