-- configure reads the fields of a configuration from the arguments and, if it
-- is wanted, makes it what the store goes by.
local function configure(version, wanted)
  local settings, overrides, by, at = text(), text(), text(), text()
  local total, perminute, duration, place = text(), text(), text(), text()
  local method, pacing, queueall = text(), text(), text()
  if wanted then
    call('HSET', CONF, 'version', whole(version), 'settings', settings, 'overrides', overrides, 'by', by, 'at', at,
      'limits', table.concat({whole(version), total, perminute, duration, place, method, pacing, queueall}, ' '))
  end
  return wanted
end
