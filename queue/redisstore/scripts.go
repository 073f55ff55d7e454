package redisstore

import (
	_ "embed" // for the scripts
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/pacing"
)

// The scripts are put together from these parts, in the order of their names
// here.
var (
	//go:embed lua/args.lua
	argsLua string
	//go:embed lua/rules.lua
	rulesLua string
	//go:embed lua/putinforce.lua
	putInForceLua string
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
	//go:embed lua/pacing.lua
	pacingLua string
	//go:embed lua/slots.lua
	slotsLua string

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

// There is one script for each method of the Store. All that comes after the state is in
// a function of its own: each call makes all functions anew, and a function is made
// faster the fewer names it takes from the function right around it.
var (
	baseLua   = argsLua + rulesLua
	timeLua   = headLua + clockLua + numbersLua
	memoryAll = timeLua + marksLua + memoryLua
	openLua   = "local function open_line()\n" + exactLua + claimLua + "line.count()\nend\n"
	lineAll   = openLua + lineLua + leavingLua + reportLua + pacingLua + slotsLua

	configureScript = script(baseLua + putInForceLua + configureLua)
	admitScript     = script(baseLua + stateLua + within(memoryAll+lineAll+admitLua+saveLua) + guardLua)
	syncScript      = script(baseLua + putInForceLua + stateLua + within(memoryAll+checkLua+lineAll+sweepLua+syncLua+saveLua) + guardLua)
	rollScript      = script(baseLua + stateLua + within(timeLua+openLua+rollLua) + "return room()\n")
)

// shared is what the scripts share with Go. A script has a dollar sign and the name in the place of each.
var shared = map[string]any{
	"MaxDraws": queue.MaxDraws, "MaxTurns": queue.MaxTurns, "MaxLeft": queue.MaxLeft, "MaxExpired": queue.MaxExpired, "LineReturn": queue.LineReturn.Milliseconds(),
	"PassthroughCounts": queue.PassthroughCounts, "RateWaves": queue.RateWaves, "MinMeasured": queue.MinMeasured, "MaxMeasured": queue.MaxMeasured,
	"Lull": queue.Lull, "MaxParts": pacing.MaxParts, "LehmerFactor": pacing.Factor, "LehmerPrime": pacing.Prime,
	"DefaultRules": defaultRules().lua(),
}

// withShared puts what is shared into a script. An unknown name stays as it is, and no server accepts the script.
func withShared(source string) string {
	return os.Expand(source, func(name string) string {
		if value, ok := shared[name]; ok {
			return fmt.Sprint(value)
		}
		return "$" + name
	})
}

func script(source string) *redis.Script { return redis.NewScript(withShared(source)) }

func within(body string) string { return "local function room()\n" + body + "end\n" }

// keys are the keys of a room, in the order in which the scripts expect them. An exact
// line has lists besides, whose names begin with the last key. The braces keep all of
// them on one node of a Cluster.
func keys(room string) []string {
	names := [...]string{"meta", "conf", "drawn", "left", "admitted", "sessions", "counts", "buckets", "windows",
		"revoked", "order", "levels", "unconfirmed", "places"}
	list, prefix := make([]string, len(names)), "anteroom:{"+room+"}:"
	for i, name := range names {
		list[i] = prefix + name
	}
	return list
}
