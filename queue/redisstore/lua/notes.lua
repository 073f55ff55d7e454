-- What the site says of visitors. NOTES has it by id: when it was said, and the text. The field
-- notes of the head says that there may be any.

-- take_note takes in what was said of a visitor, unless something was said later.
local function take_note(id, at, said)
  local known = call('HGET', NOTES, id)
  if known and #known >= 8 and struct.unpack('>d', known) > at then return end
  call('HSET', NOTES, id, struct.pack('>d', at) .. said)
  touch(NOTES)
  if r.has_notes then return end
  r.has_notes = '1'
  call('HSET', META, 'notes', r.has_notes)
end

-- forget_note forgets what was said of a visitor.
local function forget_note(id)
  if r.has_notes then call('HDEL', NOTES, id) end
end

-- notes_of returns what is said of the visitors.
local function notes_of(ids)
  local said = {}
  if not r.has_notes then return said end
  each(ids, function(part)
    for i, note in ipairs(call('HMGET', NOTES, unpack(part))) do said[part[i]] = note and string.sub(note, 9) end
  end)
  return said
end
