-- The exact line. ORDER has the visitors with the default priority, by number. LEVELS has
-- the others, as texts that sort in the order of the line. UNCONFIRMED has all visitors
-- whose ticket has not come back yet, as texts like those of LEVELS. The three name a
-- visitor by the first half of the id. PLACES has the rest: until when the place lasts,
-- the list in which it is looked up, the other half of the id, and for visitors in
-- LEVELS or UNCONFIRMED the priority and the number. One byte more marks a place that is
-- unconfirmed. PLACES also has the places of those who said goodbye, who are not in line: under
-- the name of their visitor with ABSENT before it.

r.has_line = true

local WINDOW = 250      -- places that end within this time are looked up together
local RETURN = $LineReturn -- how long a place is kept after a goodbye
local WRAP = 2 ^ 40     -- the ends of places are kept modulo this
local DEFAULT = 32767   -- the default priority as LEVELS has it, where a higher priority is less
local ABSENT = 'a'

function line.count()
  -- From its first change on, a key has its mark besides.
  local function card(key) return math.max(0, call('ZCARD', key) - 1) end
  r.in_order, r.behind_all, r.unconfirmed = card(ORDER), card(LEVELS), card(UNCONFIRMED)
  if r.behind_all > 0 then
    r.ahead_of_all = call('ZLEXCOUNT', LEVELS, '-', '(' .. struct.pack('>I2', DEFAULT))
    r.behind_all = r.behind_all - r.ahead_of_all
  end
end

function line.member_of(id) return string.sub(id, 1, 8) end
local function level_member(p) return struct.pack('>I2I6', DEFAULT - p.priority, p.number) .. p.member end

local function count(priority, people)
  if priority > 0 then
    r.ahead_of_all = r.ahead_of_all + people
  elseif priority == 0 then
    r.in_order = r.in_order + people
  else
    r.behind_all = r.behind_all + people
  end
end

-- rest_of returns the other half of the id, of a place that is packed.
function line.rest_of(text) return string.sub(text, 7, 14) end

-- read unpacks a place.
function line.read(member, text)
  local wrapped, list, rest, after = unpacked('>I5Bc8', text)
  local ends, priority, given = r.now + (wrapped - r.now + WRAP / 2) % WRAP - WRAP / 2, 0, nil
  if #text >= after then priority, given = unpacked('>i2I6', text, after) end
  return {
    member = member, list = list, rest = rest, ends = ends, priority = priority, number = given, unconfirmed = #text > 22,
    absent = #member > 8,
  }
end

local function write(p)
  local text = struct.pack('>I5B', p.ends % WRAP, p.list) .. p.rest
  if p.priority ~= 0 or p.unconfirmed or p.absent then text = text .. struct.pack('>i2I6', p.priority, p.number) end
  return p.unconfirmed and text .. 'u' or text
end

local function keep(p)
  alter(PLACES)
  call('HSET', PLACES, p.member, write(p))
end

function line.number_of(p)
  p.number = p.number or numeric(call('ZSCORE', ORDER, p.member))
  return p.number
end

-- insert puts a visitor into the line by their priority and number.
local function insert(p)
  if p.priority == 0 then
    alter(ORDER)
    call('ZADD', ORDER, whole(p.number), p.member)
  else
    alter(LEVELS)
    call('ZADD', LEVELS, 0, level_member(p))
  end
  if p.unconfirmed then
    alter(UNCONFIRMED)
    call('ZADD', UNCONFIRMED, 0, level_member(p))
    r.unconfirmed = r.unconfirmed + 1
  end
  count(p.priority, 1)
end

-- extract_unconfirmed takes a visitor out of those who have not come back.
local function extract_unconfirmed(p)
  if not p.unconfirmed then return end
  alter(UNCONFIRMED)
  r.unconfirmed = r.unconfirmed - call('ZREM', UNCONFIRMED, level_member(p))
end

-- confirm makes a place a confirmed one.
function line.confirm(p)
  extract_unconfirmed(p)
  p.unconfirmed = false
end

-- extract takes a visitor out of the line, but leaves their entry in PLACES. A list may name a
-- visitor twice who left and came back: they count once.
local function extract(p)
  local key, member = ORDER, p.member
  if p.priority ~= 0 then key, member = LEVELS, level_member(p) end
  alter(key)
  count(p.priority, -call('ZREM', key, member))
  extract_unconfirmed(p)
