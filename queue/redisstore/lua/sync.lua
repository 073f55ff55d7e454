-- Tells the calling node how the room stands.

local since, told_version = number(), number()

-- A whole report brings back what a store that lost its memory was told before.
local told = number()
if configure(told, whole_report and told > version) then load_configuration() end

local rate_sum, rate_n = 0, 0
for at, n in string.gmatch(rates, '(%d+):(%d+)') do
  if tonumber(at) >= minute - MEASURED * MINUTE then rate_sum, rate_n = rate_sum + n, rate_n + 1 end
end

local buckets = call('ZRANGE', BUCKETS, 0, -1)
local counts = {}
for i, bucket in ipairs(buckets) do counts[i] = call('HGET', COUNTS, bucket) end
local configuration = {}
if told_version ~= version then
  configuration = call('HMGET', CONF, 'settings', 'overrides', 'by', 'at')
end
local fresh = {}
for _, id in ipairs(call('ZRANGEBYSCORE', ADMITTED, whole(since), '+inf')) do
  local expires = call('ZSCORE', SESSIONS, id)
  if expires then fresh[#fresh + 1] = id; fresh[#fresh + 1] = expires end
end
save()
return {standing(), buckets, counts, rate_n > 0 and tostring(rate_sum / rate_n) or '', call('ZRANGEBYSCORE', REVOKED, '(' .. whole(now), '+inf', 'WITHSCORES'),
  fresh, call('ZRANGEBYSCORE', SEEN, whole(now - GRACE), '+inf'), version, configuration}
