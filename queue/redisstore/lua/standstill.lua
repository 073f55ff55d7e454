-- Has sessions stand still, or go on, as the rules want it; and reads what is left.

if m[9] and #m[9] == 16 then r.stock_at, r.stock = struct.unpack('>dd', m[9]) end

local function stand_still()
  local HOLDS = $MaxStandstills -- how many holds are remembered at most
  if rules.stands and r.stands == 0 then
    standstill[1] = r.now
  elseif not rules.stands and r.stands > 0 and rules.version > 0 then
    local by = behind()
    standstill[1] = 0
    table.insert(standstill, r.now)
    table.insert(standstill, by)
    while #standstill > 2 + 2 * HOLDS do
      table.remove(standstill, 3)
      standstill[2] = table.remove(standstill, 3)
    end
  else
    return
  end
  call('HSET', META, 'standstill', struct.pack('>' .. string.rep('d', #standstill), unpack(standstill)))
  know_sessions_now()
end
stand_still()
