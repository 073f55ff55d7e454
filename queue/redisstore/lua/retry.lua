-- Runs the call. If the call fails because the memory is broken, it forgets all but the
-- clock and the nodes, and begins again: the nodes then report anew. An error with another
-- cause, such as a server that takes no writes, goes to the caller.

local ok, reply = pcall(room)
if ok then return reply end

local function broken(fault)
  for _, sign in ipairs({'memory of the room is broken', 'WRONGTYPE', 'attempt to ', 'bad argument', 'is not an integer', 'is not a valid float', 'is not a float'}) do
    if string.find(fault, sign, 1, true) then return true end
  end
end

if broken(tostring(reply)) then
  if call('TYPE', META).ok ~= 'hash' then call('DEL', META) end
  forgotten = true
  begin()
  ok, reply = pcall(room)
end
return ok and reply or redis.error_reply(tostring(reply))
