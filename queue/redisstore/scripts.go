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
	//go:embed lua/conf.lua
	confLua string
	//go:embed lua/state.lua
	stateLua string
	//go:embed lua/clock.lua
	clockLua string
	//go:embed lua/memory.lua
	memoryLua string
	//go:embed lua/numbers.lua
	numbersLua string
	//go:embed lua/exact.lua
	exactLua string
	//go:embed lua/line.lua
	lineLua string
	//go:embed lua/report.lua
	reportLua string
	//go:embed lua/rule.lua
	ruleLua string

	//go:embed lua/claim.lua
	claimLua string

	//go:embed lua/configure.lua
	configureLua string
	//go:embed lua/admit.lua
	admitLua string
	//go:embed lua/sync.lua
	syncLua string
	//go:embed lua/roll.lua
	rollLua string
)

// One script for each verb of the Store.
var (
	timeLua = stateLua + clockLua + numbersLua
	openLua = "local function open_line()\n" + exactLua + claimLua + "count_line()\nend\n"
	roomLua = argsLua + confLua + timeLua + memoryLua + openLua + lineLua + reportLua + ruleLua

	configureScript = redis.NewScript(argsLua + confLua + configureLua)
	admitScript     = redis.NewScript("local syncing = false\n" + roomLua + admitLua)
	syncScript      = redis.NewScript("local syncing = true\n" + roomLua + syncLua)
	rollScript      = redis.NewScript(argsLua + timeLua + openLua + rollLua)
)

// keys are the keys of a room, in the order that the scripts know them by; an
// exact line has lists besides, named after the last. The braces keep them on one
// node of a Cluster.
func keys(room string) []string {
	names := [...]string{"meta", "conf", "epoch", "sessions", "admitted", "counts", "buckets", "windows",
		"revoked", "seqs", "seen", "awaited", "drawn", "order", "levels", "places"}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = "anteroom:{" + room + "}:" + name
	}
	return list
}