end

local function take_out(p)
  extract(p)
  alter(PLACES)
  call('HDEL', PLACES, p.member)
end

-- prefer gives a visitor in line another priority.
local function prefer(p, priority)
  line.number_of(p)
  extract(p)
  p.priority = priority
  insert(p)
end

-- find returns the place of an id, and the one that is remembered since a goodbye; none that
-- has ended.
local function find(id)
  local member, found = line.member_of(id), {}
  if length() == 0 and r.absent_until <= r.now then return end
  for i, text in ipairs(call('HMGET', PLACES, member, ABSENT .. member)) do
    local p = text and line.read(i == 1 and member or ABSENT .. member, text)
    if p and p.ends > r.now then
      found[i] = p
    elseif p and not p.absent then
      take_out(p)
    end
  end
  return found[1], found[2]
end

-- has says whether an id has a place, or one that was left and that they may come back to.
function line.has(id)
  local p, absent = find(id)
  return p or absent
end

-- forget has a visitor have no place any more, of those that find has found.
local function forget(p, absent)
  if p then take_out(p) end
  if not absent then return end
  alter(PLACES)
  call('HDEL', PLACES, absent.member)
end

function line.ahead(p)
  if p.priority == 0 then return r.ahead_of_all + numeric(call('ZRANK', ORDER, p.member)) end
  return (p.priority < 0 and r.in_order or 0) + numeric(call('ZRANK', LEVELS, level_member(p)))
end

-- unconfirmed_ahead counts those ahead whose places are not confirmed.
function line.unconfirmed_ahead(p)
  line.number_of(p)
  return call('ZLEXCOUNT', UNCONFIRMED, '-', '(' .. level_member(p))
end

-- keeps is how long a place outlives its last check-in. One that is not confirmed
-- ends as soon as the first check-in is overdue.
function line.keeps(p) return p.unconfirmed and math.min(rules.dropout, rules.back) or rules.dropout end

-- Each place is in the list of the window in which it ends, and is looked up then. The
-- place of a visitor who has checked in meanwhile moves on to another list. A list may
-- still have places of visitors who have left, or which have moved on before: these are
-- passed over.

local function list_key(list) return PLACES .. ':' .. list end

local function append(list, members)
  local key = list_key(list)
  if call('RPUSH', key, unpack(members)) == #members then touch(key) end
end

local function list_for(ends)
  return math.max(r.swept + 1, math.min(math.ceil(ends / WINDOW), r.swept + RING - 1)) % RING
end

local function enlist(p)
  p.list = list_for(p.ends)
  append(p.list, {p.member})
end

function line.touch()
  for list = 0, RING - 1 do touch(list_key(list)) end
end

-- look_up looks up some places of a list, and takes out those that have ended.
local function look_up(list, members)
  local moved, places, gone, ordered, unconfirmed = {}, {}, {}, {}, {}
  for i, text in ipairs(call('HMGET', PLACES, unpack(members))) do
    local p = text and line.read(members[i], text)
    if p and p.list == list then
      if p.ends <= r.now then
        table.insert(gone, p.member)
        if p.absent then -- and in no other list
        elseif p.priority ~= 0 then
          extract(p)
        else
          table.insert(ordered, p.member)
          if p.unconfirmed then table.insert(unconfirmed, level_member(p)) end
        end
      else
        p.list = list_for(p.ends)
        moved[p.list] = moved[p.list] or {}
        table.insert(moved[p.list], p.member)
        table.insert(places, p.member)
        table.insert(places, write(p))
      end
    end
  end
  if #gone + #places > 0 then alter(PLACES) end
  if #ordered > 0 then alter(ORDER) end
  each(gone, function(part) call('HDEL', PLACES, unpack(part)) end)
  each(ordered, function(part) count(0, -call('ZREM', ORDER, unpack(part))) end)
  if #unconfirmed > 0 then alter(UNCONFIRMED) end
  each(unconfirmed, function(part) r.unconfirmed = r.unconfirmed - call('ZREM', UNCONFIRMED, unpack(part)) end)
  each(places, function(part) call('HSET', PLACES, unpack(part)) end)
  for to, part in pairs(moved) do append(to, part) end
