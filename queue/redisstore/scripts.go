package redisstore

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

// The scripts are put together from these parts, in the order of their names
// here.
var (
	//go:embed lua/args.lua
	argsLua string
	//go:embed lua/limits.lua
	limitsLua string
	//go:embed lua/conf.lua
	confLua string
	//go:embed lua/state.lua
	stateLua string
	//go:embed lua/head.lua
	headLua string
	//go:embed lua/clock.lua
	clockLua string
	//go:embed lua/marks.lua
	marksLua string
	//go:embed lua/memory.lua
	memoryLua string
	//go:embed lua/check.lua
	checkLua string
	//go:embed lua/numbers.lua
	numbersLua string
	//go:embed lua/exact.lua
	exactLua string
	//go:embed lua/line.lua
	lineLua string
	//go:embed lua/leaving.lua
	leavingLua string
	//go:embed lua/report.lua
	reportLua string
	//go:embed lua/rule.lua
	ruleLua string

	//go:embed lua/claim.lua
	claimLua string

	//go:embed lua/configure.lua
	configureLua string
	//go:embed lua/save.lua
	saveLua string
	//go:embed lua/admit.lua
	admitLua string
	//go:embed lua/sweep.lua
	sweepLua string
	//go:embed lua/sync.lua
	syncLua string
	//go:embed lua/roll.lua
	rollLua string

	//go:embed lua/guard.lua
	guardLua string
)

// One script for each verb of the Store. What comes after the state is in a function
// of its own: a function is made faster the fewer names it takes from right around
// it, and each call makes all of them.
var (
	baseLua   = argsLua + limitsLua
	timeLua   = headLua + clockLua + numbersLua
	memoryAll = timeLua + marksLua + memoryLua
	openLua   = "local function open_line()\n" + exactLua + claimLua + "line.count()\nend\n"
	lineAll   = openLua + lineLua + leavingLua + reportLua + ruleLua

	configureScript = redis.NewScript(baseLua + confLua + configureLua)
	admitScript     = redis.NewScript(baseLua + stateLua + within(memoryAll+lineAll+admitLua+saveLua) + guardLua)
	syncScript      = redis.NewScript(baseLua + confLua + stateLua + within(memoryAll+checkLua+lineAll+sweepLua+syncLua+saveLua) + guardLua)
	rollScript      = redis.NewScript(baseLua + stateLua + within(timeLua+openLua+rollLua) + "return room()\n")
)

func within(body string) string { return "local function room()\n" + body + "end\n" }

// keys are the keys of a room, in the order that the scripts know them by; an
// exact line has lists besides, named after the last. The braces keep them on one
// node of a Cluster.
func keys(room string) []string {
	names := [...]string{"meta", "conf", "drawn", "left", "admitted", "sessions", "counts", "buckets", "windows",
		"revoked", "order", "levels", "unconfirmed", "places"}
	list, prefix := make([]string, len(names)), "anteroom:{"+room+"}:"
	for i, name := range names {
		list[i] = prefix + name
	}
	return list
}
