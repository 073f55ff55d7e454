-- At a sync every key has to be as the last call left it.
check(FIRST, LAST)
