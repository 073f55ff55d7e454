-- keep writes the state back: at the end of a call, also of one that fails midway, because
-- the marks in the keys are as that call has made them.
local function flag(is) return is and 1 or 0 end

function keep()
  if r.factor < 1 then call('HSET', META, 'spare', string.format('%.17g %d', r.spare, r.now)) end
  if r.has_line then
    local last = table.remove(r.gaps) or {from = 0, till = 0}
    local numbers = struct.pack(LINE, r.lined_by, r.given, r.began, r.floor, r.top, last.till, r.swept, r.unknown, last.from, r.absent_until)
    for _, gap in ipairs(r.gaps) do numbers = numbers .. struct.pack(GAP_BEFORE, gap.from, gap.till) end
    if numbers ~= m[4] then call('HSET', META, 'line', numbers) end
  end
  if not m[11] or format < FORMAT then call('HSET', META, 'format', FORMAT) end
  if offset ~= tonumber(m[2]) then call('HSET', META, 'offset', whole(offset)) end
  if awaited_before or r.awaits_until > 0 then
    local list = {}
    for name, at in pairs(awaited) do list[#list + 1] = name .. ':' .. whole(at) end
    call('HSET', META, 'awaited', table.concat(list, ' '))
  end
  call('HSET', META, 'now', now, 'state', struct.pack(STATE, doubt, r.minute, r.admitted, r.present, r.first_window, r.awaits_until, r.minute,
    r.active, r.first_end, rules.version, flag(r.idle), flag(r.any_revoked), flag(r.unheard), marks and struct.pack(MARKS, unpack(marks)) or packed_marks, epoch, server),
    node, struct.pack(NODE, known_seq or -1, r.now, node_since), 'ended', struct.pack('>dd', r.ended_by, r.looks))
  local life = lifetime(rules)
  if kept ~= r.minute or known_version ~= rules.version then
    for _, key in ipairs({META, SESSIONS, ADMITTED, NOTES, COUNTS, BUCKETS, WINDOWS, REVOKED, DRAWN, ORDER, LEVELS, UNCONFIRMED, LEFT, UNTOLD, PLACES}) do touch(key) end
    if length() > 0 then line.touch() end
    if rules.fleeting then touch(CONF) end
  end
  for key in pairs(touched) do call('PEXPIRE', key, life) end
end
