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
	//go:embed lua/line.lua
	lineLua string
	//go:embed lua/report.lua
	reportLua string
	//go:embed lua/rule.lua
	ruleLua string

	//go:embed lua/configure.lua
	configureLua string
	//go:embed lua/admit.lua
	admitLua string
	//go:embed lua/sync.lua
	syncLua string
)

// One script for each verb of the Store.
var (
	roomLua = argsLua + confLua + stateLua + clockLua + memoryLua + lineLua + reportLua + ruleLua

	configureScript = redis.NewScript(argsLua + confLua + configureLua)
	admitScript     = redis.NewScript("local syncing = false\n" + roomLua + admitLua)
	syncScript      = redis.NewScript("local syncing = true\n" + roomLua + syncLua)
)

// keys are the keys of a room, in the order that the scripts know them by. The
// braces keep them on one node of a Cluster.
func keys(room string) []string {
	names := [...]string{"meta", "conf", "epoch", "sessions", "admitted", "counts", "buckets", "windows",
		"revoked", "seqs", "seen", "awaited", "drawn"}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = "anteroom:{" + room + "}:" + name
	}
	return list
}
