// Package watch notices what happens to rooms, and has the webhooks of a gate told of it.
package watch

import (
	"context"
	"crypto/x509"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

const (
	// beginsAfter is how long something has to be so before it is told, and endsAfter how long it
	// has to be over: else those who are told would hear of every moment.
	beginsAfter = 5 * time.Second
	endsAfter   = time.Minute
	// tellsWithin is how long a gate remembers what it has seen and not told, in case the gate that
	// tells has gone.
	tellsWithin = 15 * time.Second
)

// watched is what the webhooks of a room go by. Of the gates that share a store, one tells what
// happens to a room: the first of those that have reported lately. The others remember what they
// have seen for a while, in case it has gone. While the store does not answer, no gate knows of the
// others, and each tells: better twice than never.
type watched struct {
	mu                                    sync.Mutex // a room that is configured anew may be looked at while its last sync of before goes on
	begun                                 bool
	queueing, limit, store, soldOut, held switched
	origin, slowed                        switched
	event                                 queue.ActiveEvent // that was in force at the last look
	untold                                []webhooks.Event
	seen                                  frequency
}

// switched is a fact that is told when it has changed for some time.
type switched struct {
	on    bool
	since time.Time // since when it differs from on; zero if it does not
}

// turned says whether the fact has changed now, that is, has differed for so long.
func (s *switched) turned(now time.Time, is bool, begins, ends time.Duration) bool {
	if is == s.on {
		s.since = time.Time{}
		return false
	}
	if s.since.IsZero() {
		s.since = now
	}
	lasts := ends
	if is {
		lasts = begins
	}
	if now.Sub(s.since) < lasts {
		return false
	}
	s.on, s.since = is, time.Time{}
	return true
}

// frequency counts what has happened in a minute, by kind.
type frequency struct {
	minute int64 // since 1970
	times  map[webhooks.Kind]int
}

// add counts one more, and returns how many there are with it.
func (t *frequency) add(now time.Time, kind webhooks.Kind) int {
	if minute := now.Unix() / 60; t.times == nil || minute != t.minute {
		t.minute, t.times = minute, map[webhooks.Kind]int{}
	}
	t.times[kind]++
	return t.times[kind]
}

// Name is that of the feature. What a configuration says of it beside its rooms is a [Config].
const Name = "webhooks"

// Config are the webhooks of a gate.
type Config struct {
	Hooks []webhooks.Hook // their URLs have passed Hosts.Check
	Hosts outbound.Hosts  // that they may be at
}

// Feature has the webhooks of a gate told of what happens to its rooms.
type Feature struct {
	gate  feature.Gate
	hooks *webhooks.Sender
	next  Config

	certificates func() []*x509.Certificate // of the gate's listeners; nil for none
}

// NewFeature returns what has the webhooks of a gate told, whose listeners have certificates; nil for
// none.
func NewFeature(g feature.Gate, certificates func() []*x509.Certificate) *Feature {
	f := &Feature{gate: g, certificates: certificates, hooks: webhooks.New(webhooks.Options{Gate: nameOf(g), Dir: g.StateDir("webhooks"), Log: g.Log()})}
	g.Metrics().Collect(func(tell metrics.Tell) { collect(tell, f.hooks.Statuses()) }, deliveries, failedTries, waiting)
	return f
}

// nameOf is the name of the machine that a gate is on, by which its operators know it.
func nameOf(g feature.Gate) string {
	name, err := os.Hostname()
	if err != nil {
		g.Log().Warn("webhooks do not say which gate tells", zap.Error(err))
	}
	return name
}

// Part implements [feature.Feature]: every room is watched.
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return nil, nil }

// Choose implements [feature.Chooser].
func (f *Feature) Choose(_ context.Context, c feature.Configuration) error {
	f.next, _ = c.Options(Name).(Config)
	return nil
}

// Use implements [feature.Chooser].
func (f *Feature) Use() { f.hooks.Use(f.next.Hooks, f.next.Hosts) }

// Close implements [feature.Closer].
func (f *Feature) Close() { f.hooks.Close() }

// Sender sends what the webhooks are told.
func (f *Feature) Sender() *webhooks.Sender { return f.hooks }

// Follow implements [feature.Follower]: it has the webhooks told of what has happened to a room.
func (f *Feature) Follow(r *feature.Room) {
	now := f.gate.Now()
	n, w := r.Queue.Numbers(), feature.StateOf[watched](r)
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.look(now, n, facts{r.Queue.StoreFailing(), r.Queue.HoldsActive(), r.Setup().Origin.Failing()})
	for _, kind := range seen {
		f.tell(r, w, webhooks.Event{Kind: kind, Room: r.Queue.Name(), At: now, Details: detailsOf(n)})
	}
	for _, p := range w.phases(n.Settings.Event) {
		f.tell(r, w, webhooks.Event{Kind: p.kind, Room: r.Queue.Name(), At: now, Details: p.details(n)})
	}
	for len(w.untold) > 0 && (r.Queue.Leads() || now.Sub(w.untold[0].At) > tellsWithin) {
		if now.Sub(w.untold[0].At) <= tellsWithin {
			f.hooks.Notify(w.untold[0])
		}
		w.untold = w.untold[1:]
	}
}

