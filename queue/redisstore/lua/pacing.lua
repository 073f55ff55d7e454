-- The random moments at which a minute's allowance is released, as pacing.Pacer has
-- them. They are in order: that of the first of k parts is the least of k draws from
-- what is left of the minute. A Lehmer generator draws them; x is its last number.

-- draw is the moment after at of the next of the parts that are left.
local function draw(x, at, left)
  x = x * $LehmerFactor % $LehmerPrime
  return x, at + (MINUTE - at) * (1 - (x / $LehmerPrime) ^ (1 / left))
end

-- pass counts the parts whose moments have passed, and returns the next moment, too. passed
-- is nil in a new minute.
local function pass(parts, into, x, passed, at)
  if not passed then
    passed, at = 0, 0
    x, at = draw(x, at, parts)
  end
  while passed < parts and math.floor(at) <= into do
    passed = passed + 1
    if passed < parts then x, at = draw(x, at, parts - passed) end
  end
  return x, passed, at
end
