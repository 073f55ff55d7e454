-- Changes the configuration if it is still the one that the caller knew.
local version = number()
local known = configured() and tonumber(call('HGET', CONF, 'version')) or 0
return put_in_force(version, version == known + 1) and 1 or 0
