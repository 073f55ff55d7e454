-- The factor by which admissions are slowed: the lowest of the nodes that have reported
-- lately. The field slowed has the name, the factor and the last report of those that have one.
if m[6] or node_factor > 0 then
  local kept = {}
  for name, factor, at in string.gmatch(m[6] or '', '(%S+):(%S+):(%S+)') do
    if name ~= node and numeric(at) >= r.now - $Lately then
      kept[#kept + 1] = name .. ':' .. factor .. ':' .. at
      r.factor = math.min(r.factor, numeric(factor))
    end
  end
  if node_factor > 0 then
    kept[#kept + 1] = string.format('%s:%.17g:%d', node, node_factor, r.now)
    r.factor = math.min(r.factor, node_factor)
  end
  if #kept > 0 then call('HSET', META, 'slowed', table.concat(kept, ' ')) else call('HDEL', META, 'slowed', 'spare') end
end

-- While admissions are slowed, they are released bit by bit, as pacing.Slow has it. The field
-- spare has how many are released and not taken, and at which moment.
if r.factor < 1 then
  r.slow_rate = math.max(1, rules.perminute * r.factor)
  local spare, at = string.match(call('HGET', META, 'spare') or '', '(%S+) (%S+)')
  if at then r.spare = math.min(r.slow_rate, numeric(spare) + r.slow_rate * (r.now - numeric(at)) / MINUTE) end
end
