package proxy

import (
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// settledAfter is how long after its start an event's entries are first logged: requests that were under way at the start have been
// answered by then.
const settledAfter = 2 * time.Second

// listed is how far the entries of a draw have been logged.
type listed struct {
	draw         *event.Draw // nil for none
	begun, ended bool
}

// logList logs twice how many entries of a shuffled event this gate has, and their digest: after the start, when more come with everybody who
// first comes back then; and when nobody can come back any more, as their places are over. What the gate publishes later can be
// compared with that.
func (g *Gate) logList(r *room, s *queue.Settings) {
	l := &r.watched.listed
	if d := r.Overrides.Draw(s.Event.Name); s.Event.Shuffle && !s.Event.Prequeueing && d != nil && queue.At(d.Prequeue) == s.Event.Prequeue &&
		(l.draw == nil || !l.draw.Prequeue.Equal(d.Prequeue)) {
		*l = listed{draw: d}
	}
	if l.draw == nil || l.ended {
		return
	}
	switch past := r.Queue.StoreTime(g.o.Clock()).Sub(queue.At(l.draw.Start)); {
	case past >= s.QueueTicketTTL+settledAfter:
		l.begun, l.ended = true, true
		g.startLogging(r, l.draw, "list of entries of a draw")
	case past >= settledAfter && !l.begun:
		l.begun = true
		g.startLogging(r, l.draw, "entries of a draw so far")
	}
}

// startLogging has the entries that there are be logged.
func (g *Gate) startLogging(r *room, d *event.Draw, message string) {
	g.tasks.Go(func() { g.logOrder(r, d, message) })
}

func (g *Gate) logOrder(r *room, d *event.Draw, message string) {
	defer services{g}.Survive("list of entries")
	name := r.Queue.Name()
	o, err := g.draws.Order(name, d)
	if err != nil {
		g.o.Log.Error("entries of a draw not read", zap.String("room", name), zap.String("event", d.Event), zap.Error(err))
		return
	}
	g.o.Log.Info(message, zap.String("room", name), zap.String("event", d.Event),
		zap.Int("entries", o.Entries), zap.String("digest", o.Digest), zap.String("seed_hash", o.SeedHash))
}

// sweepEvery is how often the entries of old draws are removed.
const sweepEvery = 24 * time.Hour

// sweepDraws removes the entries of old draws, now and then, until the gate is closed.
func (g *Gate) sweepDraws() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := g.draws.Sweep(time.Now()); err != nil {
			g.o.Log.Error("entries of old draws not removed", zap.Error(err))
		}
		select {
		case <-g.sync.Done():
			return
		case <-ticker.C:
		}
	}
}