end

-- pass_places takes out the visitors who have missed their check-ins. It looks up so many
-- places at most, so that a crowd that leaves does not hold up the others.
function line.pass_places(looks)
  local this = math.floor(r.now / WINDOW)
  if length() == 0 and r.absent_until < r.now - WINDOW then r.swept = this end
  if this - r.swept > 2 * RING then r.swept = this - RING end
  while looks > 0 and r.swept < this do
    local list = (r.swept + 1) % RING
    local members = call('LPOP', list_key(list), math.min(looks, CHUNK))
    if members then
      looks = looks - #members
      look_up(list, members)
    else
      r.swept = r.swept + 1
    end
  end
end

-- last_ends is when the place of the last visitor in line ends.
function line.last_ends()
  local key, from = ORDER, 1
  if r.behind_all > 0 or r.in_order == 0 then key, from = LEVELS, 9 end
  local member = string.sub(call('ZRANGE', key, -2, -2)[1] or '', from) -- behind it is the mark
  local text = call('HGET', PLACES, member)
  return text and line.read(member, text).ends
end

-- members returns the first n in line, in order.
function line.members(n)
  local members = {}
  local function add(key, first, most, from)
    for _, text in ipairs(most > 0 and call('ZRANGE', key, first, first + most - 1) or {}) do
      table.insert(members, string.sub(text, from))
    end
  end
  add(LEVELS, 0, math.min(n, r.ahead_of_all), 9)
  add(ORDER, 0, math.min(n - #members, r.in_order), 1)
  add(LEVELS, r.ahead_of_all, math.min(n - #members, r.behind_all), 9)
  return members
end

-- places returns the places of those in line. Those of them that have ended are in a list of
-- their own.
function line.places(members)
  local places, ended = {}, {}
  each(members, function(part)
    for i, text in ipairs(call('HMGET', PLACES, unpack(part))) do
      local p = line.read(part[i], text)
      table.insert(p.ends > r.now and places or ended, p)
    end
  end)
  return places, ended
end

-- turns returns the first n confirmed places in line, and in a list of their own the
-- places before them that have ended.
function line.turns(n)
  local PASSED_OVER = 1000 -- how many unconfirmed places are passed over at most
  local list = {}
  if n == 0 then return list, {} end
  local places, ended = line.places(line.members(n + math.min(r.unconfirmed, PASSED_OVER)))
  for _, p in ipairs(places) do
    if not p.unconfirmed and #list < n then table.insert(list, p) end
  end
  return list, ended
end

-- remember remembers a place in line.
local function remember(p, ends)
  if ends <= r.now then return end
  local absent = {member = ABSENT .. p.member, rest = p.rest, priority = p.priority, number = line.number_of(p), ends = ends, absent = true}
  enlist(absent)
  keep(absent)
  r.absent_until = math.max(r.absent_until, ends)
end

-- goodbye has a visitor who said goodbye stand in line for a moment only, and remembers their
-- place, unless they have checked in since. Nothing is remembered of one who was revoked, or
-- whose place is not confirmed: their ticket tells as much.
function line.goodbye(id, at)
  local p, absent = find(id)
  if not p or p.ends - line.keeps(p) >= at then return end
  if is_revoked(id) then return take_out(p) end
  forget(nil, absent)
  if not p.unconfirmed then remember(p, at + rules.dropout) end
  if p.ends <= at + RETURN then return end
  p.ends = at + RETURN
  if p.ends <= r.now then return take_out(p) end
  if p.list ~= list_for(p.ends) then enlist(p) end
  keep(p)
end

-- withdraw takes a newcomer out of line whom no answer has told of their place.
function line.withdraw(id)
  local p = find(id)
  if p and p.unconfirmed then take_out(p) end
end

-- clear takes out places that have ended. If a list was lost, nothing else does.
function line.clear(ended)
  for _, p in ipairs(ended) do take_out(p) end
end

function line.give_priority(id, priority)
  local p, absent = find(id)
  if p and p.priority ~= priority then
    prefer(p, priority)
    keep(p)
  end
  if absent then
    absent.priority = priority
    keep(absent)
  end
end
