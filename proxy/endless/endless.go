// Package endless has those whom a rule wants there wait in a line that lets nobody in, and that
// looks like that of their room.
package endless

import (
	"context"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Feature has the endless lines of a gate's rooms.
type Feature struct{}

// NewFeature returns what has the endless lines of a gate's rooms.
func NewFeature(feature.Gate) *Feature { return &Feature{} }

// Part implements [feature.Feature].
func (f *Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	if !s.Rules.Flag() {
		return nil, nil
	}
	return f, nil
}

// Takes implements [feature.EndlessLine].
func (*Feature) Takes(r *http.Request, s *feature.Setup) bool {
	return s.Action(r) == route.EndlessLine
}

// At implements [feature.EndlessLine]: a visitor stands behind everybody who waits, whenever they
// ask.
func (*Feature) At(of *room.Room, at time.Time, t queue.Ticket) room.Decision {
	n, now := of.Numbers(), queue.At(at)
	d := room.Decision{Outcome: room.Queued, Ticket: t}
	if now >= t.Due() || t.LastCheckIn > now {
		d.Issue = true
		ahead := n.Waiting
		if t.LastCheckIn == 0 { // who has just come asks soon, wherever they are
			ahead = 0
		}
		d.Ticket.LastCheckIn, d.Ticket.RefreshInterval = now, pages.Jittered(&n.Settings, ahead).Truncate(1e6)
	}
	d.Ticket.ArrivedAt = d.Ticket.LastCheckIn
	if n.Settings.Method.HasExactLine() {
		d.Place = queue.Place{Number: n.Line.Last + 1, Ahead: n.Waiting, Length: n.Waiting + 1}
	}
	return d
}
