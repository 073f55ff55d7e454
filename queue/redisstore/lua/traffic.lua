-- Where the traffic of a room stands that counts only from queue_when on, as memstore's
-- traffic.go has it. The field mark has whether the room is open to all, when it was last busy,
-- the current slice of the minute, and the newcomers of each slice.
if rules.queuewhen > 0 then
  local SLICES, DWELL = $TrafficSlices, $CalmTime
  local PACKED = '>' .. string.rep('d', SLICES + 3)
  local kept = {0, 0, 0}
  if m[7] and #m[7] == struct.size(PACKED) then kept = {struct.unpack(PACKED, m[7])} end
  local open, busy, before, slice = kept[1] == 1, kept[2], kept[3], math.floor(r.now / (MINUTE / SLICES))
  local counts, came = {}, 0
  for n = slice - SLICES + 1, slice do
    counts[n % SLICES + 1] = n <= before and kept[4 + n % SLICES] or 0
  end
  local current = slice % SLICES + 1
  if not r.counted and not want_whole then counts[current] = counts[current] + newcomers end
  for i = 1, SLICES do came = came + counts[i] end
  if waiting() > 0 or came >= rules.queuewhen then
    open, busy = false, r.now
  elseif busy == 0 or came >= rules.opensbelow then
    busy = r.now
  elseif busy + DWELL <= r.now then
    open = true
  end
  r.open_to_all = open
  call('HSET', META, 'mark', struct.pack(PACKED, open and 1 or 0, busy, slice, unpack(counts)))
elseif m[7] then
  call('HDEL', META, 'mark')
end
