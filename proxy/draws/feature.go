package draws

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// settledAfter is how long after its start an event's entries are first logged: requests that were
// under way at the start have been answered by then.
const settledAfter = 2 * time.Second

// listed is how far the entries of a draw have been logged.
type listed struct {
	mu           sync.Mutex  // a room that is configured anew may be looked at while its last sync of before goes on
	draw         *event.Draw // nil for none
	begun, ended bool
}

// Feature keeps the entries of the draws of a gate, and tells the log how many there are.
type Feature struct {
	*Book
	gate feature.Gate
}

// NewFeature returns what keeps the entries of the draws of a gate.
func NewFeature(g feature.Gate) *Feature { return &Feature{Open(g.StateDir("")), g} }

// Part implements [feature.Feature]: every room may have draws.
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return nil, nil }

// NoteEntry implements [feature.Registrar].
func (f *Feature) NoteEntry(room string, d *event.Draw, entry string) {
	if err := f.Note(room, d, entry); err != nil {
		f.gate.Log().Error("entry of a draw not kept", zap.String("room", room), zap.Error(err))
	}
}

// Follow implements [feature.Follower]: it logs twice how many entries of a shuffled event this
// gate has, and their digest: after the start, when more come with everybody who first comes back
// then; and when nobody can come back any more, as their places are over. What the gate publishes
// later can be compared with that.
func (f *Feature) Follow(r *feature.Room) {
	l, settings := feature.StateOf[listed](r), &r.Queue.Numbers().Settings
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &settings.Event
	if d := r.Overrides.Draw(e.Name); e.Shuffle && !e.Prequeueing && d != nil && queue.At(d.Prequeue) == e.Prequeue && (l.draw == nil || !l.draw.Prequeue.Equal(d.Prequeue)) {
		l.draw, l.begun, l.ended = d, false, false
	}
	if l.draw == nil || l.ended {
		return
	}
	draw := l.draw
	switch past := r.Queue.StoreTime(f.gate.Now()).Sub(queue.At(draw.Start)); {
	case past >= settings.QueueTicketTTL+settledAfter:
		l.begun, l.ended = true, true
		f.gate.Go(func() { f.log(r.Queue.Name(), draw, "list of entries of a draw") })
	case past >= settledAfter && !l.begun:
		l.begun = true
		f.gate.Go(func() { f.log(r.Queue.Name(), draw, "entries of a draw so far") })
	}
}

// log tells the log of the entries that there are.
func (f *Feature) log(room string, d *event.Draw, message string) {
	defer f.gate.Survive("list of entries")
	o, err := f.Order(room, d)
	if err != nil {
		f.gate.Log().Error("entries of a draw not read", zap.String("room", room), zap.String("event", d.Event), zap.Error(err))
		return
	}
	f.gate.Log().Info(message, zap.String("room", room), zap.String("event", d.Event),
		zap.Int("entries", o.Entries), zap.String("digest", o.Digest), zap.String("seed_hash", o.SeedHash))
}

// sweepEvery is how often the entries of old draws are removed.
const sweepEvery = 24 * time.Hour

// Run implements [feature.Runner]: it removes the entries of old draws now and then.
func (f *Feature) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := f.Sweep(time.Now()); err != nil {
			f.gate.Log().Error("entries of old draws not removed", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Close implements [feature.Closer].
func (f *Feature) Close() {
	if err := f.Book.Close(); err != nil {
		f.gate.Log().Error("closing the entries of draws", zap.Error(err))
	}
}