// tell has the webhooks told of what has happened to a room if this gate tells of it; else the gate
// remembers it for a while. Whether the store answers is each gate's own.
func (f *Feature) tell(r *feature.Room, w *watched, e webhooks.Event) {
	e.Nth = w.seen.add(e.At, e.Kind)
	own := e.Kind == webhooks.StoreLost || e.Kind == webhooks.StoreBack
	if own || r.Queue.StoreFailing() || r.Queue.Leads() {
		f.hooks.Notify(e)
	} else {
		w.untold = append(w.untold, e)
	}
}

// phase is an event that has come to another phase.
type phase struct {
	kind webhooks.Kind
	of   queue.ActiveEvent
}

// phases returns what has happened to the events since the last look, now that an event is in
// force, or none. An event has ended if it is not in force any more, whether by its time or because
// operators have suspended or deleted it.
func (w *watched) phases(is queue.ActiveEvent) []phase {
	was := w.event
	w.event = is
	var list []phase
	if was.Name != "" && was.Name != is.Name {
		list = append(list, phase{webhooks.EventEnded, was})
	}
	switch {
	case is.Name == "" || was.Name == is.Name && was.Prequeueing == is.Prequeueing:
		return list
	case is.Prequeueing:
		return append(list, phase{webhooks.EventPrequeuing, is})
	}
	return append(list, phase{webhooks.EventStarted, is})
}

// details are what a delivery tells of the event beside the numbers of its room.
func (p *phase) details(n *estimate.Numbers) map[string]any {
	details := detailsOf(n)
	details["event"] = p.of.Name
	details["eventStartTime"], details["eventEndTime"] = p.of.Start.Time().Format(time.RFC3339), p.of.End.Time().Format(time.RFC3339)
	return details
}

// facts are what is so beside the numbers of a room.
type facts struct{ storeFails, holds, originFails bool }

// look returns what has happened by now. What is so at the first look has happened before.
func (w *watched) look(now time.Time, n *estimate.Numbers, is facts) (kinds []webhooks.Kind) {
	slowed := 0 < n.Factor && n.Factor < 1
	soldOut, full := n.Settings.SoldOut(n.Stock), n.Active >= n.Settings.Slots()
	if n.Settings.HoldsNew() {
		soldOut = w.soldOut.on // which shows only once newcomers are not held any more
	}
	if w.limit.on {
		full = 10*n.Active >= 9*n.Settings.Slots()
	}
	if !w.begun {
		w.begun, w.event = true, n.Settings.Event
		w.queueing.on, w.limit.on, w.store.on, w.soldOut.on, w.held.on = n.Waiting > 0, full, is.storeFails, soldOut, is.holds
		w.origin.on, w.slowed.on = is.originFails, slowed
		return nil
	}
	for _, f := range [...]struct {
		*switched
		is           bool
		begins, ends time.Duration
		on, off      webhooks.Kind
	}{
		{&w.store, is.storeFails, beginsAfter, beginsAfter, webhooks.StoreLost, webhooks.StoreBack},
		{&w.origin, is.originFails, beginsAfter, beginsAfter, webhooks.OriginFailing, webhooks.OriginBack},
		{&w.slowed, slowed, beginsAfter, endsAfter, webhooks.SlowedDown, webhooks.UpToSpeed},
		{&w.held, is.holds, 0, 0, webhooks.HoldBegan, webhooks.HoldEnded},
		{&w.limit, full, 0, endsAfter, webhooks.LimitReached, ""},
		{&w.queueing, n.Waiting > 0, beginsAfter, endsAfter, webhooks.QueueingBegan, webhooks.QueueingEnded},
		{&w.soldOut, soldOut, 0, 0, webhooks.SoldOut, webhooks.Reopened},
	} {
		if !f.turned(now, f.is, f.begins, f.ends) {
			continue
		}
		if kind := map[bool]webhooks.Kind{true: f.on, false: f.off}[f.is]; kind != "" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// detailsOf are the numbers that a delivery has.
func detailsOf(n *estimate.Numbers) map[string]any {
	details := map[string]any{
		"usersQueued": n.Waiting, "activeUsers": n.Active,
		"totalActiveUsers": n.Settings.Slots(), "newUsersPerMinute": n.Settings.Allowance(),
	}
	if n.Stock != (queue.Stock{}) {
		details["itemsLeft"] = n.Stock.Left
	}
	return details
}
