package redisstore

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/args.lua
var argsLua string

//go:embed lua/conf.lua
var confLua string

//go:embed lua/room.lua
var roomLua string

//go:embed lua/admit.lua
var admitLua string

//go:embed lua/sync.lua
var syncLua string

//go:embed lua/configure.lua
var configureLua string

// One script for each verb of the Store.
var (
	configureScript = redis.NewScript(argsLua + confLua + configureLua)
	admitScript     = redis.NewScript(argsLua + roomLua + admitLua)
	syncScript      = redis.NewScript(argsLua + confLua + roomLua + syncLua)
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
