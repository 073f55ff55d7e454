-- The keys of the room, and the functions that read the arguments.

local META, CONF, DRAWN, LEFT, UNTOLD, ADMITTED, NOTES, SESSIONS, COUNTS, BUCKETS, WINDOWS, REVOKED, ORDER, LEVELS, UNCONFIRMED, PLACES = unpack(KEYS)

local call = redis.call
local arg = 0
local function text() arg = arg + 1; return ARGV[arg] end
local function number() arg = arg + 1; return tonumber(ARGV[arg]) end

-- whole writes a number of milliseconds out: tostring would round it.
local function whole(n) return string.format('%d', n) end

-- RING is how many lists an exact line has, in which places are looked up by their end.
local RING = 256

-- CHUNK is how many arguments one command gets at most.
local CHUNK = 1000

-- each calls f with the list in parts that one command can take.
local function each(list, f)
  for first = 1, #list, CHUNK do
    f({unpack(list, first, math.min(first + CHUNK - 1, #list))})
  end
end
