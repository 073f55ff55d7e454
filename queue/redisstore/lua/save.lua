-- The end of every script that takes a report. Once all else is done, it appends the room's
-- status to the reply, packed, because a list takes long to hand over; and it writes the
-- state back.
reply[#reply + 1] = struct.pack('>dddddddBBBBB', clock_told or r.now, r.active, r.admitted, open_slots(), waiting(), next_open(), r.factor,
  flag(want_whole), flag(r.awaits_until > 0 or doubting), flag(settles_at()), flag(r.open_to_all), flag(r.untold > ago(rules.place))) .. epoch
keep()
return reply
