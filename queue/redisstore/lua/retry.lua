-- Runs the call. If the memory is broken, the call forgets all but the clock and the nodes,
-- and begins again: the nodes then report anew. Any other error goes to the caller, such as
-- that of a server that takes no writes, or a bug of these scripts: nothing is forgotten then,
-- and what the call has changed so far is kept.

-- found_broken says whether an error means a broken memory: because a check has found it, or
-- because the server says so of what it has stored.
local function found_broken(fault)
  for _, sign in ipairs({BROKEN, 'WRONGTYPE', 'hash value is not an integer'}) do
    if string.find(fault, sign, 1, true) then return true end
  end
end

local ok, reply = pcall(room)
if not ok and found_broken(tostring(reply)) then
  if call('TYPE', META).ok ~= 'hash' then call('DEL', META) end
  call('HDEL', META, 'moments', 'bounds', 'slowed', 'spare', 'leaving', 'mark')
  forgotten = true
  begin()
  ok, reply = pcall(room)
end
if ok then return reply end
if keep then pcall(keep) end
return redis.error_reply(tostring(reply))
