-- At a sync every key has to be as the last call left it.
for _, key in ipairs(MARKED) do check(key) end
