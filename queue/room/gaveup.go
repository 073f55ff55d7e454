package room

import (
	"math"
	"sync/atomic"
)

// gaveUp counts the visitors whose windows have passed: they wait no longer, and were not let in. Of
// several nodes none knows that, because each visitor may check in at another the next time.
type gaveUp struct {
	people atomic.Uint64
	since  atomic.Uint32 // windows that ended before this tick are not counted
}

// follow takes in whether this node is the only one. If there were others until now, it counts again
// from a tick by which the windows have passed of those who checked in there.
func (g *gaveUp) follow(alone bool, again uint32) {
	const never = math.MaxUint32
	if !alone {
		g.since.Store(never)
	} else if g.since.Load() == never {
		g.since.Store(again)
	}
}

// count counts the visitor of an entry whose window has passed since a tick.
func (g *gaveUp) count(e *entry[shortID], since, now uint32) {
	if e.until > max(since, g.since.Load()) && e.until <= now && !hasEntered(e) {
		g.people.Add(1)
	}
}
