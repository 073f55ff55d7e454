package proxy

import (
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/event"
)

// settledAfter is how long after its start an event's list of entries is logged: requests that were under way at the start have been
// answered by then. Later the list has those besides who first come back after it.
const settledAfter = 2 * time.Second

// logList logs once, after a shuffled event has started, how many entries of it this gate has, and their digest. What the gate publishes
// later can be compared with that.
func (g *Gate) logList(r *room, is queue.ActiveEvent) {
	if !is.Shuffle || is.Prequeueing || r.queue.StoreTime(g.o.Clock()).Sub(is.Start) < settledAfter || r.watched.listed == is.Prequeue {
		return
	}
	r.watched.listed = is.Prequeue
	d := r.overrides.Draw(is.Name)
	if d == nil || queue.At(d.Prequeue) != is.Prequeue {
		return
	}
	g.tasks.Go(func() { g.logOrder(r, d) })
}

func (g *Gate) logOrder(r *room, d *event.Draw) {
	defer g.survive("list of entries")
	name := r.queue.Name()
	o, err := g.draws.Order(name, d)
	if err != nil {
		g.o.Log.Error("entries of a draw not read", zap.String("room", name), zap.String("event", d.Event), zap.Error(err))
		return
	}
	g.o.Log.Info("list of entries of a draw", zap.String("room", name), zap.String("event", d.Event),
		zap.Int("entries", o.Entries), zap.String("digest", o.Digest), zap.String("seed_hash", o.SeedHash))
}
